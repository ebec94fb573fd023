// What a tool asks: a line for each field, and what does not fit is asked for again.
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

test('each field is asked for by its name, its kind and its choices, until it fits', async () => {
  const says = ['xl', '3', '1.5', '2', 'maybe', 'n', '', '1.5', '[', '["a"]', '']
  const { value, asked, left } = await ask(FIELDS, says)
  expect(value).toEqual({ size: 3, count: 2, gift: false, price: 1.5, tags: ['a'] })
  expect([...new Set(asked)]).toEqual([
    'Size (s/m/3): ',
    'count, how many: ',
    'gift (y/n): ',
    'price: ',
    'tags: ',
    'note, or nothing: ',
  ])
  expect(left).toBe(0)
})

test('a schema without fields is one answer; what a tool says cannot steer the terminal', async () => {
  const { value, notes } = await ask({ type: 'string' }, ['hello'])
  expect([value, notes[0]]).toEqual(['hello', 'a tool asks: Which\\u001b[2J?\n'])
})

test('a person may decline at each required field, and leave', async () => {
  expect((await ask(FIELDS, ['s', '/decline'])).value).toBeUndefined()
  await expect(ask(FIELDS, ['s'])).rejects.toThrow('nobody answered')
})
