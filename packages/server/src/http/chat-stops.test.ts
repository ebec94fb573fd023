// Stops of a message that the session has not accepted yet, because its images are being stored. Expected: docs/chat.md.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { createGatedStore } from '../shared/gated-store.test-kit.ts'
import { turnLoop } from '../websocket/v2-memory-app.test-kit.ts'
import { startChats } from './chat.test-kit.ts'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

const IMAGE = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0KGgo=' }
const user = (id: string, ...parts: readonly object[]) => ({ id, role: 'user', parts })

function start(steps: Parameters<typeof createScriptedModel>[0]['steps']) {
  const gated = createGatedStore()
  const model = createScriptedModel({ steps })
  const chats = startChats({ agent: defineAgent({ name: 'a', model }), store: gated.store })
  running.push(chats)
  const post = (path: string, body: object): Promise<Response> =>
    chats.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const send = (message: object, more: object = {}) => post('/api/chat', { id: 'c1', messages: [message], ...more })
  return { ...gated, ...chats, model, send, stop: () => post('/api/chat/c1/stop', {}) }
}

test.each([
  ['a message with an image', {}],
  ['an edit with an image', { messageId: 'm1' }],
])('%s that is stopped while it is being stored is not answered', async (_, more) => {
  const { send, stop, hold, go, host } = start((_request, call) =>
    call === 0 ? { text: 'Hi.' } : { hangs: 'until-aborted' },
  )
  await (await send(user('m1', { type: 'text', text: 'Hello' }))).text()
  const session = await host.session('c1')
  hold()
  const answered = send(user('m2', IMAGE), more)
  await turnLoop(3)
  const stopped = stop()
  await turnLoop(3)
  go()
  expect((await stopped).status).toBe(200)
  expect(await (await answered).text()).toContain('"finishReason":"interrupted"')
  expect((await session.info()).activity).toBe('idle')
})

test('a stop that ends a turn leaves the message that is being stored meanwhile to be answered', async () => {
  const { send, stop, hold, go, host } = start((_request, call) =>
    call === 0 ? { hangs: 'until-aborted' } : { text: 'Seen.' },
  )
  const first = await send(user('m1', { type: 'text', text: 'Hello' }))
  const session = await host.session('c1')
  hold()
  const answered = send(user('m2', IMAGE))
  await turnLoop(3)
  const stopped = stop()
  await turnLoop(3)
  go()
  expect((await stopped).status).toBe(200)
  expect(await first.text()).toContain('"finishReason":"interrupted"')
  expect(await (await answered).text()).toContain('Seen.')
  await expect.poll(async () => (await session.info()).activity).toBe('idle')
})
