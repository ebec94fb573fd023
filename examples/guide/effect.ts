// Tools that are Effects: schemas, typed errors and services of Effect. This repository names Effect 4 effect4.
import { createScriptedModel } from '@baton/host/testing'
import type { ToolContext } from '@baton/host'
import { createHost, defineAgent } from '@baton/host'
import { effectTool, fromEffect } from '@baton/tools/effect'
import * as effect from 'effect4'
import { Context, Data, Effect, Layer, Schema } from 'effect4'

class OrderNotFound extends Data.TaggedError('OrderNotFound')<{ readonly message: string }> {}
class Orders extends Context.Service<
  Orders,
  { readonly placedAt: (id: string) => Effect.Effect<Date, OrderNotFound> }
>()('shop/Orders') {
  static readonly layer = Layer.effect(
    Orders,
    Effect.acquireRelease(
      Effect.sync(() => {
        console.log('the database is open')
        const placed = new Map([['A-17', new Date('2026-03-01')]])
        return {
          placedAt: (id: string) => {
            const at = placed.get(id)
            return at ? Effect.succeed(at) : Effect.fail(new OrderNotFound({ message: `there is no order ${id}` }))
          },
        }
      }),
      () => Effect.sync(() => console.log('the database is closed')),
    ),
  )
}
/** Every Effect finds the context of its call under this tag. */
class Call extends Context.Service<Call, ToolContext>()('shop/Call') {}

const readOrder = effectTool({
  name: 'order.read',
  description: 'Tells when an order was placed',
  input: Schema.Struct({ id: Schema.String }),
  output: Schema.Struct({ at: Schema.Date, readFor: Schema.String }),
  effect: 'pure',
  execute: ({ id }) =>
    Effect.gen(function* () {
      const { principal } = yield* Call
      const orders = yield* Orders
      return { at: yield* orders.placedAt(id), readFor: principal.id }
    }),
})

const { tools, close } = fromEffect(effect, { layer: Orders.layer, call: Call, tools: [readOrder] })

const ask = (id: string) => ({ calls: [{ name: 'order.read', arguments: { id } }] })
const model = createScriptedModel({ steps: [ask('A-71'), ask('A-17'), { text: 'On the first of March.' }] })
const host = createHost({ agent: defineAgent({ name: 'shop', model, tools }) })
const session = await host.session('orders', { principal: { id: 'ann' } })
for await (const event of session.send('When did I order?')) {
  if (event.type !== 'call' || !event.call.result) continue
  const { result } = event.call
  console.log(result.type === 'ok' ? result.value : 'message' in result && result.message)
}
await host.stop()
await close()
