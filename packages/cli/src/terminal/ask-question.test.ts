// Questions from tools: one line per field, repeated until the answer is valid.
import type { JsonObject } from '@baton/core'
import { expect, test } from 'vitest'
import { askQuestion } from './ask-question.ts'
import { createScreen } from './screen.ts'

async function ask(schema: JsonObject, says: readonly string[]) {
  const asked: string[] = []
  const notes: string[] = []
  const waiting = [...says]
  const screen = createScreen({ writeText: () => {}, writeNote: (text) => void notes.push(text), color: false })
  const value = await askQuestion(
    { questionId: 'q', callId: 'c', message: 'Which\u001b[2J?', schema },
    screen,
    (question) => {
      asked.push(question)
      const next = waiting.shift()
      return next === undefined ? Promise.reject(new Error('nobody answered')) : Promise.resolve(next)
    },
  )
  return { value, asked, notes, left: waiting.length }
}

const FIELDS = {
  type: 'object',
  properties: {
    size: { enum: ['s', 'm', 3], title: 'Size' },
    count: { type: 'integer', description: 'how many' },
    gift: { type: 'boolean' },
    price: { type: 'number' },
    tags: { type: 'array' },
    note: { type: 'string' },
  },
  required: ['size', 'count', 'gift', 'price', 'tags'],
}

test('each field shows its name, kind and choices, and is repeated until the answer is valid', async () => {
  const says = ['xl', '3', '1.5', '2', 'maybe', 'n', '', '1.5', '[', '["a"]', '']
  const { value, asked, notes, left } = await ask(FIELDS, says)
  expect(value).toEqual({ size: 3, count: 2, gift: false, price: 1.5, tags: ['a'] })
  expect([...new Set(asked)]).toEqual([
    'Size (s/m/3): ',
    'count (whole number): ',
    'gift (y/n): ',
    'price (number): ',
    'tags (JSON): ',
    'note (optional): ',
  ])
  expect(notes.slice(1)).toEqual([
    'Enter skips an optional field; /decline declines to answer\n',
    '  "xl" is not one of s, m, 3\n',
    '  how many\n',
    '  "1.5" is not a whole number\n',
    '  answer y or n\n',
    '  this field is required\n',
    '  enter JSON, such as ["a"]\n',
  ])
  expect(left).toBe(0)
})

test('the forms of MCP: titles of choices, several choices, formats, bounds and defaults', async () => {
  const pets = [
    { const: 'pet-1', title: 'Cats' },
    { const: 'pet-2', title: 'Dogs' },
  ]
  const schema = {
    type: 'object',
    properties: {
      age: { type: 'integer', minimum: 1, maximum: 100, default: 42 },
      mail: { type: 'string', format: 'email' },
      day: { type: 'string', format: 'date' },
      word: { type: 'string', minLength: 2 },
      pet: { type: 'string', oneOf: pets, default: 'pet-1' },
      pets: { type: 'array', items: { anyOf: pets }, maxItems: 1, default: ['pet-2'] },
      old: { type: 'string', enum: ['a', 'b'], enumNames: ['First', 'Second'] },
      sure: { type: 'boolean', default: true },
    },
  }
  const says = [
    '101',
    '',
    'ann',
    'a@b.c',
    '2026-02-30',
    '2026-02-28',
    'x',
    'xy',
    'dogs',
    'Cats, Dogs',
    'pet-1',
    'Second',
    '',
  ]
  const { value, asked, notes } = await ask(schema, says)
  const given = {
    age: 42,
    mail: 'a@b.c',
    day: '2026-02-28',
    word: 'xy',
    pet: 'pet-2',
    pets: ['pet-1'],
    old: 'b',
    sure: true,
  }
  expect(value).toEqual(given)
  expect([...new Set(asked)]).toEqual([
    'age (whole number, 1 to 100, Enter for 42): ',
    'mail (email address, optional): ',
    'day (date such as 2026-01-31, optional): ',
    'word (at least 2 characters, optional): ',
    'pet (Cats/Dogs, Enter for Cats): ',
    'pets (Cats/Dogs, separate several with commas, at most 1 of them, Enter for Dogs): ',
    'old (First/Second, optional): ',
    'sure (y/n, Enter for y): ',
  ])
  expect(notes.slice(2)).toEqual([
    '  the value must be <= 100\n',
    '  "ann" is not an email address\n',
    '  "2026-02-30" is not a date such as 2026-01-31\n',
    '  the value must NOT have fewer than 2 characters\n',
    '  the value must NOT have more than 1 items\n',
  ])
})

test('a field is checked by its whole schema at once, also by what it refers to', async () => {
  const schema = {
    $defs: { short: { type: 'string', maxLength: 2 } },
    type: 'object',
    properties: {
      code: { type: 'string', pattern: '^[A-Z]{3}$' },
      pair: { $ref: '#/$defs/short' },
      place: { type: 'object', required: ['x'], properties: { x: { type: 'number', exclusiveMinimum: 0 } } },
    },
    required: ['code'],
  }
  const says = ['ab', 'ABC', 'abc', '', '{}', '{"x":0}', '{"x":1}']
  const { value, notes, left } = await ask(schema, says)
  expect(value).toEqual({ code: 'ABC', place: { x: 1 } })
  expect(notes.slice(2)).toEqual([
    '  the value must match pattern "^[A-Z]{3}$"\n',
    '  the value must NOT have more than 2 characters\n',
    "  the value must have required property 'x'\n",
    '  /x must be > 0\n',
  ])
  expect(left).toBe(0)
})

test('a form without fields is agreed to by a person only', async () => {
  const schema = { type: 'object', properties: {} }
  expect((await ask(schema, ['maybe', 'y'])).value).toEqual({})
  expect((await ask(schema, ['n'])).value).toBeUndefined()
  await expect(ask(schema, [])).rejects.toThrow('nobody answered')
})

test('a schema without fields is one answer; what a tool says cannot steer the terminal', async () => {
  const { value, notes } = await ask({ type: 'string' }, ['hello'])
  expect([value, notes[0]]).toEqual(['hello', 'a tool asks: Which\\u001b[2J?\n'])
})

test('a person may decline at each field, also an optional one, and leave', async () => {
  expect((await ask(FIELDS, ['s', '/decline'])).value).toBeUndefined()
  const optional = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }
  expect((await ask(optional, ['x', '/decline'])).value).toBeUndefined()
  await expect(ask(FIELDS, ['s'])).rejects.toThrow('nobody answered')
})
