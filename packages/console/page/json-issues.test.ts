// Issues that the page shows for edited arguments while a person types.
import { expect, test } from 'vitest'
import { findJsonIssues } from './json-issues.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    euro: { type: 'number', minimum: 0.01, maximum: 500 },
    to: { type: 'string', minLength: 1 },
    kind: { enum: ['refund', 'gift'] },
    lines: {
      type: 'array',
      maxItems: 2,
      items: { type: 'object', required: ['sku'], properties: { sku: { type: 'integer' } } },
    },
  },
  required: ['euro', 'to'],
  additionalProperties: false,
}

test.each<[string, readonly string[]]>([
  ['{ "euro": 40, "to": "ann" }', []],
  ['{ "euro": 4000, "to": "" }', ['euro: must be at most 500', 'to: must have at least 1 characters']],
  ['{ "euro": "40" }', ['to: is missing', 'euro: must be a number']],
  [
    '{ "euro": 1, "to": "a", "kind": "loan", "eur": 1 }',
    ['kind: must be one of "refund", "gift"', 'eur: the tool has no such argument'],
  ],
  [
    '{ "euro": 1, "to": "a", "lines": [{ "sku": 1.5 }, {}] }',
    ['lines[0].sku: must be a whole number', 'lines[1].sku: is missing'],
  ],
  ['[]', ['the arguments must be a JSON object']],
])('%s', (text, issues) => {
  expect(findJsonIssues(text, SCHEMA)).toEqual(issues)
})

test('a name of the prototype is an argument like any other', () => {
  expect(findJsonIssues('{ "euro": 1, "to": "a", "constructor": 1 }', SCHEMA)).toEqual([
    'constructor: the tool has no such argument',
  ])
})

test('without a schema any object fits', () => {
  expect(findJsonIssues('{ "euro": "much" }')).toEqual([])
})

test('what is not JSON yet says so', () => {
  expect(findJsonIssues('{ "euro": 1', SCHEMA)).toEqual([expect.stringMatching(/^not JSON: /)])
})
