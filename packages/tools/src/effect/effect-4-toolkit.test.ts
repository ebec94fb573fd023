// Toolkit features specific to Effect 4: approval, tools with a JSON Schema, preliminary results, provider-run tools.
import { createToolContext } from '@baton/core/testing'
import * as effect from 'effect4'
import { Context, Effect, Layer, ManagedRuntime, Schema } from 'effect4'
import { Prompt, Tool, Toolkit } from 'effect4/ai'
import { expect, test } from 'vitest'
import { playCalls } from '../shared/played-calls.test-kit.ts'
import { effectTool, fromEffect } from './index.ts'

const Scan = Tool.make('Scan', { description: 'Scans', success: Schema.Struct({ page: Schema.Int }) })
const Refund = Tool.make('Refund', {
  description: 'Refunds',
  parameters: Schema.Struct({ cents: Schema.Int }),
  success: Schema.String,
  needsApproval: ({ cents }, { toolCallId }) => Effect.succeed(cents > 1000 && toolCallId.startsWith('call_')),
})
const Remote = Tool.dynamic('Remote', {
  description: 'Of a server',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
})
const Draw = Tool.make('Draw', {
  description: 'Draws',
  success: Schema.Struct({ data: Schema.String }),
  toModelOutput: ({ data }) => [
    Prompt.textPart({ text: 'drawn' }),
    Prompt.filePart({ mediaType: 'image/png', data }),
    Prompt.filePart({ mediaType: 'application/pdf', fileName: 'a.pdf', data: new Uint8Array([1, 2, 3]) }),
  ],
})
const Kit = Toolkit.make(Scan, Refund, Remote, Draw)
const handlers = Kit.toLayer({
  Scan: (_, { preliminary }) =>
    Effect.gen(function* () {
      yield* preliminary({ page: 1 })
      yield* preliminary({ page: 2 })
      return { page: 3 }
    }),
  Refund: ({ cents }) => Effect.succeed(`refunded ${cents}`),
  Draw: () => Effect.succeed({ data: 'iVBORw0KGgo=' }),
  Remote: (input) => Effect.succeed({ got: input }),
})

test('a tool says content to the model, asks for approval, or has a JSON Schema, which is taken as it is', async () => {
  const { tools, close } = fromEffect(effect, { layer: handlers, toolkit: Kit })
  const { calls, asked } = await playCalls(tools, [
    ['Draw', {}],
    ['Refund', { cents: 1000 }],
    ['Refund', { cents: 1001 }],
    ['Remote', { query: 'x' }],
    ['Remote', { query: 1 }],
  ])
  expect(calls.slice(0, 4)).toEqual([
    'Draw ok: drawn|[image]|[file]',
    'Refund ok: refunded 1000',
    'Refund ok: refunded 1001',
    'Remote ok: {"got":{"query":"x"}}',
  ])
  expect(calls[4]).toMatch(/^Remote error invalid_arguments/)
  expect(asked).toEqual(['Refund'])
  await close()
})

test.each([() => Promise.resolve(true), () => 1, () => Effect.succeed('external')])(
  'a needsApproval without types asks where what it says counts as true: %o',
  async (needsApproval) => {
    const Pay = Tool.make('Pay', { success: Schema.String, needsApproval: needsApproval as never })
    const toolkit = Toolkit.make(Pay)
    const { tools, close } = fromEffect(effect, {
      layer: toolkit.toLayer({ Pay: () => Effect.succeed('paid') }),
      toolkit,
    })
    expect((await playCalls(tools, [['Pay', {}]])).asked).toEqual(['Pay'])
    await close()
  },
)

test('results before the last one are progress', async () => {
  const { tools, close } = fromEffect(effect, { layer: handlers, toolkit: Kit })
  const notes: unknown[] = []
  const context = createToolContext({ signal: new AbortController().signal, progress: (note) => notes.push(note) })
  expect(await tools.find(({ name }) => name === 'Scan')?.execute?.({}, context)).toEqual({ page: 3 })
  expect(notes).toEqual([{ page: 1 }, { page: 2 }])
  await close()
})

test('what the program says of one tool comes before what its toolkit says', async () => {
  const { tools, close } = fromEffect(effect, {
    layer: handlers,
    toolkit: Kit,
    timeoutMs: 5000,
    byName: { Refund: { approval: false, timeoutMs: 7000 } },
  })
  expect(tools.map(({ name, timeoutMs }) => [name, timeoutMs])).toEqual([
    ['Scan', 5000],
    ['Refund', 7000],
    ['Remote', 5000],
    ['Draw', 5000],
  ])
  expect((await playCalls(tools, [['Refund', { cents: 5000 }]])).asked).toEqual([])
  await close()
  expect(() => fromEffect(effect, { layer: handlers, toolkit: Kit, byName: { Refunds: {} } })).toThrow(/no such tool/)
})

test('a tool that runs at a provider of models is refused', () => {
  const Search = Tool.providerDefined({ id: 'openai.web_search', customName: 'Search', providerName: 'web_search' })()
  const kit = Toolkit.make(Search)
  expect(() => fromEffect(effect, { toolkit: kit })).toThrow(/"Search" runs at a model provider \(web_search\)/)
})

class Clock extends Context.Service<Clock, { readonly now: () => number }>()('test/Clock') {}
const now = effectTool({
  name: 'now',
  description: 'Tells the time',
  input: Schema.Struct({}),
  effect: 'pure',
  execute: () => Effect.map(Clock, (clock) => ({ now: clock.now() })),
})

class Zone extends Context.Service<Zone, { readonly offset: number }>()('test/Zone') {}
const GetTime = Tool.make('GetTime', { description: 'Tells the time', success: Schema.Int, dependencies: [Clock] })
const Timed = Toolkit.make(GetTime)
const timedHandlers = Timed.toLayer({ GetTime: () => Effect.map(Clock, (clock) => clock.now()) })

test('a tool of a toolkit finds the services that it declares in the layer', async () => {
  const layer = Layer.merge(timedHandlers, Layer.succeed(Clock, { now: () => 42 }))
  const { tools, close } = fromEffect(effect, { toolkit: Timed, layer })
  expect((await playCalls(tools, [['GetTime', {}]])).calls).toEqual(['GetTime ok: 42'])
  await close()
})

test('a runtime of the program is used, and left to it', async () => {
  const runtime = ManagedRuntime.make(Layer.succeed(Clock, { now: () => 42 }))
  const { tools, close } = fromEffect(effect, { runtime, tools: [now] })
  expect((await playCalls(tools, [['now', {}]])).calls).toEqual(['now ok: {"now":42}'])
  await close()
  expect(await runtime.runPromise(Effect.map(Clock, (clock) => clock.now()))).toBe(42)
  await runtime.dispose()
})

test('the compiler says which service is missing', () => {
  // @ts-expect-error -- Clock is not provided
  fromEffect(effect, { tools: [now] })
  // @ts-expect-error -- the handlers are not provided
  fromEffect(effect, { toolkit: Kit })
  // @ts-expect-error -- the tool's own dependency is not provided
  fromEffect(effect, { toolkit: Timed, layer: timedHandlers })
  fromEffect(effect, { toolkit: Timed, layer: Layer.merge(timedHandlers, Layer.succeed(Clock, { now: () => 42 })) })
  const needing = Layer.effect(
    Zone,
    Effect.map(Clock, (clock) => ({ offset: clock.now() })),
  )
  // @ts-expect-error -- the layer needs Clock, which is not provided
  fromEffect(effect, { layer: needing })
  // @ts-expect-error -- a merged Clock does not serve it
  fromEffect(effect, { layer: Layer.merge(needing, Layer.succeed(Clock, { now: () => 42 })) })
  const provided = Layer.provide(needing, Layer.succeed(Clock, { now: () => 42 }))
  fromEffect(effect, { layer: provided })
  type Anything = ReturnType<typeof JSON.parse>
  const unknownLayer: Layer.Layer<Zone, never, Anything> = provided
  fromEffect(effect, { layer: unknownLayer })
  effectTool({
    name: 'wrong',
    description: 'Its result does not fit',
    input: Schema.Struct({}),
    output: Schema.Struct({ count: Schema.Int }),
    // @ts-expect-error -- the result is a string
    execute: () => Effect.succeed({ count: 'one' }),
  })
})
