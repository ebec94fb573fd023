// The agent runs on a server, and its model in the app: here both in one program. In Node an app can run `await
// loadGgufModel(file)`.
import { openSession } from '@baton/client'
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { clientModel } from '@baton/models/client'
import { createWebSocketFront } from '@baton/server/websocket'

// The server.
const device = clientModel({ id: 'device/tiny', contextTokens: 4096, waitMs: 1000 })
const cloud = createScriptedModel({ id: 'cloud', steps: [{ text: 'The app is away, so I answer.' }] })
const stock = tool({
  name: 'stock',
  description: 'Tells how many are left',
  input: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
  effect: 'pure',
  execute: ({ item }) => `4 ${item}s are left`,
})
const host = createHost({ agent: defineAgent({ name: 'shop', model: [device, cloud], tools: [stock] }) })
const front = createWebSocketFront(host, { port: 0, clientModels: [device] })
const { url } = await front.listen()

// The app. Its model's tool calls run where the tools are.
const tiny = createScriptedModel({
  steps: [{ calls: [{ name: 'stock', arguments: { item: 'lamp' } }] }, { text: 'Yes, four lamps.' }],
})
const app = openSession({ url, session: 'shop-7', models: { 'device/tiny': tiny } })
console.log((await app.send('Do you have lamps?').answer).text)
app.close()

// An app without a model: after a second the agent's next model answers.
const other = openSession({ url, session: 'shop-8' })
console.log((await other.send('And chairs?').answer).text)
other.close()
await front.close()
await host.stop()
