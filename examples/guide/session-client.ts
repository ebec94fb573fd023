// An app of version 2 and its server, in one program: a message, a tool that runs in the app, and an approval.
import { openSession } from '@baton/client'
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'

const place = tool({
  name: 'page.place',
  description: 'Returns the part of the page that the user is viewing',
  input: { type: 'object', properties: {} },
  effect: 'pure', // no execute: it runs in the app
})
const refund = tool({
  name: 'refund',
  description: 'Pays money back',
  input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
  effect: 'once',
  approval: true,
  execute: ({ euros }) => `paid ${euros} euros back`,
})
const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'page.place', arguments: {} }] },
    { text: 'I see your order.', calls: [{ name: 'refund', arguments: { euros: 20 } }] },
    { text: 'You get 20 euros back.' },
  ],
})
const agent = defineAgent({ name: 'shop', model, tools: [place, refund] })
const host = createHost({ agent })
const front = createWebSocketFront(host, { port: 0 })
const { url } = await front.listen()

const client = openSession<typeof agent>({
  url,
  session: 'order-7',
  tools: { 'page.place': () => ({ section: 'orders', order: 7 }) },
})
client.on('event', (event) => {
  if (event.type !== 'approval-requested') return
  console.log('asked:', event.call.name, event.call.input)
  void client.decide({ approvalId: event.approvalId, decision: 'approve' })
})
const { text } = await client.send('I want my money back').answer
console.log(text)
console.log(client.getSnapshot().messages.map(({ role }) => role))
client.close()
await front.close()
await host.stop()
