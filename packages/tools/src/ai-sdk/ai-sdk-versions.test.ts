// Tools made with the real AI SDK 4, 5, 6 and 7, unchanged, in a turn of a real host.
import { createToolContext } from '@baton/core/testing'
import * as ai4 from 'ai4'
import * as ai5 from 'ai5'
import * as ai6 from 'ai6'
import * as ai7 from 'ai'
import { z as z3 } from 'zod3'
import { z as z41 } from 'zod41'
import { z } from 'zod'
import { describe, expect, test } from 'vitest'
import { playCalls } from '../shared/played-calls.test-kit.ts'
import type { AiSdkTool } from './index.ts'
import { fromAiSdk } from './index.ts'

const city3 = z3.object({ city: z3.string().describe('Such as Lisbon'), days: z3.number().int().default(1) })
const city4 = z.object({ city: z.string().describe('Such as Lisbon'), days: z.number().int().default(1) })
const written = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'number' } },
  required: ['city'],
} satisfies object as never // each version has its own JSON Schema type

/** Two copies of Zod overwhelm these functions' types; the values they return are tested instead. */
type Make = (init: object) => AiSdkTool
const tool4 = ai4.tool as unknown as Make
const tool5 = ai5.tool as unknown as Make
const tool6 = ai6.tool as unknown as Make
const tool7 = ai7.tool as unknown as Make
const dynamicTool7 = ai7.dynamicTool as unknown as Make

interface City {
  readonly city: string
  readonly days?: number
}
const tell = (
  { city, days = 1 }: City,
  { toolCallId, abortSignal }: { toolCallId: string; abortSignal?: AbortSignal },
) => ({
  city,
  days,
  id: toolCallId.startsWith('call_'),
  aborted: abortSignal?.aborted,
})
const description = 'Tells the weather'
const check = (value: unknown) =>
  typeof value === 'object' && value !== null && 'city' in value && value.city !== 'Atlantis'
    ? { success: true as const, value: value as City }
    : { success: false as const, error: new Error('there is no such city') }

const VERSIONS = [
  { version: 4, make: tool4, field: 'parameters', ai: ai4 },
  { version: 5, make: tool5, field: 'inputSchema', ai: ai5 },
  { version: 6, make: tool6, field: 'inputSchema', ai: ai6 },
  { version: 7, make: tool7, field: 'inputSchema', ai: ai7 },
] as const

/** Each kind of schema that a version accepts. */
const SCHEMAS: readonly (readonly [string, Make, string, unknown])[] = [
  ...VERSIONS.flatMap(({ version, make, field, ai }): typeof SCHEMAS => [
    [`${version}, Zod 3`, make, field, city3],
    [`${version}, jsonSchema()`, make, field, ai.jsonSchema<City>(written)],
  ]),
  ['4, zodSchema()', tool4, 'parameters', ai4.zodSchema(city3 as never)],
  ['5, Zod 4', tool5, 'inputSchema', city4],
  ['5, asSchema(Zod 4)', tool5, 'inputSchema', ai5.asSchema(city4 as never)],
  ['6, Zod 4', tool6, 'inputSchema', city4],
  ['6, asSchema(Zod 3)', tool6, 'inputSchema', ai6.asSchema(city3 as never)],
  ['7, Zod 4', tool7, 'inputSchema', city4],
  ['7, asSchema(Zod 4)', tool7, 'inputSchema', ai7.asSchema(city4 as never)],
  ['7, a schema that is made late', tool7, 'inputSchema', () => ai7.asSchema(city4 as never)],
  ['7, dynamic', dynamicTool7, 'inputSchema', city4],
]

test.each(SCHEMAS)(
  'a tool of the AI SDK %s runs, and its schema is shown and kept',
  async (_kind, make, field, schema) => {
    const weather = make({ description, [field]: schema, execute: tell })
    const { calls, shown } = await playCalls(fromAiSdk({ weather }), [
      ['weather', { city: 'Lisbon' }],
      ['weather', { city: 7 }],
    ])
    expect(calls[0]).toBe('weather ok: {"city":"Lisbon","days":1,"id":true,"aborted":false}')
    expect(calls[1]).toMatch(/^weather error invalid_arguments: .*city/s)
    expect(shown['weather']).toMatchObject({ type: 'object', properties: { city: { type: 'string' } } })
    expect(shown['weather']?.['required']).toContain('city')
  },
)

test.each(VERSIONS)('the validate of jsonSchema() of version $version decides, in its own words', async (one) => {
  const { make, field, ai } = one
  const weather = make({ [field]: ai.jsonSchema<City>(written, { validate: check }), execute: tell })
  const { calls } = await playCalls(fromAiSdk({ weather }), [['weather', { city: 'Atlantis' }]])
  expect(calls).toEqual(['weather error invalid_arguments: there is no such city'])
})

interface Picture {
  readonly data: string
}
const shows = 'iVBORw0KGgo='
const drawn = { type: 'text', text: 'drawn' } as const
const say = (part: object): object => ({ type: 'content', value: [drawn, part] })
/** How each version sends a picture to the model along with text. */
const PICTURES = [
  {
    ...VERSIONS[0],
    said: {
      experimental_toToolResultContent: ({ data }: Picture) => [drawn, { type: 'image', data, mimeType: 'image/png' }],
    },
  },
  {
    ...VERSIONS[1],
    said: { toModelOutput: ({ data }: Picture) => say({ type: 'media', data, mediaType: 'image/png' }) },
  },
  {
    ...VERSIONS[2],
    said: {
      toModelOutput: ({ output: { data } }: { readonly output: Picture }) =>
        say({ type: 'image-data', data, mediaType: 'image/png' }),
    },
  },
  {
    ...VERSIONS[3],
    said: {
      toModelOutput: ({ output: { data } }: { readonly output: Picture }) =>
        say({ type: 'file', data: { type: 'data', data }, mediaType: 'image/png' }),
    },
  },
] as const

test.each(PICTURES)('the model reads what a tool of version $version makes of its output', async (one) => {
  const { make, field, version, said } = one
  const input = version === 4 ? z3.object({}) : z.object({})
  const draw = make({ [field]: input, execute: () => Promise.resolve({ data: shows }), ...said })
  expect((await playCalls(fromAiSdk({ draw }, version === 5 ? { version } : {}), [['draw', {}]])).calls).toEqual([
    'draw ok: drawn|[image]',
  ])
})

describe.each([
  [5, tool5],
  [6, tool6],
  [7, tool7],
] as const)('version %i', (version, tool) => {
  test('what a tool yields is progress, and the last of it the result', async () => {
    const scan = tool({
      inputSchema: z.object({ pages: z.number() }),
      async *execute({ pages }: { pages: number }) {
        for (let page = 1; page <= pages; page += 1) yield { page }
      },
    })
    const [made] = fromAiSdk({ scan })
    const notes: unknown[] = []
    const context = createToolContext({ signal: new AbortController().signal, progress: (note) => notes.push(note) })
    expect(await made?.execute?.({ pages: 3 }, context)).toEqual({ page: 3 })
    expect(notes).toEqual([{ page: 1 }, { page: 2 }, { page: 3 }])
  })

  test('services of the host are the context of its tools', async () => {
    const name = version === 7 ? 'context' : 'experimental_context'
    const who = tool({
      inputSchema: z.object({}),
      execute: (_input: object, about: object) => ({ token: (Reflect.get(about, name) as { token: string }).token }),
    })
    const { calls } = await playCalls(fromAiSdk({ who }), [['who', {}]], { services: { token: 'of ann' } })
    expect(calls).toEqual(['who ok: {"token":"of ann"}'])
    const tools = fromAiSdk({ who }, { options: () => ({ [name]: { token: 'of the tenant' } }) })
    const given = await playCalls(tools, [['who', {}]], { services: { token: 'of ann' } })
    expect(given.calls).toEqual(['who ok: {"token":"of the tenant"}'])
  })

  test('a tool without execute is run by a client', () => {
    const locate = tool({
      description: 'Where the phone is',
      inputSchema: z.object({}),
      outputSchema: z.object({ city: z.string() }),
    })
    const [made] = fromAiSdk({ locate }, { byName: { locate: { awayMs: 0 } } })
    expect(made).toMatchObject({ name: 'locate', awayMs: 0 })
    expect(made?.execute).toBeUndefined()
    expect(made?.output).toBeDefined()
  })
})

test.each([
  [6, tool6],
  [7, tool7],
] as const)('version %i asks a person where its tool says so', async (_version, tool) => {
  const refund = tool({
    inputSchema: z.object({ cents: z.number() }),
    needsApproval: ({ cents }: { cents: number }) => cents > 1000,
    execute: ({ cents }: { cents: number }) => ({ refunded: cents }),
  })
  const always = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 'done' })
  const { calls, asked } = await playCalls(fromAiSdk({ refund, always }), [
    ['refund', { cents: 1000 }],
    ['refund', { cents: 1001 }],
    ['always', {}],
  ])
  expect(asked).toEqual(['refund', 'always'])
  expect(calls).toEqual(['refund ok: {"refunded":1000}', 'refund ok: {"refunded":1001}', 'always ok: done'])
})

/** The schema with which each version validates a program's messages. */
const MESSAGES = [
  [4, 'parameters', tool4, ai4.coreMessageSchema],
  [5, 'inputSchema', tool5, ai5.modelMessageSchema],
  [6, 'inputSchema', tool6, ai6.modelMessageSchema],
  [7, 'inputSchema', tool7, ai7.modelMessageSchema],
] as const

test.each(MESSAGES)(
  'a tool of version %i reads the conversation in its own words',
  async (version, field, make, schema) => {
    const read: unknown[] = []
    const nothing = { [field]: version === 4 ? z3.object({}) : z.object({}) }
    const draw = () => ({
      content: [
        { type: 'text' as const, text: 'drawn' },
        { type: 'image' as const, mediaType: 'image/png', source: { type: 'base64' as const, data: shows } },
      ],
    })
    const tools = fromAiSdk(
      {
        find: make({ ...nothing, execute: () => ({ id: 'A-17' }) }),
        draw: make({ ...nothing, execute: draw }),
        say: make({ ...nothing, execute: () => 'said' }),
        fail: make({ ...nothing, execute: () => Promise.reject(new Error('it is broken')) }),
        recall: make({
          ...nothing,
          execute: (_input: object, { messages }: { readonly messages: readonly unknown[] }) => {
            read.push(...messages)
            return messages.length
          },
        }),
      },
      { version },
    )
    const names = ['find', 'draw', 'say', 'fail', 'recall']
    const { calls } = await playCalls(
      tools,
      names.map((name) => [name, {}]),
    )
    expect(calls.at(-1)).toBe('recall ok: 9')
    for (const message of read) expect(schema.safeParse(message)).toMatchObject({ success: true })
    const [asked, called, found] = read
    expect(asked).toEqual({ role: 'user', content: 'Go.' })
    const about = { toolCallId: expect.stringMatching(/^call_\w+_1_0$/), toolName: 'find' }
    expect(called).toEqual({
      role: 'assistant',
      content: [{ type: 'tool-call', ...about, ...(version === 4 ? { args: {} } : { input: {} }) }],
    })
    const value = { id: 'A-17' }
    const output = version === 4 ? { result: value } : { output: { type: 'json', value } }
    expect(found).toEqual({ role: 'tool', content: [{ type: 'tool-result', ...about, ...output }] })
    expect(JSON.stringify(read[4])).toContain(shows)
    expect(JSON.stringify(read.slice(5))).toMatch(/said.*it is broken/)
  },
)

test.each([
  [6, tool6],
  [7, tool7],
] as const)('needsApproval of version %i knows the call, the conversation and the context', async (version, make) => {
  const seen: unknown[] = []
  const field = version === 7 ? 'context' : 'experimental_context'
  const pay = make({
    inputSchema: z.object({}),
    needsApproval: (_input: object, about: { readonly toolCallId: string; readonly messages: readonly unknown[] }) => {
      seen.push(about.toolCallId, about.messages, Reflect.get(about, field))
      return about.messages.length > 1
    },
    execute: (_input: object, { toolCallId }: { readonly toolCallId: string }) => `paid by ${toolCallId}`,
  })
  const steps = [
    ['pay', {}],
    ['pay', {}],
  ] as const
  const { asked, calls } = await playCalls(fromAiSdk({ pay }), steps, { services: { shop: 'east' } })
  expect(calls).toEqual([`pay ok: paid by ${String(seen[0])}`, `pay ok: paid by ${String(seen[3])}`])
  expect(seen[0]).not.toBe(seen[3])
  expect(asked).toEqual(['pay'])
  expect(seen.slice(1, 3)).toEqual([[{ role: 'user', content: 'Go.' }], { shop: 'east' }])
  expect(seen[4]).toHaveLength(3)
})

test('a schema that is used twice is shown without references, and one that says only its properties is an object', async () => {
  const place = z3.object({ city: z3.string() })
  const route = tool4({ parameters: z3.object({ from: place, to: place }), execute: () => 'by train' })
  const bare = tool7({ inputSchema: ai7.jsonSchema({ properties: { city: { type: 'string' } } }), execute: () => 1 })
  const old = tool5({ inputSchema: z41.object({ city: z41.string().max(5) }), execute: ({ city }: City) => city })
  const { calls, shown } = await playCalls(fromAiSdk({ route, bare, old }), [
    ['route', { from: { city: 'Oslo' }, to: { city: 'Bergen' } }],
    ['old', { city: 'Oslo' }],
    ['old', { city: 'Bergen' }],
  ])
  expect(calls.slice(0, 2)).toEqual(['route ok: by train', 'old ok: Oslo'])
  expect(calls[2]).toMatch(/^old error invalid_arguments: city/)
  expect(JSON.stringify(shown['route'])).not.toContain('$ref')
  expect(shown['bare']).toMatchObject({ type: 'object', properties: { city: { type: 'string' } } })
  expect(shown['old']).toMatchObject({ type: 'object', properties: { city: { type: 'string', maxLength: 5 } } })
})

test('the context of a tool of version 7 is checked by its own schema', async () => {
  const read = tool7({
    inputSchema: z.object({}),
    contextSchema: z.object({ token: z.string() }),
    execute: (_input: object, { context }: { readonly context: { readonly token: string } }) => ({
      token: context.token,
    }),
  })
  const given = (context: object) => fromAiSdk({ read }, { options: () => ({ context }) })
  expect((await playCalls(given({ token: 'x', more: 1 }), [['read', {}]])).calls).toEqual(['read ok: {"token":"x"}'])
  expect((await playCalls(given({}), [['read', {}]])).calls[0]).toMatch(
    /^read error tool_failed: the context of "read" does not match its schema/,
  )
})
