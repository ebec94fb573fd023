// Tools written for the AI SDK work in an agent as they are.
import { AsyncLocalStorage } from 'node:async_hooks'
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { fromAiSdk } from '@baton/tools/ai-sdk'
import { tool } from 'ai'
import { z } from 'zod'

// Your existing code, up to the next comment.
const tenant = new AsyncLocalStorage<string>()
const orders = {
  readOrder: tool({
    description: 'Reads an order',
    inputSchema: z.object({ id: z.string() }),
    execute: async ({ id }) => ({ id, shop: tenant.getStore(), status: 'packed' }),
  }),
  exportOrders: tool({
    description: 'Exports all orders',
    inputSchema: z.object({}),
    async *execute() {
      yield { done: 50 }
      yield { done: 100, file: 'orders.csv' }
    },
  }),
  refund: tool({
    description: 'Refunds a part of an order',
    inputSchema: z.object({ id: z.string(), cents: z.number().int() }),
    execute: async ({ id, cents }) => ({ id, refunded: cents }),
  }),
}

// Baton adds how often each tool may run, who approves it, and what wraps each run.
const tools = fromAiSdk(orders, {
  effect: 'pure',
  byName: { refund: { effect: 'once', approval: true } },
  around: (run, { context }) => tenant.run(`shop of ${context.principal.id}`, run),
})

const ask = (name: string, input: object) => ({ calls: [{ name, arguments: { ...input } }] })
const model = createScriptedModel({
  steps: [
    ask('readOrder', { id: 'A-17' }),
    ask('exportOrders', {}),
    ask('refund', { id: 'A-17', cents: 500 }),
    { text: 'Done.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'shop', model, tools }) })
const session = await host.session('orders', { principal: { id: 'ann' } })
for await (const event of session.send('Refund 5 euros of A-17.')) {
  if (event.type === 'call-progress') console.log('progress', event.note)
  if (event.type === 'approval-requested') await session.decide({ approvalId: event.approvalId, decision: 'approve' })
  if (event.type === 'call' && event.call.result?.type === 'ok') console.log(event.call.name, event.call.result.value)
}
await host.stop()
