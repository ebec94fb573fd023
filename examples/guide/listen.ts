// An agent that listens to a conversation: transcript entries are read together, and an urgent event at once.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, createListener, defineAgent } from '@baton/host'

const model = createScriptedModel({
  steps: ({ messages }) => {
    const told = messages.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    console.log(told.join('\n'))
    return { text: 'Ask for a week to decide.' } // empty text would be silence, which is legal here
  },
})
const agent = defineAgent({ name: 'negotiator', model, instructions: 'You whisper to Ann.' })
const host = createHost({ agent })
const listener = createListener(host, agent, { session: 'call-1' })
const answered = new Promise<string>((resolve) => {
  listener.on('agent:response', ({ text }) => resolve(text))
})
listener.on('agent:tool_call', ({ name, input, result }) => console.log(name, input, result))
listener.on('error', ({ code, message }) => console.error(code, message))

await listener.start()
await listener.push({ speaker: 'Ann', text: 'Shall we talk about the price?' })
await listener.push({ speaker: 'Bob', text: 'Gladly.' })
await listener.event({ type: 'OFFER_MADE', detail: { cents: 120_000 }, label: 'Negotiation Event' })

console.log('agent:', await answered)
await listener.close()
await host.stop()
