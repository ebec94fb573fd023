// An agent that delegates work to another one: a tool opens a session of its host. The call's key names that session, so
// a repeated call finds the first one's answer; its signal ends the inner turn when the call is cancelled.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const researcher = defineAgent({
  name: 'researcher',
  model: createScriptedModel({ steps: () => ({ text: 'Oslo has 717,710 people.' }) }),
})
const research = tool({
  name: 'research',
  description: 'Asks a researcher',
  input: z.object({ question: z.string() }),
  effect: 'idempotent',
  timeoutMs: 120_000,
  execute: async ({ question }, { openSession, idempotencyKey, signal }) => {
    const session = await openSession(`research-${idempotencyKey}`, { agent: researcher })
    return (await session.send(question, { inputId: idempotencyKey, signal }).answer).text
  },
})
const model = createScriptedModel({
  steps: ({ messages }) => {
    const [result] = messages.at(-1)?.parts ?? []
    if (result?.type === 'result') return { text: 'My researcher says: Oslo has 717,710 people.' }
    return { calls: [{ name: 'research', arguments: { question: 'How many people live in Oslo?' } }] }
  },
})
const host = createHost({ agent: defineAgent({ name: 'writer', model, tools: [research] }) })
const session = await host.session('article')
console.log((await session.send('Write about Oslo.').answer).text)
await host.stop()
