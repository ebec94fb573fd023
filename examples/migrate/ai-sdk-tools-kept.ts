// On Baton, with an unchanged AI SDK tool. Only the approval is new.
import { createHost, defineAgent } from '@baton/host'
import { fromAiSdk } from '@baton/tools/ai-sdk'
import { tool } from 'ai'
import { z } from 'zod'

const refund = tool({
  description: 'Refunds an order',
  inputSchema: z.object({ id: z.string(), cents: z.number().int() }),
  execute: ({ id, cents }) => ({ id, refunded: cents }),
})
const tools = fromAiSdk({ refund }, { byName: { refund: { approval: ({ cents }) => Number(cents) > 1000 } } })
const host = createHost({
  agent: defineAgent({ name: 'shop', model: 'anthropic/claude-haiku-4-5', tools }),
})

const session = await host.session('customer-1')
for await (const event of session.send('Refund 20 euros of order A-17.')) {
  if (event.type === 'text') process.stdout.write(event.text)
  if (event.type === 'approval-requested') await session.decide({ approvalId: event.approvalId, decision: 'approve' })
}
await host.stop()
