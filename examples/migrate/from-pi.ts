// On Baton: an agent with a tool, streamed text, and a message that steers the agent.
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const population = tool({
  name: 'population',
  description: 'The population of a city',
  input: z.object({ city: z.string() }),
  effect: 'pure',
  execute: ({ city }) => {
    if (city !== 'Oslo') throw new Error(`no population data for ${city}`)
    return 717_710
  },
})
const agent = defineAgent({
  name: 'cities',
  model: 'anthropic/claude-haiku-4-5',
  instructions: 'Answer briefly.',
  tools: [population],
  approvalPolicy: ({ tool: { name } }) => (name === 'population' ? 'allow' : { deny: 'not allowed' }),
})
const host = createHost({ agent })
const session = await host.session('chat')

for await (const event of session.send('How many people live in Oslo?')) {
  if (event.type === 'text') process.stdout.write(event.text)
  if (event.type === 'call' && event.call.result) console.log(event.call.name, event.call.result.type)
}

const asked = session.send('Tell me about Oslo.')
await session.send('In one sentence.', { delivery: 'steer' }).answer
console.log((await asked.answer).text)
await host.stop()
