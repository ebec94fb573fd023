// A connection whose session continued without this process, as after a store that hung.
import type { EventBatch, EventStream, Host } from '@baton/core/internal'
import { createHost } from '@baton/host'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
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
