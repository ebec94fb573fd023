// An agent that listens to a conversation: transcript entries are batched into one message, and an urgent event goes in at once.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'

const model = createScriptedModel({
  steps: ({ messages }) => {
    const told = messages.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    console.log(told.join('\n'))
    return { text: 'Ask for a week to decide.' } // an empty text would be silence, which is legal here
  },
})
const agent = defineAgent({
  name: 'negotiator',
  model,
  emptyAnswer: 'silence',
  batch: { silenceMs: 50, ageMs: 1000, entries: 50 },
})
const host = createHost({ agent })
const session = await host.session('call-1')
const events = session.events({ from: 'now' })

await session.hear({ speaker: 'Ann', text: 'Shall we talk about the price?' })
await session.hear({ speaker: 'Bob', text: 'Gladly.' })
await session.notify({ name: 'offer_made', detail: { cents: 120_000 }, message: 'Bob made an offer.' })

for await (const event of events) {
  if (event.type !== 'turn-finished') continue
  console.log(event.stop, event.text)
  break
}
await host.stop()
