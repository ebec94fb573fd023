// A client's result under a lease, when another input is processed before it.
import { frontOf } from '@baton/core/internal'
import { tool } from '@baton/core'
import { expect, test } from 'vitest'
import { createTestWorld, listCalls, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

test('a result overtaken by a stop is late, and the client learns that', async () => {
  const camera = tool({ name: 'camera', description: 'Looks.', input: { type: 'object' }, effect: 'once' })
  const { time, open } = createTestWorld({ tools: [camera], steps: () => listCalls('camera') })
  const session = await open()
  const client = await time.until(frontOf(session).client({ client: 'phone' }))
  session.send('Who is there?').answer.catch(() => {}) // stopped below
  await time.settle()
  const [call] = client.calls()
  const callId = call?.callId ?? ''
  await time.until(client.claim(callId))
  const stopped = frontOf(session).control('stop')
  const taken = client.result(callId, { type: 'ok', content: [], value: { people: 0 } })
  await time.until(stopped)
  expect(await time.until(taken)).toMatchObject({ ignored: 'late' })
})
