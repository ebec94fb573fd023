// A client tool has no `execute`: a client attached to the session runs it. Here that is the program itself.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const door = tool({
  name: 'door.open',
  description: 'Opens the front door',
  input: z.object({ seconds: z.number().int().min(1).max(30) }),
  effect: 'once',
  timeoutMs: 20_000,
})
const model = createScriptedModel({
  steps: [{ calls: [{ name: 'door.open', arguments: { seconds: 5 } }] }, { text: 'The door is open.' }],
})
const host = createHost({ agent: defineAgent({ name: 'concierge', model, tools: [door] }) })
const session = await host.session('hall')
const client = await session.attach({
  'door.open': (input) => {
    console.log('the door opens', input)
    return { opened: true }
  },
})
console.log((await session.send('Let me in, please.').answer).text)
await client.detach()
await host.stop()
