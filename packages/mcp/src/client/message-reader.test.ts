// JSON values in the output of programs: whole, in pieces, broken, and mixed with other text.
import type { JsonValue } from '@baton/core'
import { expect, test } from 'vitest'
import { MessageReader } from './message-reader.ts'

const MESSAGE = '{"jsonrpc":"2.0","id":1,"result":{"text":"a \\"}\\" b"}}'
const VALUE = JSON.parse(MESSAGE) as JsonValue

function read(pieces: readonly string[]) {
  const values: JsonValue[] = []
  const noise: string[] = []
  const reader = new MessageReader({ onValue: (value) => values.push(value), onNoise: (text) => noise.push(text) })
  for (const piece of pieces) reader.push(piece)
  reader.end()
  return { values, noise: noise.map((text) => text.trim()) }
}

const TEXTS: readonly (readonly [situation: string, text: string, messages: number, noise: readonly string[]])[] = [
  ['one line', `${MESSAGE}\n`, 1, []],
  ['no line end', MESSAGE, 1, []],
  ['two on one line', `${MESSAGE} ${MESSAGE}\r\n`, 2, []],
  ['a mark before each line', `\ufeff${MESSAGE}\n\ufeff${MESSAGE}\n`, 2, []],
  ['several lines', JSON.stringify(VALUE, null, 2), 1, []],
  ['lines of a log', `[INFO] up\n{ not json\n${MESSAGE}\n`, 1, ['[INFO] up', '{ not json']],
  ['a prompt before it', `> ${MESSAGE}\n`, 1, ['>']],
  ['progress drawn over itself', `10%\r20%\r${MESSAGE}\n`, 1, ['10%', '20%']],
  ['colours', `\u001b[32mready\u001b[0m\n${MESSAGE}\n`, 1, ['[32mready\u001b[0m']],
  ['a line of JSON that is cut', `{"level":"info","text":"up\n${MESSAGE}\n`, 1, ['{"level":"info","text":"up']],
  [
    'the same before another order of fields',
    '{"level":"in\n{"id":1,"jsonrpc":"2.0","result":{}}\n',
    1,
    ['{"level":"in'],
  ],
  ['headers as editors write them', `Content-Length: 9\r\n\r\n${MESSAGE}`, 1, ['Content-Length: 9']],
  ['colours around it', `\u001b[32m${MESSAGE}\u001b[0m\n`, 1, ['[32m', '\u001b[0m']],
  ['text before and behind it', `<-- ${MESSAGE} (12 ms)\n`, 1, ['<--', '(12 ms)']],
  ['text behind it', `${MESSAGE} done\n`, 1, ['done']],
  ['a message that never ends', '{"jsonrpc":"2.0","id":1,"result":{', 0, ['{"jsonrpc":"2.0","id":1,"result":{']],
]

test.each(TEXTS)('%s', (_situation, text, messages, noise) => {
  const whole = read([text])
  expect(whole.values).toHaveLength(messages)
  expect(whole.noise).toEqual(noise)
})

test.each(TEXTS)('%s, in pieces of one character', (_situation, text, messages, noise) => {
  const pieces = read(text.split(''))
  expect(pieces.values).toHaveLength(messages)
  expect(pieces.noise).toEqual(noise)
})

test('a batch over several lines is one value', () => {
  expect(read([`[${MESSAGE},\n${MESSAGE}]\n`]).values).toEqual([[VALUE, VALUE]])
})

test('values above the limit are refused', () => {
  const reader = new MessageReader({ onValue: () => {}, onNoise: () => {} }, 100)
  expect(() => reader.push(`{"a":"${'x'.repeat(200)}`)).toThrow('has more than 100 characters')
})

test('long hostile texts are read in a time that grows with their length', () => {
  for (const text of [
    '{'.repeat(300_000),
    `"${'\\'.repeat(300_000)}`,
    `${'{"a":'.repeat(100_000)}\n`,
    '{ '.repeat(100_000),
  ])
    expect(read([text]).values).toEqual([])
})

test.each([
  ['a string of escaped quotes without an end, on a line', `x {"a":"${'\\"'.repeat(200_000)}\n`],
  ['the same as the last value', `{"a":"${'\\"'.repeat(200_000)}`],
  ['values that begin and never end', '{"a":\n{"id":1,\n'.repeat(50_000)],
  ['brackets that end in the wrong place', '{"a" \n'.repeat(200_000) + '}'.repeat(200_000)],
])('%s takes no longer than it is, and the next message is read', (_, text) => {
  expect(read([text]).values).toEqual([])
  expect(read([`${text}\n${MESSAGE}\n`]).noise.length).toBeGreaterThan(0)
})
