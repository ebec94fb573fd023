// On Baton: a chat with a tool that a person approves, and a typed answer.
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const model = 'anthropic/claude-haiku-4-5'
const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  input: z.object({ id: z.string(), cents: z.number().int() }),
  effect: 'once',
  approval: ({ cents }) => cents > 1000,
  execute: ({ id, cents }) => ({ id, refunded: cents }),
})
const host = createHost({ agent: defineAgent({ name: 'shop', model, tools: [refund] }) })

const session = await host.session('customer-1')
for await (const event of session.send('Refund 20 euros of order A-17.')) {
  if (event.type === 'text') process.stdout.write(event.text)
  if (event.type === 'approval-requested') await session.decide({ approvalId: event.approvalId, decision: 'approve' })
}

const Mood = z.object({ mood: z.enum(['happy', 'angry']) })
const judging = await host.session('mood-1', { agent: defineAgent({ name: 'judge', model, output: Mood }) })
console.log((await judging.send('My order came late again.').answer).output?.mood)
await host.stop()
