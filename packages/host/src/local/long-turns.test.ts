// A turn whose tools return far more than the model's window holds: results are stored behind handles, the model reads
// further pieces, and the turn ends with an answer.
import { defineAgent, tool } from '@baton/core'
import type { ModelRequest } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from './create-host.ts'

const CHARS_PER_TOKEN = 4
const WINDOW = { contextTokens: 4096, actAtTokens: 3500, reserveTokens: 500 }
/** 3,000 numbered lines, so that each piece can be identified. */
const BOOK = Array.from({ length: 3000 }, (_, at) => `line ${at}`).join('\n')

function createBook(steps: Parameters<typeof createScriptedModel>[0]['steps'], window: object = {}) {
  const model = createScriptedModel({ steps })
  const read = tool({
    name: 'book.read',
    description: 'Reads',
    input: { type: 'object', properties: { part: { type: 'integer' } } },
    effect: 'pure',
    execute: ({ part = 0 }: { part?: number }) => BOOK.slice(part * 10_000, part * 10_000 + 10_000),
  })
  const whole = tool({
    name: 'book.whole',
    description: 'All',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => BOOK,
  })
  const agent = defineAgent({ name: 'reader', model, tools: [read, whole], window: { ...WINDOW, ...window } })
  return { model, host: createHost({ agent }) }
}

function countTokens({ messages }: ModelRequest): number {
  return Math.ceil(JSON.stringify(messages.map(({ parts }) => parts)).length / CHARS_PER_TOKEN)
}

function listResults({ messages }: ModelRequest): readonly string[] {
  return messages.flatMap(({ role, parts }) =>
    role === 'tool'
      ? parts.map(({ content }) => content.map((piece) => (piece.type === 'text' ? piece.text : '')).join(''))
      : [],
  )
}

test.each([
  ['with summaries', true, 14],
  ['without', false, 8],
])('many long results in one turn, %s', async (_, summarise, calls) => {
  const { model, host } = createBook(
    ({ instructions }, call) => {
      if (instructions.startsWith('Summarise')) return { text: 'The book has numbered lines.' }
      return call < calls ? { calls: [{ name: 'book.read', arguments: { part: call % 3 } }] } : { text: 'It is long.' }
    },
    { summarise },
  )
  const session = await host.session()
  const { text } = await session.send('Read the book.').answer
  expect(text).toBe('It is long.')
  for (const request of model.requests) expect(countTokens(request)).toBeLessThan(WINDOW.contextTokens)
  expect(model.requests.length).toBeGreaterThan(calls)
  await host.stop()
})

test('the model reads on behind the handle that it was given, piece by piece, and finds the end of the whole text', async () => {
  const seen: string[] = []
  const { model, host } = createBook((request, call) => {
    const result = listResults(request).at(-1) ?? ''
    seen.push(result)
    if (call === 0) return { calls: [{ name: 'book.whole', arguments: {} }] }
    const [, handle, offset] = /result\.read \{"handle":"([^"]+)","offset":(\d+)\}\]$/.exec(result) ?? []
    if (handle === undefined) return { text: 'The end.' }
    return {
      calls: [{ name: 'result.read', arguments: { handle, offset: call > 2 ? BOOK.length - 100 : Number(offset) } }],
    }
  })
  const session = await host.session()
  const { text } = await session.send('Read all of it.').answer
  expect(text).toBe('The end.')
  const [, first = '', second = '', third = ''] = seen
  expect(first).toMatch(/^line 0\n[^]*\[characters 0 to 1000 of \d+\. Read on with result\.read/)
  expect(BOOK.startsWith(first.split('\n[')[0] ?? '-')).toBe(true)
  // It continues where the beginning ended, although that beginning was itself cut from a beginning.
  expect(BOOK.slice(1000)).toContain(second.split('\n[')[0])
  expect(second).toContain('[characters 1000 to 2000 of')
  expect(third).toContain('[characters 2000 to 3000 of')
  expect(seen.at(-1)).toContain('line 2999\n[characters')
  for (const request of model.requests) expect(countTokens(request)).toBeLessThan(WINDOW.contextTokens)
  await host.stop()
})

test('people see the whole result', async () => {
  const { host } = createBook((_, call) =>
    call < 3 ? { calls: [{ name: 'book.read', arguments: { part: call } }] } : { text: 'Done.' },
  )
  const session = await host.session()
  await session.send('Read.').answer
  const { messages } = await session.messages()
  expect(JSON.stringify(messages)).toContain(JSON.stringify(BOOK.slice(0, 10_000)).slice(1, -1))
  await host.stop()
})
