// Errors that a program catches: a BatonError with a code. Branch on the code, never on the class.
import { createScriptedModel } from '@baton/host/testing'
import { BatonError, createHost, defineAgent, isBatonError } from '@baton/host'

const overloaded = new BatonError({ code: 'model_invalid_request', message: 'the provider refused the request' })
const model = createScriptedModel({ steps: [{ error: overloaded }, { text: 'Hello!' }] })
const host = createHost({ agent: defineAgent({ name: 'friend', model }) })
const session = await host.session('ann')

for (const attempt of ['first', 'second'])
  try {
    console.log(attempt, (await session.send('Hi!').answer).text)
  } catch (error) {
    if (!isBatonError(error)) throw error
    console.log(attempt, error.code, error.retryable, error.hint)
  }
await host.stop()
