// Several models in order: if the first one fails permanently, the next one takes over, and an event reports it.
import { BatonError, createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'

const error = new BatonError({ code: 'model_auth_failed', message: 'the key is wrong' })
const main = createScriptedModel({ id: 'main/model', steps: [{ error }] })
const spare = createScriptedModel({ id: 'spare/model', steps: [{ text: 'I am the spare one.' }] })
await using host = createHost({
  agent: defineAgent({ name: 'safe', model: [main, spare], retry: { attempts: 1 } }),
})
const session = await host.session()
const turn = session.send('Who are you?')
for await (const event of turn) if (event.type === 'step-started') console.log('asks', event.model)
console.log((await turn.answer).text)
