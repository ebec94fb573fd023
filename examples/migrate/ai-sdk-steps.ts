// On Baton: which tools a step has, which one it must call, how to follow the steps, and where the loop ends.
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const search = tool({
  name: 'search',
  description: 'Searches the orders of a customer',
  input: z.object({ customer: z.string() }),
  effect: 'pure',
  execute: ({ customer }) => [{ id: 'A-17', customer }],
})
const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  input: z.object({ id: z.string() }),
  effect: 'once',
  execute: ({ id }, { principal }) => ({ id, refundedBy: principal.id }),
})
const agent = defineAgent({
  name: 'shop',
  model: 'anthropic/claude-haiku-4-5',
  tools: [search, refund],
  limits: { toolRounds: 5 }, // stopWhen: isStepCount(6): the last answer has no tools
  settings: { toolChoice: { type: 'any' } }, // toolChoice: 'required', for the first step of a turn
  prepareStep: ({ messages }) => {
    const hasSearched = messages.some(({ role }) => role === 'tool')
    return hasSearched ? { instructions: 'Refund what was found.' } : { tools: ['search'] } // activeTools: ['search']
  },
})
const host = createHost({ agent })

const session = await host.session('customer-1', { principal: { id: 'ann' } })
for await (const event of session.send('Refund my last order.')) {
  if (event.type === 'call' && event.call.result?.type === 'ok') console.log(event.call.name, event.call.result.value)
  if (event.type === 'step-finished') console.log('step', event.finish, event.usage.outputTokens) // onStepFinish
}
await host.stop()
