// Three tools: a read, an action that may be repeated, and an action that must not be repeated.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const orders = new Map([['A-17', { status: 'packed', note: '', refunded: 0 }]])

const read = tool({
  name: 'order.read',
  description: 'Reads an order: its status, its note and what was refunded, in cents',
  input: z.object({ id: z.string().describe('Such as A-17') }),
  effect: 'pure', // it changes nothing, so Baton may repeat it
  execute: ({ id }) => {
    const order = orders.get(id)
    if (!order) throw new Error(`there is no order ${id}; ask the customer for its number`)
    return order
  },
})
const annotate = tool({
  name: 'order.annotate',
  description: 'Replaces the note of an order',
  input: z.object({ id: z.string(), note: z.string().max(200) }),
  effect: 'idempotent', // twice is the same as once
  execute: ({ id, note }) => void orders.set(id, { ...orders.get(id)!, note }),
})
const refund = tool({
  name: 'order.refund',
  description: 'Refunds a part of an order',
  input: z.object({ id: z.string(), cents: z.number().int().positive() }),
  effect: 'once', // money: Baton starts it at most once for each call
  timeoutMs: 10_000,
  execute: ({ id, cents }, { progress, idempotencyKey }) => {
    progress({ sent: idempotencyKey.length > 0 }) // pass the key to your payment provider
    orders.set(id, { ...orders.get(id)!, refunded: cents })
    return { id, refunded: cents }
  },
})

const ask = (name: string, input: object) => ({ calls: [{ name, arguments: { ...input } }] })
const model = createScriptedModel({
  steps: [
    ask('order.read', { id: 'A-71' }),
    ask('order.refund', { id: 'A-17', cents: 500 }),
    ask('order.annotate', { id: 'A-17', note: 'arrived late' }),
    { text: 'I refunded 5 euros.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'shop', model, tools: [read, annotate, refund] }) })
const session = await host.session('customer-1')
for await (const event of session.send('My order A-17 came late.'))
  if (event.type === 'call' && event.call.result)
    console.log(event.call.name, event.call.result.type, JSON.stringify(event.call.input))
console.log(orders.get('A-17'))
await host.stop()
