// Types of tools, agents, sessions and clients, tested by `tsc`: lines that must not compile are marked.
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import type { AgentCall } from '@baton/core/internal'
import type { Agent, Answer, EventStream, Host, JsonValue, Session, Tool, ToolContext } from './index.ts'
import { createHost, createOfflineModel, defineAgent, tool } from './index.ts'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'

interface Db {
  readonly find: (city: string) => number
}

const model = createOfflineModel()

describe('a tool', () => {
  test('has the type of its JSON Schema, where that is a literal', () => {
    const given = tool({
      name: 'given',
      description: 'Takes all kinds of values',
      input: {
        type: 'object',
        properties: {
          city: { type: 'string' },
          count: { type: 'integer' },
          unit: { enum: ['m', 'km'] },
          kind: { const: 'place' },
          tags: { type: 'array', items: { type: 'string' } },
          size: { anyOf: [{ type: 'number' }, { type: 'null' }] },
          either: { type: ['string', 'boolean'] },
          more: { type: 'object', additionalProperties: { type: 'number' } },
          inner: { type: 'object', properties: { deep: { type: 'boolean' } }, required: ['deep'] },
        },
        required: ['city', 'unit', 'kind', 'tags', 'size', 'either', 'more', 'inner'],
      },
      execute: (input) => {
        expectTypeOf(input).toEqualTypeOf<{
          city: string
          unit: 'm' | 'km'
          kind: 'place'
          tags: string[]
          size: number | null
          either: string | boolean
          more: { [name: string]: number }
          inner: { deep: boolean }
          count?: number
        }>()
        return input.city
      },
    })
    expectTypeOf(given).toExtend<Tool>()
    expect(given.effect).toBe('once')
  })

  test('has the type of its Standard Schema, after defaults', () => {
    const find = tool({
      name: 'find',
      description: 'Finds',
      input: z.object({ text: z.string(), most: z.number().default(5) }),
      approval: ({ most }) => most > 10,
      describe: ({ text }) => ({ title: text.trim() }),
      execute: ({ text, most }, { services, signal }) => {
        expectTypeOf(most).toEqualTypeOf<number>()
        expectTypeOf(services).toBeUnknown()
        // The platform's own type.
        expectTypeOf(signal).toExtend<AbortSignal>()
        expectTypeOf(fetch).toBeCallableWith('https://example.org', { signal })
        return text
      },
    })
    expectTypeOf(find).toExtend<Tool<string, { text: string; most: number }>>()
    expect(find.name).toBe('find')
  })

  test('returns what its output schema takes', () => {
    const words = { name: 'count', description: 'Counts', input: { type: 'object' } } as const
    const output = z.object({ count: z.number(), note: z.string().default('') })
    tool({ ...words, output, execute: () => ({ count: 1 }) })
    tool({ ...words, output, execute: async () => await Promise.resolve({ count: 1, note: 'one' }) })
    // @ts-expect-error count is a number
    tool({ ...words, output, execute: () => ({ count: 'one' }) })
    const literal = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
    tool({ ...words, output: literal, execute: () => ({ n: 1 }) })
    // @ts-expect-error n is missing
    expect(tool({ ...words, output: literal, execute: () => ({}) }).effect).toBe('once')
  })

  test('takes no name that it does not have', () => {
    const words = { name: 'look', description: 'Looks', input: { type: 'object' } } as const
    // @ts-expect-error excute
    expect(() => tool({ ...words, excute: () => 1 })).toThrow('it is called "execute" here')
    // @ts-expect-error not an effect
    expect(() => tool({ ...words, effect: 'twice', execute: () => 1 })).toThrow('effect must be "pure"')
    // @ts-expect-error timeout
    expect(() => tool({ ...words, timeout: 5 })).toThrow('"timeoutMs"')
    // @ts-expect-error Baton names this field "approval"
    expect(() => tool({ ...words, needsApproval: true })).toThrow('it is called "approval" here')
    // An untyped spread hides it from the compiler; the tool still must not run without approval.
    const theirs: object = { needsApproval: true }
    expect(() => tool({ ...words, ...theirs })).toThrow('it is called "approval" here')
    // @ts-expect-error no input
    expect(() => tool({ name: 'look', description: 'Looks', inputSchema: { type: 'object' } })).toThrow('"input"')
    // @ts-expect-error no input at all
    expect(() => tool({ name: 'look', description: 'Looks' })).toThrow('it has no input')
  })

  test('asks with a schema, and knows the answer', () => {
    const asks = tool({
      name: 'asks',
      description: 'Asks',
      input: { type: 'object' },
      execute: async (_, { ask }) => {
        const answer = await ask({ message: 'How many?', schema: z.object({ count: z.number() }) })
        expectTypeOf(answer).toEqualTypeOf<{ count: number }>()
        const schema = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] } as const
        expectTypeOf(await ask({ message: 'Which?', schema })).toEqualTypeOf<{ size: string }>()
        return answer.count
      },
    })
    expect(asks.name).toBe('asks')
  })
})

const look = tool({ name: 'look', description: 'Looks', input: z.object({ at: z.string() }) })
const measure = tool({
  name: 'measure',
  description: 'Measures',
  input: { type: 'object', properties: { unit: { enum: ['m', 'km'] } }, required: ['unit'] },
  output: { type: 'object', properties: { length: { type: 'number' } }, required: ['length'] },
})
const population = tool({
  name: 'population',
  description: 'The population of a city',
  input: z.object({ city: z.string() }),
  execute: ({ city }, { services }: ToolContext<Db>) => services.find(city),
})
const cities = defineAgent({
  name: 'cities',
  model,
  tools: [look, measure, population],
  output: z.object({ people: z.number() }),
})
const db: Db = { find: () => 717_710 }

describe('an agent', () => {
  test('takes no name that it does not have, and no misspelt limit or setting', () => {
    // @ts-expect-error instruction
    expect(() => defineAgent({ name: 'a', model, instruction: 'Be brief.' })).toThrow('"instructions"')
    const theirs: object = { system: 'Be brief.' }
    expect(() => defineAgent({ name: 'a', model, ...theirs })).toThrow('it is called "instructions" here')
    // @ts-expect-error tools by name
    expect(() => defineAgent({ name: 'a', model, tools: {} })).toThrow('tools must be an array')
    // @ts-expect-error maxTokens
    expect(() => defineAgent({ name: 'a', settings: { maxTokens: 5 } })).toThrow('maxTokens')
    // @ts-expect-error toolRound
    expect(() => defineAgent({ name: 'a', limits: { toolRound: 5 } })).toThrow('toolRound')
  })

  test('gives its output a type, and no output where it has no schema', async () => {
    await using host = createHost({ agent: cities, services: db })
    const session = await host.session()
    type Asked = Awaited<ReturnType<typeof session.send>['answer']>
    expectTypeOf<Asked>().toEqualTypeOf<Answer<{ people: number }>>()
    await using plain = createHost({ agent: defineAgent({ name: 'a', model }) })
    const { output } = await (await plain.session()).send('Hi').answer
    expectTypeOf(output).toEqualTypeOf<undefined>()
    expect(output).toBeUndefined()
    const other = defineAgent({
      name: 'b',
      model,
      output: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
    })
    const chosen = await plain.session('other', { agent: other })
    type Chosen = Awaited<ReturnType<typeof chosen.send>['answer']>
    expectTypeOf<Chosen['output']>().toEqualTypeOf<{ ok: boolean } | undefined>()
    // An answer that ended by itself has been validated.
    expectTypeOf<Extract<Chosen, { stop: 'end' }>['output']>().toEqualTypeOf<{ ok: boolean }>()
  })
})

test('a turn with its own schema has an answer of its type', async () => {
  await using host = createHost({ agent: cities, services: db })
  const session = await host.session()
  const ask = () => session.send('Hi', { output: z.object({ rooms: z.array(z.string()) }), delivery: 'steer' })
  type Asked = Awaited<ReturnType<typeof ask>['answer']>
  expectTypeOf<Asked>().toEqualTypeOf<Answer<{ rooms: string[] }>>()
  expectTypeOf<Extract<Asked, { stop: 'end' }>['output']>().toEqualTypeOf<{ rooms: string[] }>()
  const literal = () =>
    session.turn('i', { output: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } })
  expectTypeOf<Awaited<ReturnType<typeof literal>['answer']>>().toEqualTypeOf<Answer<{ ok: boolean }>>()
  const others = () => ({
    valibot: session.send('Hi', { output: toStandardJsonSchema(v.object({ ok: v.boolean() })) }).answer,
    arktype: session.send('Hi', { output: type({ ok: 'boolean' }) }).answer,
  })
  type Others = Awaited<ReturnType<typeof others>[keyof ReturnType<typeof others>]>
  expectTypeOf<Others>().toEqualTypeOf<Answer<{ ok: boolean }>>()
  // Without a schema, the agent's own type applies.
  expectTypeOf<Awaited<ReturnType<typeof session.turn>['answer']>>().toEqualTypeOf<Answer<{ people: number }>>()
  // @ts-expect-error a value instead of a schema
  const wrong = () => session.send('Hi', { output: 'rooms' })
  await expect(wrong().answer).rejects.toMatchObject({ code: 'invalid_event' })
})

describe('a host', () => {
  test('has the services that the tools of its agent need', async () => {
    // @ts-expect-error services are missing
    await createHost({ agent: cities }).stop()
    // @ts-expect-error find is missing
    await createHost({ agent: cities, services: {} }).stop()
    // @ts-expect-error servces
    expect(() => createHost({ agent: defineAgent({ name: 'a', model }), servces: db })).toThrow('"services"')
    const host: Host = createHost({ agent: cities, services: db })
    await host.stop()
  })

  test('has what each tool needs, where several need different things', async () => {
    interface Doors {
      readonly openDoor: () => string
    }
    const door = tool({
      name: 'door',
      description: 'Opens the door',
      input: { type: 'object' },
      execute: (_, { services }: ToolContext<Doors>) => services.openDoor(),
    })
    const agent = defineAgent({ name: 'house', model, tools: [look, population, door] })
    const doors: Doors = { openDoor: () => 'open' }
    // @ts-expect-error openDoor is missing
    await createHost({ agent, services: db }).stop()
    // @ts-expect-error find is missing
    await createHost({ agent, services: doors }).stop()
    // @ts-expect-error openDoor returns a string
    await createHost({ agent, services: { ...db, openDoor: () => 1 } }).stop()
    const host: Host = createHost({ agent, services: { ...db, ...doors } })
    await host.stop()
  })

  test('takes no misspelt word of a session', async () => {
    await using host = createHost({ agent: cities, services: db })
    // @ts-expect-error principle
    await expect(host.session('s', { principle: { id: 'ann' } })).rejects.toThrow('"principal"')
    const session: Session = await host.session('s', { principal: { id: 'ann' } })
    // @ts-expect-error model settings have no maxTokens
    await expect(session.send('Hi', { settings: { maxTokens: 5 } }).answer).rejects.toThrow('maxTokens')
  })
})

describe('an event', () => {
  const sum = tool({
    name: 'sum',
    description: 'Adds',
    input: z.object({ terms: z.array(z.number()), note: z.string().optional() }),
    output: z.object({ sum: z.number() }),
    execute: ({ terms }) => ({ sum: terms.reduce((one, other) => one + other, 0) }),
  })
  const steps = [{ calls: [{ name: 'sum', arguments: { terms: [1, 2] } }] }, { text: 'three' }]
  const counting = defineAgent({ name: 'counts', model: createScriptedModel({ steps }), tools: [sum, measure] })

  test('has results without what a schema leaves out, and any JSON where a value writes itself', () => {
    const output = z.object({
      page: z.int().optional(),
      at: z.date(),
      lines: z.array(z.object({ no: z.int().optional() })),
    })
    const read = tool({
      name: 'read',
      description: 'Reads',
      input: z.object({}),
      output,
      execute: () => ({ at: new Date(0), lines: [] }),
    })
    type Result = NonNullable<AgentCall<Agent<undefined, readonly [typeof read]>>['result']>
    type Value = NonNullable<Extract<Result, { readonly type: 'ok' }>['value']>
    expectTypeOf<Value>().toEqualTypeOf<{
      readonly page?: number
      readonly at: JsonValue
      readonly lines: readonly { readonly no?: number }[]
    }>()
    expect(read.effect).toBe('once')
  })

  test('has calls with the names, inputs and results of the agent’s tools', async () => {
    await using host = createHost({ agent: counting })
    const session = await host.session()
    const seen: unknown[] = []
    for await (const event of session.send('Add')) {
      if (event.type !== 'call') continue
      expectTypeOf(event.call.name).toEqualTypeOf<'sum' | 'measure'>()
      // @ts-expect-error no tool has this name
      if (event.call.name === 'add') continue
      if (event.call.name === 'measure') expectTypeOf(event.call.input).toEqualTypeOf<{ unit: 'm' | 'km' }>()
      if (event.call.name !== 'sum') continue
      expectTypeOf(event.call.input.terms).toEqualTypeOf<number[]>()
      if (event.call.result?.type !== 'ok') continue
      expectTypeOf(event.call.result.value).toEqualTypeOf<{ sum: number } | undefined>()
      seen.push(event.call.input.terms, event.call.result.value?.sum)
    }
    expect(seen).toEqual([[1, 2], 3])
    expectTypeOf(session.events).returns.toEqualTypeOf<EventStream<AgentCall<typeof counting>>>()
    const any: Session = session
    expectTypeOf(any.events).returns.toEqualTypeOf<EventStream>()
  })
})

describe('a client', () => {
  test('has handlers with the types of the client tools', async () => {
    await using host = createHost({ agent: cities, services: db })
    const session = await host.session()
    await session.attach({
      look: ({ at }, call) => {
        expectTypeOf(at).toEqualTypeOf<string>()
        return `${call.callId} ${at}`
      },
      measure: async ({ unit }) => {
        expectTypeOf(unit).toEqualTypeOf<'m' | 'km'>()
        return await Promise.resolve({ length: 5 })
      },
    })
    // @ts-expect-error length is a number
    await session.attach({ measure: () => ({ length: 'five' }) })
    // @ts-expect-error no such tool
    await expect(session.attach({ lok: () => 1 })).rejects.toMatchObject({
      code: 'invalid_option',
      message: 'agent "cities" has no client tool "lok"; did you mean "look"?',
      hint: 'Its client tools are look, measure.',
    })
    // @ts-expect-error the host runs it
    await expect(session.attach({ population: () => 1 })).rejects.toThrow('has its own execute')
    await expect(frontOf(session).client({ client: 'web', runs: ['look', 'measur'] })).rejects.toThrow(
      'did you mean "measure"?',
    )
  })

  test('has no handlers where the agent has no client tools', async () => {
    await using host = createHost({ agent: defineAgent({ name: 'a', model }) })
    const session = await host.session()
    // @ts-expect-error it has no client tools
    await expect(session.attach({ look: () => 1 })).rejects.toMatchObject({
      code: 'invalid_option',
      hint: 'It has no client tools: tools without execute.',
    })
    await (await session.attach({})).detach()
  })

  test('has any handlers where the tools of the agent are not known', async () => {
    const tools: readonly Tool[] = [look]
    await using host = createHost({ agent: defineAgent({ name: 'a', model, tools }) })
    const session = await host.session()
    const client = await session.attach({ look: (input) => ({ input }) })
    expect(client.connection).toContain('program')
  })
})
