// What all agents of a tree say, in one stream; and the conversation of one of them afterwards.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, delegate } from '@baton/host'

const reader = defineAgent({
  name: 'reader',
  model: createScriptedModel({ steps: [{ text: 'Oslo lies at the end of a fjord.' }] }),
})
const model = createScriptedModel({
  steps: [{ calls: [{ name: 'reader', arguments: { task: 'Where is Oslo?' } }] }, { text: 'At the end of a fjord.' }],
})
const writer = defineAgent({
  name: 'writer',
  model,
  tools: [delegate({ agent: reader, description: 'Looks up places' })],
})
const host = createHost({ agent: writer })
const session = await host.session('article')
const events = session.events({ children: true })
session.send('Where is Oslo?')
for await (const event of events) {
  if (event.type === 'text') console.log(`${event.path?.at(-1)?.agent ?? 'writer'}: ${event.text}`)
  if (event.type === 'call' && event.call.child?.status === 'ended') {
    const child = await session.child([event.call.callId])
    const { messages } = await child.messages()
    console.log(`messages of the reader: ${messages.length}`)
  }
  if (event.type === 'turn-finished' && !event.path) break
}
await host.stop()
