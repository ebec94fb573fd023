// A first program: a provider's model, a tool, and the answer as it is written.
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const hours = tool({
  name: 'shop.hours',
  description: 'When the shop is open on a day of the week',
  input: z.object({ day: z.enum(['weekday', 'saturday', 'sunday']) }),
  effect: 'pure',
  execute: ({ day }) => ({ weekday: '9 to 18', saturday: '10 to 14', sunday: 'closed' })[day],
})
const agent = defineAgent({
  name: 'shop',
  model: 'anthropic/claude-haiku-4-5',
  instructions: 'You answer for a book shop. Be brief.',
  tools: [hours],
})
const host = createHost({ agent })
const session = await host.session()
const turn = session.send('Is the shop open on Saturday afternoon?')
for await (const event of turn) if (event.type === 'text') process.stdout.write(event.text)
console.log()
const { usage } = await turn.answer
console.log(usage)
