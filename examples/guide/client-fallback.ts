// A client tool with a fallback: the phone reports its location, and without a phone the server answers with what it
// knows.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const place = tool({
  name: 'phone.place',
  description: 'Says in which city the user is',
  input: z.object({}),
  output: z.object({ city: z.string(), source: z.enum(['phone', 'profile']) }),
  awayMs: 0,
  fallback: (_, { principal }) => {
    console.log(`no phone of ${principal.id} is connected`)
    return { city: 'Lisbon', source: 'profile' }
  },
})
const model = createScriptedModel({
  steps: [{ calls: [{ name: 'phone.place', arguments: {} }] }, { text: 'It rains in Lisbon.' }],
})
const host = createHost({ agent: defineAgent({ name: 'weather', model, tools: [place] }) })
const session = await host.session('ann', { principal: { id: 'ann' } })
console.log((await session.send('Do I need a coat?').answer).text)
await host.stop()
