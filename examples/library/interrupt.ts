// The user stops an answer. The heard part stays in the conversation, and the next question continues from there.
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'

const model = createScriptedModel({
  steps: [{ text: 'Once upon a time, there was a city', hangs: 'until-aborted' }, { text: 'Of course.' }],
})
await using host = createHost({ agent: defineAgent({ name: 'teller', model }) })
const session = await host.session()
const turn = session.send('Tell me a long story.')
for await (const event of turn) {
  if (event.type !== 'text') continue
  process.stdout.write(event.text)
  if (event.text.endsWith('city')) await session.interrupt({ reason: 'too long' })
}
const { outcome, stop } = await turn.answer
console.log(`… (${outcome}: ${stop})`)
console.log((await session.send('Shorter, please?').answer).text)
