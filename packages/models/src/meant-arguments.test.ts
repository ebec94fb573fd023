// Arguments as gateways send them, and what their model meant.
import { describe, expect, test } from 'vitest'
import { growCumulative, readMeantArguments } from './meant-arguments.ts'

const A = '{"city":"Oslo"}'

describe('one reading', () => {
  test.each([
    ['an empty object before', `{}${A}`],
    ['null before (Go)', `null${A}`],
    ['an empty list before (PHP)', `[] ${A}`],
    ['an empty text before', `""${A}`],
    ['several of them', `null{}${A}`],
    ['an empty object behind', `${A}{}`],
    ['an empty list behind', `${A}[]`],
    ['twice', `${A}${A}`],
    ['null, then twice', `null${A}${A}`],
    ['objects that grow', `{}{"city":""}{"city":"Os"}${A}`],
    ['objects that grow in depth', `{"a":{}}{"a":{"b":[1]}}{"a":{"b":[1,2]},"c":1}`, '{"a":{"b":[1,2]},"c":1}'],
  ])('%s', (_situation, text, meant = A) => {
    expect(readMeantArguments({ text })).toEqual({ text: meant, repair: 'repeated-arguments' })
  })

  test.each(['[]', 'null', '""', ' [ ] ', '{}{}', 'null{}'])('%s says that there are none', (text) => {
    expect(readMeantArguments({ text })).toEqual({ text: '{}', repair: 'empty-arguments' })
  })

  test('all so far in each piece, behind an empty value', () => {
    const pieces = ['null', '{"ci', '{"city":', A]
    const cumulative = pieces.reduce<string | undefined>(growCumulative, '')
    expect(readMeantArguments({ text: pieces.join(''), cumulative })).toMatchObject({ text: A })
  })
})

test.each([
  ['nothing', ''],
  ['an object', A],
  ['an empty object', '{}'],
  ['two objects', `{"city":"Oslo"}{"city":"Rome"}`],
  ['two objects, of which one begins like the other', `{"path":"/a"}{"path":"/ab"}`],
  ['objects that grow and then differ', `{"a":1}{"a":1,"b":1}{"a":2,"b":1}`],
  ['half an object behind an empty one', '{}{"city":'],
  ['a text', '"null"'],
])('%s stays as it is', (_situation, text) => {
  expect(readMeantArguments({ text })).toEqual({ text })
})
