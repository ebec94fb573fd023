// Effects as tools of a real host, in both versions of Effect.
import { createToolContext } from '@baton/core/testing'
import * as effect3Module from 'effect'
import * as effect4Module from 'effect4'
import { describe, expect, test } from 'vitest'
import { playCalls } from '../shared/played-calls.test-kit.ts'
import { effect3 } from './effect-3.test-kit.ts'
import { effect4 } from './effect-4.test-kit.ts'
import { effectTool, fromEffect } from './index.ts'

describe.each([effect3, effect4])('Effect $version', ({ open, openToolkit }) => {
  test('services are built once for all calls, and what schemas decode and encode reaches Effect and model', async () => {
    const opened = open()
    const played = await playCalls(opened.tools, [
      ['order.read', { id: 'A-17' }],
      ['order.read', { id: 'A-17', since: '2026-04-05T06:07:08.000Z' }],
    ])
    expect(played.calls).toEqual([
      'order.read ok: {"id":"A-17","at":"2026-03-01T00:00:00.000Z","total":"5"}',
      'order.read ok: {"id":"A-17","at":"2026-04-05T06:07:08.000Z","total":"5"}',
    ])
    expect(opened.counts).toMatchObject({ built: 1, released: 0 })
    await opened.close()
    await opened.close()
    expect(opened.counts.released).toBe(1)
  })

  test('the model is shown the encoded side of the schema, and reads what does not fit it', async () => {
    const opened = open()
    const { shown, calls } = await playCalls(opened.tools, [['order.read', { id: 7, since: 'yesterday' }]])
    expect(shown['order.read']).toMatchObject({
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
    })
    expect(shown['who']).toMatchObject({ type: 'object' })
    expect(calls[0]).toMatch(/^order\.read error invalid_arguments: .*id/s)
    expect(opened.counts.built).toBe(0)
    await opened.close()
  })

  test('a typed failure shows its tag and its words, or its fields; of several at once the first is shown', async () => {
    const opened = open()
    const { calls } = await playCalls(opened.tools, [
      ['order.read', { id: 'A-71' }],
      ['order.read', { id: 'far' }],
      ['order.many', {}],
    ])
    expect(calls).toEqual([
      'order.read error tool_failed: OrderNotFound: there is no order A-71',
      'order.read error tool_failed: OutOfReach: {"host":"orders.example"}',
      'order.many error tool_failed: OutOfReach: {"host":"one"}',
    ])
    await opened.close()
  })

  test('a defect, a throw before the Effect and a value that is not an Effect are errors for the model, and none ends the turn', async () => {
    const opened = open()
    const { calls } = await playCalls(opened.tools, [
      ['order.die', {}],
      ['order.throw', {}],
      ['order.plain', {}],
      ['order.wrong', {}],
      ['order.read', { id: 'A-17' }],
    ])
    expect(calls.slice(0, 2)).toEqual([
      'order.die error tool_failed: the disk is full',
      'order.throw error tool_failed: thrown before the Effect',
    ])
    expect(calls[2]).toMatch(/^order\.plain error result_invalid: execute of "order\.plain" must return an Effect/)
    expect(calls[3]).toMatch(/^order\.wrong error result_invalid: the result of "order\.wrong" is wrong: .+/s)
    expect(calls[4]).toMatch(/^order\.read ok/)
    await opened.close()
  })

  test('the cause of a defect is in the log, and a typed failure is not', async () => {
    const opened = open()
    const warnings: unknown[] = []
    const context = createToolContext({
      signal: new AbortController().signal,
      log: { info: () => {}, warn: (message, data) => warnings.push([message, data]) },
    })
    const run = (name: string, input: object) =>
      opened.tools.find((tool) => tool.name === name)?.execute?.(input, context)
    await expect(run('order.read', { id: 'A-71' })).rejects.toMatchObject({ code: 'tool_failed' })
    expect(warnings).toEqual([])
    await expect(run('order.die', {})).rejects.toMatchObject({ code: 'tool_failed', message: 'the disk is full' })
    expect(warnings).toEqual([
      ['an Effect of a tool died', { callId: 'call_1_0', cause: expect.stringContaining('the disk is full') }],
    ])
    await opened.close()
  })

  test('an Effect finds the context of its call under the tag of the program', async () => {
    const opened = open()
    const { calls, notes } = await playCalls(opened.tools, [['who', {}]])
    expect(calls[0]).toMatch(/^who ok: \{"callId":"call_.+","principal":"anonymous"\}$/)
    expect(notes).toEqual(['half'])
    await opened.close()
  })

  test('a call that is over interrupts its Effect', async () => {
    const opened = open()
    const over = new AbortController()
    const context = createToolContext({ signal: over.signal })
    const waiting = opened.tools.find(({ name }) => name === 'order.wait')?.execute?.({}, context)
    await opened.begun
    over.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
    await opened.close()
    expect(opened.counts.interrupted).toBe(1)
  })

  test('a call whose Effect cannot be interrupted settles all the same, for the host and for its own promise', async () => {
    const alone = open({ closeMs: 50 })
    const over = new AbortController()
    const stubborn = alone.tools.find(({ name }) => name === 'order.stubborn')
    const running = Promise.resolve(stubborn?.execute?.({}, createToolContext({ signal: over.signal })))
    void alone.begun.then(() => over.abort())
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    const opened = open({ closeMs: 50 })
    const { calls } = await playCalls(opened.tools, [['order.stubborn', {}]], { interruptAt: () => opened.begun })
    expect(calls).toEqual(['order.stubborn cancelled cancelled: the turn was interrupted: it may have run'])
    await expect(opened.close()).rejects.toMatchObject({ code: 'cancelled', message: expect.stringContaining('50 ms') })
  })

  test('close interrupts what runs, and a call after it fails as gone', async () => {
    const opened = open()
    const context = createToolContext({ signal: new AbortController().signal })
    const find = (name: string) => opened.tools.find((tool) => tool.name === name)
    const ended = Promise.resolve(find('order.wait')?.execute?.({}, context)).catch((thrown: unknown) => thrown)
    await opened.begun
    await opened.close()
    expect(await ended).toMatchObject({ code: 'cancelled' })
    expect(opened.counts).toMatchObject({ built: 1, released: 1, interrupted: 1 })
    await expect(find('who')?.execute?.({}, context)).rejects.toMatchObject({ code: 'tool_gone' })
  })

  test('services that cannot be built fail the call, and the next call tries again', async () => {
    const opened = open({ failingBuilds: 1 })
    const { calls } = await playCalls(opened.tools, [
      ['order.read', { id: 'A-17' }],
      ['order.read', { id: 'A-17' }],
    ])
    expect(calls[0]).toBe(
      'order.read error tool_failed: the services of the tool could not be built: OutOfReach: {"host":"orders.example"}',
    )
    expect(calls[1]).toMatch(/^order\.read ok/)
    expect(opened.counts.built).toBe(2)
    await opened.close()
  })

  test('close reports a finalizer that never ends', async () => {
    const opened = open({ isStuck: true, closeMs: 50 })
    await playCalls(opened.tools, [['order.read', { id: 'A-17' }]])
    await expect(opened.close()).rejects.toMatchObject({ code: 'cancelled' })
  })

  test('a toolkit runs with the handlers of its layer', async () => {
    const opened = openToolkit()
    const { calls, notes, shown } = await playCalls(opened.tools, [
      ['GetWeather', { city: 'Lisbon' }],
      ['GetWeather', { city: 'Lisbon', at: '2026-04-05T06:07:08.000Z' }],
      ['GetWeather', { city: 'Atlantis' }],
      ['GetWeather', { town: 'Lisbon' }],
      ['Publish', {}],
      ['Nothing', {}],
    ])
    expect(calls.slice(0, 3)).toEqual([
      'GetWeather ok: {"city":"Lisbon","degrees":21,"at":"2026-03-01T00:00:00.000Z"}',
      'GetWeather ok: {"city":"Lisbon","degrees":21,"at":"2026-04-05T06:07:08.000Z"}',
      'GetWeather error tool_failed: Unknown: there is no city Atlantis',
    ])
    expect(calls[3]).toMatch(/^GetWeather error invalid_arguments: .*city/s)
    expect(calls.slice(4)).toEqual(['Publish error tool_failed: Closed: the press is closed', 'Nothing ok: null'])
    expect(notes).toEqual(['nothing'])
    expect(shown['GetWeather']).toMatchObject({ type: 'object', properties: { city: { type: 'string' } } })
    expect(shown['Nothing']).toMatchObject({ type: 'object' })
    expect(opened.counts.built).toBe(1)
    await opened.close()
    expect(opened.counts.released).toBe(1)
  })

  test('what a toolkit says of its tools holds for Baton, and what the program says comes first', () => {
    const { tools } = openToolkit()
    expect(tools.map(({ name, effect, trust, timeoutMs }) => [name, effect, trust, timeoutMs])).toEqual([
      ['GetWeather', 'pure', 'untrusted', 30_000],
      ['Publish', 'once', 'untrusted', 30_000],
      ['Nothing', 'once', 'untrusted', 30_000],
    ])
  })
})

test('what is not the module of Effect, and options that nobody has, are refused in words', () => {
  expect(() => fromEffect({ Effect: {} }, {})).toThrow(/the given value has no Effect\.isEffect/)
  expect(() => fromEffect({}, { trust: 'untrusted' })).toThrow(/it has trust, which applies only to toolkit tools/)
  expect(() => fromEffect({}, { closeMs: 0 })).toThrow(/closeMs must be a number greater than 0, not 0/)
  expect(() => fromEffect({}, { layer: 1, runtime: 1 })).toThrow(/it has both a layer and a runtime/)
  expect(() => fromEffect({}, { layers: 1 } as never)).toThrow(
    /fromEffect has no field "layers"; it is called "layer" here/,
  )
})

test('a tool that effectTool did not make is refused in words', () => {
  const plain = { name: 'read', description: 'Reads', execute: () => 1 }
  expect(() => fromEffect(effect4Module, { tools: [plain] } as never)).toThrow(
    /the tool "read" was not created by effectTool/,
  )
})

test.each([
  ['a JSON Schema', { type: 'object' }],
  ['nothing', undefined],
  ['a schema of the other version', effect3Module.Schema.Struct({})],
])('%s is not a schema of the Effect that was given', (_, input) => {
  const init = { name: 'read', description: 'Reads', input, execute: () => effect4Module.Effect.void }
  const tools = [effectTool(init as never)]
  expect(() => fromEffect(effect4Module, { tools } as never)).toThrow(
    /tool "read": input is not a schema of the Effect module/,
  )
})
