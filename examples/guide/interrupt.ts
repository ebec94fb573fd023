// A person interrupts an answer: what was said stays in the history, and the turn ends as `cancelled`.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'

const model = createScriptedModel({ steps: [{ text: 'Once upon a time', hangs: 'until-aborted' }, { text: 'Bye!' }] })
const host = createHost({ agent: defineAgent({ name: 'teller', model }) })
const session = await host.session('story')
const turn = session.send('Tell me a story.')
for await (const event of turn)
  if (event.type === 'text' && event.text.includes('time')) await session.interrupt({ reason: 'enough' })
console.log((await turn.answer).stop)
console.log((await session.send('Thank you.').answer).text)
await host.stop()
