// A connection that reads its session late: it missed part of it, as after a store that hung, or a call has ended
// meanwhile.
import type { EventBatch, EventStream, Host } from '@baton/core/internal'
import { createHost, tool } from '@baton/host'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createTime } from '../shared/passing-time.test-kit.ts'
import { connectApp, createAgent, environment, startServer } from './test-server.test-kit.ts'

test('an app whose session has a gap is asked to reconnect, and not told that it reads too slowly', async () => {
  const inner = createHost({ environment, agent: createAgent(createScriptedModel({ steps: () => ({ text: 'Hi.' }) })) })
  let isLagging = true
  const host: Host = {
    stop: (options) => inner.stop(options),
    session: async (...given) => {
      const session = await inner.session(...given)
      if (!isLagging) return session
      const events = createLagging(session.events())
      return Object.assign(session, { events: () => events })
    },
  }
  const server = await startServer({ host })
  const app = await connectApp(server.url)
  const [code, reason] = await app.ended
  expect([code, String(reason)]).toEqual([1012, 'the server missed part of the session; connect again'])
  const told = 'a connection was closed: this process missed part of its session'
  expect(server.logged.filter((line) => line.startsWith(told))).toEqual([`${told} {"session":"s","pos":3}`])
  isLagging = false
  const again = await connectApp(server.url)
  again.send('user.audio.transcript.final', { text: 'Hello' })
  await again.until(({ type }) => type === 'assistant.speech.final')
  again.socket.terminate()
  await server.stop()
  await inner.stop()
})

/** The end of a reader that missed everything since record 3. */
function createLagging(events: EventStream): EventStream {
  const cursor = { pos: 3 }
  const batches: EventBatch[] = [{ events: [{ type: 'behind', cursor }], next: cursor }]
  const nextBatch: EventStream['nextBatch'] = () => Promise.resolve(batches.shift())
  return { nextBatch, leave: () => events.leave(), [Symbol.asyncIterator]: () => events[Symbol.asyncIterator]() }
}

test('a call that has ended before it could be written is not written, so the app does not run it', async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const { promise: saved, resolve: save } = Promise.withResolvers<string>()
  const input = { type: 'object' } as const
  const tools = [
    tool({ name: 'pick', description: 'Picks.', input, effect: 'pure', timeoutMs: 1000 }),
    tool({ name: 'save', description: 'Saves.', input, timeoutMs: 3_600_000, execute: () => saved }),
  ]
  const calls = ['pick', 'save'].map((name) => ({ name, arguments: {} }))
  const model = createScriptedModel({ steps: [{ calls }, { text: 'Saved.' }] })
  const { clock, timers, pass } = createTime()
  const inner = createHost({ environment: { ...environment, clock, timers }, agent: createAgent(model, { tools }) })
  const host: Host = {
    stop: (options) => inner.stop(options),
    session: async (...given) => {
      const session = await inner.session(...given)
      const open = session.events.bind(session)
      return Object.assign(session, { events: (...how: Parameters<typeof open>) => holdOffers(open(...how), held) })
    },
  }
  const server = await startServer({ host })
  const app = await connectApp(server.url)
  app.send('user.audio.transcript.final', { text: 'Pick one, and save it' })
  const session = await inner.session('s', { principal: { id: 'anonymous' } })
  const findStatus = async (name: string): Promise<string | undefined> => {
    const { messages } = await session.messages()
    const calls = messages.flatMap((one) => (one.role === 'assistant' ? one.steps : [])).flatMap((step) => step.calls)
    return calls.find((call) => call.name === name)?.status
  }
  await expect.poll(() => findStatus('pick')).toBe('running')
  // The app counts as having come to the call, and then the call's own second passes.
  await expect
    .poll(() => {
      pass(10_000)
      return findStatus('pick')
    })
    .toBe('settled')
  expect(await findStatus('save')).toBe('running')
  release()
  save('saved')
  await app.until(({ payload }) => payload['arguments']?.includes('Saved.') === true)
  expect(app.frames.filter(({ payload }) => payload['name'] === 'pick')).toEqual([])
  app.socket.terminate()
  await server.stop()
  await inner.stop()
})

/** Holds a batch that offers a call until `held` resolves. */
function holdOffers(events: EventStream, held: Promise<void>): EventStream {
  const nextBatch: EventStream['nextBatch'] = async () => {
    const batch = await events.nextBatch()
    if (batch?.events.some(({ type }) => type === 'call-offered')) await held
    return batch
  }
  return { nextBatch, leave: () => events.leave(), [Symbol.asyncIterator]: () => events[Symbol.asyncIterator]() }
}
