// A model that an app runs, over two servers with one store: the session is held by one server, and the app is
// connected to the other.
import { openSession } from '@baton/client'
import { defineAgent, listClientModels } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { clientModel } from '@baton/models/client'
import { createWebSocketFront } from '@baton/server/websocket'
import { expect, test } from 'vitest'
import { findFreePort } from '../components/free-port.ts'

const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
const log = { info: () => {}, warn: () => {} }
const store = createMemoryStore()

async function startServer() {
  const port = await findFreePort()
  const address = `ws://127.0.0.1:${port}`
  const agent = defineAgent({ name: 'a', model: clientModel({ id: 'device/tiny' }) })
  const host = createHost({ environment, agent, store, address })
  const peers = { address, secret: 'a-secret-of-the-peers' }
  const clientModels = listClientModels(agent)
  const front = createWebSocketFront(host, { ...environment, log, port, peers, clientModels })
  const { url } = await front.listen()
  const stop = async (): Promise<void> => {
    await front.close()
    await host.stop()
  }
  return { url, stop }
}

test('an app that is passed on runs the model of a session that another server holds', async () => {
  const [holder, other] = [await startServer(), await startServer()]
  const person = openSession({ url: holder.url, session: 's' })
  await expect.poll(() => person.getSnapshot().status).toBe('open')
  const model = createScriptedModel({ steps: [{ pieces: ['It is ', 'blue.'], pieceMs: 50 }] })
  const app = openSession({ url: other.url, session: 's', models: { 'device/tiny': model } })
  expect(await person.send('Sky?').answer).toMatchObject({ text: 'It is blue.' })
  expect(model.requests).toHaveLength(1)
  expect(app.getSnapshot().status).toBe('open')
  person.close()
  app.close()
  await holder.stop()
  await other.stop()
})
