// The test tools in Effect 4, with its own effect/ai.
import { Tool, Toolkit } from 'effect4/ai'
import type { ToolContext } from '@baton/core'
import * as effect from 'effect4'
import { Context, Data, Effect, Layer, Schema } from 'effect4'
import type { Counts, EffectFixture, Opened, OpenOptions } from './effect-fixture.test-kit.ts'
import { effectTool, fromEffect } from './index.ts'
import type { OddPlace } from './odd-tools.test-kit.ts'
import { createOddTools } from './odd-tools.test-kit.ts'

class OrderNotFound extends Data.TaggedError('OrderNotFound')<{ readonly id: string; readonly message: string }> {}
class OutOfReach extends Data.TaggedError('OutOfReach')<{ readonly host: string }> {}
class Call extends Context.Service<Call, ToolContext>()('test/Call') {}

interface Order {
  readonly id: string
  readonly at: Date
  readonly total: bigint
}
class Orders extends Context.Service<
  Orders,
  { readonly read: (id: string, since: Date | undefined) => Effect.Effect<Order, OrderNotFound | OutOfReach> }
>()('test/Orders') {}

function layerOf(counts: Counts, { failingBuilds = 0, isStuck = false }: OpenOptions) {
  let failing = failingBuilds
  const build = Effect.suspend(() => {
    counts.built += 1
    if (failing-- > 0) return Effect.fail(new OutOfReach({ host: 'orders.example' }))
    return Effect.succeed({
      read: (id: string, since: Date | undefined) => {
        if (id === 'far') return Effect.fail(new OutOfReach({ host: 'orders.example' }))
        if (id !== 'A-17') return Effect.fail(new OrderNotFound({ id, message: `there is no order ${id}` }))
        return Effect.succeed({ id, at: since ?? new Date('2026-03-01T00:00:00.000Z'), total: 5n })
      },
    })
  })
  const release = Effect.suspend(() => {
    counts.released += 1
    return isStuck ? Effect.never : Effect.void
  })
  return Layer.effect(
    Orders,
    Effect.acquireRelease(build, () => release),
  )
}

function open(options: OpenOptions = {}): Opened {
  const counts: Counts = { built: 0, released: 0, interrupted: 0 }
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  // The part of Effect that the tools use is identical in version 3, whose types they have.
  const odd = createOddTools<Call>(effect as unknown as Parameters<typeof createOddTools>[0], {
    counts,
    begin: () => begin(),
    call: Call as unknown as OddPlace<Call>['call'],
    failures: [new OutOfReach({ host: 'one' }), new OutOfReach({ host: 'two' })],
  })
  const tools = fromEffect(effect, {
    layer: layerOf(counts, options),
    call: Call,
    ...(options.closeMs !== undefined && { closeMs: options.closeMs }),
    tools: [
      effectTool({
        name: 'order.read',
        description: 'Reads an order',
        input: Schema.Struct({ id: Schema.String, since: Schema.optional(Schema.Date) }),
        output: Schema.Struct({ id: Schema.String, at: Schema.Date, total: Schema.BigInt }),
        effect: 'pure',
        execute: ({ id, since }) => Effect.flatMap(Orders, (orders) => orders.read(id, since)),
      }),
      ...odd,
    ],
  })
  return { ...tools, counts, begun }
}

const GetWeather = Tool.make('GetWeather', {
  description: 'Tells the weather of a city',
  parameters: Schema.Struct({ city: Schema.String, at: Schema.optional(Schema.DateFromString) }),
  success: Schema.Struct({ city: Schema.String, degrees: Schema.Int, at: Schema.optional(Schema.DateFromString) }),
  failure: Schema.Struct({ _tag: Schema.Literal('Unknown'), message: Schema.String }),
}).annotate(Tool.Readonly, true)
const Publish = Tool.make('Publish', {
  description: 'Publishes',
  success: Schema.String,
  failure: Schema.Struct({ _tag: Schema.Literal('Closed'), message: Schema.String }),
  failureMode: 'return',
})
const Nothing = Tool.make('Nothing', { description: 'Does nothing', dependencies: [Call] })
const Kit = Toolkit.make(GetWeather, Publish, Nothing)

function openToolkit(): Opened {
  const counts: Counts = { built: 0, released: 0, interrupted: 0 }
  const handlers = Kit.toLayer(
    Effect.map(Orders, (orders) => {
      return Kit.of({
        GetWeather: ({ city, at }) =>
          city === 'Lisbon'
            ? Effect.map(Effect.orDie(orders.read('A-17', at)), (order) => ({ city, degrees: 21, at: order.at }))
            : Effect.fail({ _tag: 'Unknown' as const, message: `there is no city ${city}` }),
        Publish: () => Effect.fail({ _tag: 'Closed' as const, message: 'the press is closed' }),
        Nothing: () => Effect.map(Call, ({ progress }) => progress('nothing')),
      })
    }),
  )
  const layer = Layer.provide(handlers, layerOf(counts, {}))
  return {
    ...fromEffect(effect, { layer, toolkit: Kit, call: Call, trust: 'untrusted' }),
    counts,
    begun: Promise.resolve(),
  }
}

export const effect4: EffectFixture = { version: '4', open, openToolkit }
