// A model sets a reminder for itself, once a person has approved it.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { reminderTools } from '@baton/kits/reminders'

const message = 'Ask Ann whether the tree has come.'
const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'reminders.set', arguments: { message, at: '2030-12-24T09:00' } }] },
    { text: 'I will ask on Christmas Eve.' },
  ],
})
const tools = reminderTools({ zone: 'Europe/Berlin', most: 5 })
const host = createHost({ agent: defineAgent({ name: 'assistant', model, tools }) })
const session = await host.session('ann')
const turn = session.send('Remind me of the tree.')
for await (const event of turn)
  if (event.type === 'approval-requested') {
    console.log(`may I? ${event.call.name}`)
    await session.decide({ approvalId: event.approvalId, decision: 'approve' })
  }
console.log((await turn.answer).text)
for (const { due, event } of await session.reminders()) console.log(due, event.message)
await host.stop()
