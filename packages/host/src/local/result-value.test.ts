// The JSON value of a result is kept along with its text, for tools and clients, even if the text is too long to be
// shown.
import { tool } from '@baton/core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { TestWorld } from './test-world.test-kit.ts'
import { act, listCalls, createTestWorld, noUnhandledRejections, resultsTold } from './test-world.test-kit.ts'

noUnhandledRejections()

const lines = Array.from({ length: 3000 }, (_, line) => ({ line }))

async function readValue(world: TestWorld): Promise<unknown> {
  const [settled] = await world.facts('call-settled')
  return settled?.settlement.type === 'ok' ? settled.settlement.value : settled?.settlement
}

async function run(world: TestWorld, handlers?: Readonly<Record<string, () => unknown>>): Promise<TestWorld> {
  const session = await world.open()
  if (handlers) await world.time.until(session.attach(handlers))
  await world.time.until(session.send('go').answer)
  return world
}

const steps = [listCalls('act'), { text: 'done' }]

test.each([
  ['an object', { seen: [1, null, { deep: true }] }],
  ['a list that is too long to be shown', lines],
  ['a number', 3],
])('%s that a tool returns is kept beside its text', async (_, value) => {
  const world = await run(createTestWorld({ tools: [act(() => value)], steps }))
  expect(await readValue(world)).toEqual(value)
})

test('the model reads the content, and programs get the value next to it', async () => {
  const content = [{ type: 'text', text: 'Two cities.' }]
  const world = await run(createTestWorld({ tools: [act(() => ({ content, value: ['Oslo', 'Rome'] }))], steps }))
  expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'Two cities.' }])
  expect(await readValue(world)).toEqual(['Oslo', 'Rome'])
})

test('a field `value` next to an invalid `content`, or next to other fields, is an ordinary field', async () => {
  for (const value of [
    { content: 'text', value: 1 },
    { content: [{ type: 'text', text: 'a' }], value: 1, more: 2 },
  ]) {
    const world = await run(createTestWorld({ tools: [act(() => value)], steps }))
    expect(await readValue(world)).toEqual(value)
  }
})

test('the model gets the beginning of a long result, and how to continue reading', async () => {
  const world = await run(createTestWorld({ tools: [act(() => lines)], steps }))
  expect(resultsTold(world.model)[0]?.text).toContain('Read on with result.read')
})

test('a result of 16,384 characters is shown whole, and of a longer one the first 12,288', async () => {
  const whole = 'x'.repeat(16_384)
  const shown = await run(createTestWorld({ tools: [act(() => whole)], steps }))
  expect(resultsTold(shown.model)[0]?.text).toBe(whole)
  const cut = await run(createTestWorld({ tools: [act(() => `${whole}y`)], steps }))
  expect(resultsTold(cut.model)[0]?.text).toMatch(
    /^x{12288}\n\[characters 0 to 12288 of 16385\. Read on with result\.read /,
  )
})

test('a long result is not cut between the halves of a character, and its last piece says that it is the last', async () => {
  const text = `${'x'.repeat(12_287)}😀${'y'.repeat(8000)}`
  const shown: string[] = []
  const world = createTestWorld({
    tools: [act(() => text)],
    steps: ({ messages }) => {
      const [part] = messages.flatMap(({ role, parts }) => (role === 'tool' ? parts : [])).slice(-1)
      const [piece] = part?.content ?? []
      if (piece?.type !== 'text') return listCalls('act')
      shown.push(piece.text)
      const next = /result\.read (\{.*\})\]$/.exec(piece.text)?.[1]
      return next ? { calls: [{ name: 'result.read', arguments: JSON.parse(next) }] } : { text: 'done' }
    },
  })
  await run(world)
  expect(shown).toHaveLength(2)
  expect(shown[0]?.slice(12_280)).toMatch(/^x{7}\n\[characters 0 to 12287 of 20289\. Read on/)
  expect(shown[1]).toBe(`😀${'y'.repeat(8000)}\n[characters 12287 to 20289 of 20289. This is the end]`)
})

test('a piece that is full of quotes is read as it is, and not shortened once more', async () => {
  const text = '"'.repeat(20_000)
  const shown: string[] = []
  const world = createTestWorld({
    tools: [act(() => text)],
    steps: ({ messages }) => {
      const [part] = messages.flatMap(({ role, parts }) => (role === 'tool' ? parts : [])).slice(-1)
      const [piece] = part?.content ?? []
      if (piece?.type !== 'text') return listCalls('act')
      shown.push(piece.text)
      const handle = /"handle":"([^"]+)"/.exec(piece.text)?.[1] ?? ''
      return shown.length === 1
        ? { calls: [{ name: 'result.read', arguments: { handle, offset: 0 } }] }
        : { text: 'done' }
    },
  })
  await run(world)
  expect(shown.map((piece) => piece.split('\n[')[0])).toEqual(['"'.repeat(12_288), '"'.repeat(12_288)])
})

test.each([
  ['a text', 'plain'],
  ['nothing', undefined],
  ['content', { content: [{ type: 'text', text: '{"a":1}' }] }],
])('%s is no value of its own', async (_, value) => {
  const world = await run(createTestWorld({ tools: [act(() => value)], steps }))
  expect(await readValue(world)).not.toEqual(expect.anything())
})

test('a value over limits.resultChars is not kept, and its result stands', async () => {
  const limits = { resultChars: 20_000 }
  const world = await run(createTestWorld({ limits, tools: [act(() => lines)], steps }))
  expect(await readValue(world)).toBeUndefined()
  expect(resultsTold(world.model)[0]?.isError).toBe(false)
})

const camera = tool({ name: 'act', description: 'Looks', input: { type: 'object' } })

test.each([
  ['an object', { seen: 1 }],
  ['a long list', lines],
])('%s that a client’s handler returns is kept beside its text', async (_, value) => {
  const world = await run(createTestWorld({ tools: [camera], steps }), { act: () => value })
  expect(await readValue(world)).toEqual(value)
  expect(resultsTold(world.model)).toEqual([{ isError: false, text: JSON.stringify(value) }])
})

test('the value that a program hands in with a result is kept', async () => {
  const world = createTestWorld({ tools: [camera], steps })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  const { callId = '' } = (await world.facts('step-finished'))[0]?.calls[0] ?? {}
  const content = [{ type: 'text', text: 'one' }] as const
  await (await session.attach()).result(callId, { type: 'ok', content, value: { n: 1 } })
  await world.time.until(turn.answer)
  expect(await readValue(world)).toEqual({ n: 1 })
})

class Box {
  readonly #inside = 1
  read(): number {
    return this.#inside
  }
}

async function* streamNotes(): AsyncGenerator<string> {
  yield await Promise.resolve('looking')
  yield 'found'
}

test.each<[string, () => unknown, string]>([
  ['a Response', () => new Response('x'), 'await response.json()'],
  ['a Map', () => new Map([['a', 1]]), 'Object.fromEntries(map)'],
  ['a Set', () => new Set([1]), '[...set]'],
  ['an Error', () => new Error('no'), 'its message, or throw it'],
  ['an Error with fields', () => Object.assign(new Error('no'), { code: 'E' }), 'its message, or throw it'],
  ['an Error with a status', () => Object.assign(new Error('no'), { status: 404 }), 'its message, or throw it'],
  ['an Error inside', () => ({ ok: false, why: Object.assign(new Error('no'), { status: 404 }) }), 'at why, an Error'],
  ['bytes', () => new Uint8Array([1, 2]), 'Array.from(bytes)'],
  [
    'a Buffer',
    () => Buffer.from('ab'),
    'is a Buffer, which JSON cannot write; return a file part, or Array.from(bytes)',
  ],
  ['a Buffer inside', () => ({ file: Buffer.from('ab') }), 'at file, a Buffer'],
  ['an instance without fields', () => new Box(), 'a plain object, or give it a toJSON method'],
  ['an async generator, as for preliminary results elsewhere', streamNotes, 'is a generator, which JSON cannot write'],
  ['a generator', () => [1, 2].values(), 'return the last value, and report the others with progress(note)'],
  ['an Error, with its article', () => new TypeError('no'), 'is a TypeError,'],
  ['an Error by itself', () => new Error('no'), 'is an Error,'],
  ['a Map inside', () => ({ rows: [{ tags: new Map() }] }), 'at rows[0].tags, a Map'],
])('%s is refused: the model would read {}', async (_situation, make, words) => {
  const world = await run(createTestWorld({ tools: [act(make)], steps }))
  const [settled] = await world.facts('call-settled')
  expect(settled?.settlement).toMatchObject({ type: 'error', code: 'result_invalid' })
  expect(resultsTold(world.model)[0]?.text).toContain(words)
})

test('a function is refused: it is no JSON', async () => {
  const world = await run(createTestWorld({ tools: [act(() => () => 1)], steps }))
  const [settled] = await world.facts('call-settled')
  expect(settled?.settlement).toMatchObject({ type: 'error', code: 'result_invalid' })
  expect(resultsTold(world.model)).toMatchObject([{ isError: true }])
})

class Point {
  readonly x = 1
}

test.each<[string, unknown, unknown]>([
  ['an empty object', {}, {}],
  ['an empty object inside', { a: {}, b: [] }, { a: {}, b: [] }],
  ['an instance with fields', new Point(), { x: 1 }],
  ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['an object without a prototype', Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
])('%s is a result', async (_situation, value, kept) => {
  const world = await run(createTestWorld({ tools: [act(() => value)], steps }))
  expect(await readValue(world)).toEqual(kept)
})

const failed = { content: [{ type: 'text', text: 'no such file' }], isError: true }

test.each<[string, object]>([
  ['of MCP', failed],
  ['of MCP, with structured content', { ...failed, structuredContent: { path: 'a' }, _meta: {} }],
  ['of pi', { ...failed, details: {} }],
])('a result %s that says isError is no success, and the model reads its text', async (_situation, value) => {
  const world = await run(createTestWorld({ tools: [act(() => value)], steps }))
  const [settled] = await world.facts('call-settled')
  expect(settled?.settlement).toMatchObject({ type: 'error', code: 'result_invalid' })
  expect(resultsTold(world.model)).toEqual([
    {
      isError: true,
      text: 'Error: the result has isError: true beside its content; throw an Error instead: no such file',
    },
  ])
})

test('a client’s handler whose result says isError has failed too', async () => {
  const world = await run(createTestWorld({ tools: [camera], steps }), { act: () => failed })
  expect(resultsTold(world.model)).toMatchObject([
    { isError: true, text: expect.stringContaining('no such file') as string },
  ])
})

test('pi’s details beside the content are named: the model would read both as JSON', async () => {
  const content = [{ type: 'text', text: 'Two cities.' }]
  const world = await run(createTestWorld({ tools: [act(() => ({ content, details: { n: 2 } }))], steps }))
  const [settled] = await world.facts('call-settled')
  expect(settled?.settlement).toMatchObject({ type: 'error', code: 'result_invalid' })
  expect(resultsTold(world.model)[0]?.text).toContain('details beside its content; return { content, value }')
})

test('details and isError are ordinary fields of a result that declares them, or that is no content', async () => {
  const declared = { content: [{ type: 'text', text: 'a' }], details: { n: 2 } }
  const parts = z.array(z.object({ type: z.string(), text: z.string() }))
  const output = z.object({ content: parts, details: z.object({ n: z.number() }) })
  const described = tool({
    name: 'act',
    description: 'Acts',
    input: { type: 'object' },
    output,
    execute: () => declared,
  })
  const world = await run(createTestWorld({ tools: [described], steps }))
  expect(await readValue(world)).toEqual(declared)
  const others: readonly object[] = [
    { content: 'a', isError: true },
    { content: [], isError: true },
    { isError: true, why: 'x' },
  ]
  for (const value of others) {
    const other = await run(createTestWorld({ tools: [act(() => value)], steps }))
    expect(await readValue(other)).toEqual(value)
  }
})
