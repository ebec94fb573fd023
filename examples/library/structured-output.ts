// A typed answer: the agent has an output schema, and `answer.output` has its type.
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { z } from 'zod'

const model = createScriptedModel({ steps: [{ text: '{"city":"Oslo","people":717710}' }] })
const agent = defineAgent({
  name: 'cities',
  model,
  output: z.object({ city: z.string(), people: z.number().int() }),
})
await using host = createHost({ agent })
const session = await host.session()
const { output, stop } = await session.send('How many people live in Oslo?').answer
console.log(output ? `${output.city}: ${output.people.toLocaleString('en')}` : `no value: ${stop}`)
