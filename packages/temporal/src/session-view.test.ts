// A session as one process sees it, without a service: what becomes of an input when the view is closed.
import { createMemoryStore } from '@baton/host'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { SessionViewInit } from './session-view.ts'
import { SessionView } from './session-view.ts'
import { createMemoryBus } from './live/live-bus.ts'

test('an input whose record has not come is told when the view is closed, and nobody asks the service any more', async () => {
  let questions = 0
  const handedIn = Promise.withResolvers<void>()
  const view = new SessionView({
    session: 's',
    store: createMemoryStore(),
    bus: createMemoryBus(),
    log: { info: () => {}, warn: () => {} },
    world: {} as SessionViewInit['world'], // nothing is decided here
    update: () => {
      handedIn.resolve()
      return Promise.resolve([{ type: 'accepted', pos: 0, epoch: 1 }])
    },
    isRunning: async () => {
      questions += 1
      // Asked again and again, it would fill this process.
      if (questions > 1000) throw new Error('the service is asked without an end')
      return await Promise.resolve(true)
    },
    onRemoved: () => {},
  })
  await view.open()
  const submitted = view.replica.submit([{ type: 'pause' }]).catch((cause: unknown) => cause)
  await handedIn.promise
  await nextTurn()
  view.close()
  expect(await submitted).toMatchObject({ code: 'session_closed' })
  expect(questions).toBeLessThan(3)
})
