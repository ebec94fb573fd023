// A device whose session is read again from its log after a failure of the store, in the same process: its connection
// lives on, and so does its place.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createGatedStore } from '../shared/gated-store.test-kit.ts'
import { startForTest } from './test-server.test-kit.ts'
import { connectV2App } from './v2.test-kit.ts'

test('a device of a session that was reopened gets its calls without a wait', async () => {
  const look = tool({ name: 'look', description: 'Looks.', input: { type: 'object' }, awayMs: 0 })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'Blue.' }] })
  const { store, failNext } = createGatedStore()
  const { url, host } = await startForTest({ agent: defineAgent({ name: 'a', model, tools: [look] }), store })
  const app = await connectV2App(url)
  await app.request('session.open', { session: 's', device: { name: 'phone' } })
  const session = await host.session('s', { principal: { id: 'anonymous' } })
  failNext('store_locked')
  await expect(session.describe({ title: 'lost' })).rejects.toMatchObject({ code: 'store_locked' })
  await session.describe({ title: 'kept' }) // waits until the session is open again
  // Asked by another one than the device, whose own requests would attach it.
  const { answer } = session.send('Which colour is the sky?')
  const { call } = await app.event('call', (event) => event.call.status !== 'proposed')
  expect(call).toMatchObject({ status: 'waiting', holder: 'phone' })
  await app.request('call.claim', { callId: call.callId })
  await app.request('call.result', { callId: call.callId, outcome: { output: 'blue' } })
  expect(await answer).toMatchObject({ text: 'Blue.' })
})
