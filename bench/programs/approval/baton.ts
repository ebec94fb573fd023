// A tool that a person must approve: the terminal asks, and the call runs or is denied.
import { createHost, defineAgent, tool } from '@baton/host'
import { createInterface } from 'node:readline/promises'
import { z } from 'zod'

const terminal = createInterface({ input: process.stdin })
const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  input: z.object({ cents: z.number().int() }),
  approval: true,
  execute: ({ cents }) => ({ refunded: cents }),
})
const session = await createHost({
  agent: defineAgent({ name: 'shop', model: 'anthropic/claude-haiku-4-5', tools: [refund] }),
}).session()
const turn = session.send('Refund 20 euros.')
for await (const event of turn)
  if (event.type === 'approval-requested') {
    console.log('approve?', event.call.name, event.call.input)
    const decision = (await terminal.question('')) === 'y' ? 'approve' : 'deny'
    await session.decide({ approvalId: event.approvalId, decision })
  }
const { text } = await turn.answer
console.log(text)
terminal.close()
