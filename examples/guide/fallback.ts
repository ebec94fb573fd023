// When a model fails for good, the next one of the list answers, in the same turn and with the same history.
import { BatonError, defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'

const error = new BatonError({ code: 'model_auth_failed', message: 'the key was revoked' })
const first = createScriptedModel({ id: 'first/model', steps: () => ({ error }) })
const second = createScriptedModel({ id: 'second/model', steps: () => ({ text: 'Hello from the second one.' }) })
const host = createHost({ agent: defineAgent({ name: 'friend', model: [first, second] }) })
const session = await host.session('ann')
const turn = session.send('Hi!')
for await (const event of turn) {
  if (event.type === 'step-started') console.log('asks', event.model)
  if (event.type === 'step-reset') console.log('failed:', event.error?.code)
}
console.log((await turn.answer).text)
await host.stop()
