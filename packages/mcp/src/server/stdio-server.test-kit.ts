// An agent for the program that starts this one: a tool that asks, and the agent itself.
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { z } from 'zod'
import { serveMcpOverStdio } from './index.ts'

const greet = tool({
  name: 'greet',
  description: 'Greets the user by name.',
  input: z.object({ greeting: z.string() }),
  execute: async ({ greeting }, { ask }) => {
    const { name } = await ask({ message: 'What is your name?', schema: z.object({ name: z.string() }) })
    return `${greeting}, ${name}!`
  },
})
const model = createScriptedModel({ steps: () => ({ text: 'We open at nine.' }) })
const agent = defineAgent({ name: 'shop', model, tools: [greet] })
const host = createHost({ agent })
await serveMcpOverStdio(host, { agent, expose: 'both' }).ended
await host.stop()
