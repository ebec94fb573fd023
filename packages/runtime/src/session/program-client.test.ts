// A program that runs client tools and was too slow for the events of its session.
import type { Input } from '@baton/core/machine'
import { expect, test, vi } from 'vitest'
import type { SessionEngine } from '../engine.ts'
import { attachProgramClient } from './program-client.ts'
import { EVENTS_MAX } from './reader.ts'
import { openStream } from './stream.test-kit.ts'

async function attach(submit: (input: Input) => Promise<void> = () => Promise.resolve()) {
  const { stream, state, history, publish, append } = openStream()
  const submitted: Input[] = []
  const engine = {
    session: 's',
    stream,
    state,
    history,
    submit: async (inputs: readonly Input[]) => {
      submitted.push(...inputs)
      for (const input of inputs) await submit(input)
      return inputs.map(() => ({ type: 'accepted', pos: 0 }))
    },
  } as unknown as SessionEngine // only what a client without calls needs
  const principal = { id: 'ann' }
  const client = await attachProgramClient({ engine, principal, handlers: {}, connection: 'app', onDetach: () => {} })
  const listAttachments = (): readonly Input[] => submitted.filter(({ type }) => type === 'client-attached')
  return { stream, publish, append, client, listAttachments }
}

test('a program that missed that its session was opened again attaches again', async () => {
  const { publish, listAttachments } = await attach()
  expect(listAttachments()).toHaveLength(1)
  publish({ type: 'host-restarted', downMs: 0 })
  for (let index = 0; index <= EVENTS_MAX; index++) publish({ type: 'session-described', title: `${index}` })
  await expect.poll(listAttachments).toHaveLength(2)
})

test('a program that detaches while it is behind reads nothing more', async () => {
  const attached = Promise.withResolvers<void>()
  let isFirst = true
  const { stream, publish, append, client, listAttachments } = await attach(async ({ type }) => {
    if (type === 'client-attached' && !isFirst) await attached.promise
    isFirst = false
  })
  const opened = vi.spyOn(stream, 'joinNow')
  publish({ type: 'host-restarted', downMs: 0 })
  stream.startAfter(append({ type: 'session-described', title: 'elsewhere' }).pos)
  await expect.poll(listAttachments).toHaveLength(2)
  const detached = client.detach()
  attached.resolve()
  await detached
  await new Promise((resolve) => setImmediate(resolve))
  expect(opened).not.toHaveBeenCalled()
})
