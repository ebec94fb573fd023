// A WebSocket server inside your own program, for its known users; and an app that connects to it, which could be a web
// page.
import { openSession } from '@baton/client'
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'

const users: Readonly<Record<string, string>> = { 'a-secret-of-ann': 'ann' }
const place = tool({ name: 'app.place', description: 'Where the user is', input: { type: 'object' }, effect: 'pure' })
const model = createScriptedModel({
  steps: [{ calls: [{ name: 'app.place', arguments: {} }] }, { text: 'You are in Oslo.' }],
})

const host = createHost({ agent: defineAgent({ name: 'guide', model, tools: [place] }) })
const front = createWebSocketFront(host, {
  port: 0, // a free one
  authenticate: ({ url }) => {
    const id = users[new URL(url ?? '/', 'ws://localhost').searchParams.get('key') ?? '']
    if (id === undefined) throw new Error('unknown user') // answered by 401
    return { id }
  },
})
const { url } = await front.listen()

const app = openSession({
  url: `${url}?key=a-secret-of-ann`,
  session: 'ann-1',
  tools: { 'app.place': () => ({ city: 'Oslo' }) },
})
console.log((await app.send('Where am I?').answer).text)

app.close()
await front.drain({ withinMs: 5000 })
await front.close()
await host.stop()
