// Plans for texts that no person would write.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ModelRequest } from '@baton/core'
import { plan } from './plan.ts'

const properties = {
  pattern: { type: 'string', description: 'Regular expression' },
  path: { type: 'string' },
  startLine: { type: 'integer', minimum: 1 },
  endLine: { type: 'integer' },
  city: { type: 'string' },
  kind: { enum: ['a', 'b', null] },
  tags: { type: 'array', items: { type: 'string' } },
}

function readRequest(text: string): ModelRequest {
  const inputSchema = { type: 'object', properties, required: ['pattern', 'city'] }
  return {
    instructions: '',
    messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
    tools: [{ name: 'files.find', description: 'Find files that mention a pattern', effect: 'pure', inputSchema }],
    toolChoice: { type: 'auto' },
    settings: {},
    session: 's',
  }
}

test('random text gets a plan, the same each time', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'find',
      'files',
      'in',
      'src/a.ts',
      '"',
      "'",
      '1 to 2',
      'mention',
      'FooBar',
      'Ada',
      'the',
      '.',
      '/',
      'a_b',
      '#3',
      '?',
    ),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), (words) => {
      const made = plan(readRequest(words.join(' ')))
      expect(made).toEqual(plan(readRequest(words.join(' '))))
      expect(['call', 'say']).toContain(made.type)
    }),
  )
})

test('only the beginning of a very long request is read', () => {
  const long = `find files that mention "beta" for "Rome" ${'a1-'.repeat(20_000)} "gamma"`
  expect(plan(readRequest(long))).toEqual({
    type: 'call',
    calls: [{ name: 'files.find', arguments: { pattern: 'beta', city: 'Rome' } }],
  })
})

test('a sentence of the transcript of several people is read as one request', () => {
  const request = readRequest('find files that mention "beta"')
  const [first] = request.messages
  const messages = [
    ...(first ? [first] : []),
    { role: 'user' as const, parts: [{ type: 'text' as const, text: 'in the city "Rome"' }] },
  ]
  expect(plan({ ...request, messages })).toMatchObject({ calls: [{ arguments: { pattern: 'beta', city: 'Rome' } }] })
})
