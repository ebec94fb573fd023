// Suggestions for misspelt names: which of several similar names is meant. Values in the place of options.
import { expect, test } from 'vitest'
import { checkFields, findMisspelt, findNearName } from './known-fields.ts'

test.each([
  ['the nearest of two, not the first', ['mode', 'models'], 'model', 'mode'],
  ['the nearest although it comes later', ['stores', 'stream'], 'strem', 'stream'],
  ['the first of two that are as near', ['gpu-2', 'gpu-3'], 'gpu-1', 'gpu-2'],
  ['swapped neighbours in a short word', ['mcp', 'model'], 'mpc', 'mcp'],
  ['the beginning of a name', ['maxSteps', 'maxCalls'], 'max', 'maxSteps'],
  ['a misspelt name before the beginning of another', ['sendLater', 'seed'], 'send', 'seed'],
  ['a short word that is another word', ['tool', 'id'], 'ok', undefined],
  ['a longer word with three edits', ['approval'], 'approof', undefined],
  ['no word', ['tool'], '', undefined],
  ['no names', [], 'tool', undefined],
])('%s', (_situation, names, unknown, meant) => {
  expect(findNearName(names, unknown)).toBe(meant)
})

test('the caller decides how many edits are a slip, and a beginning is none', () => {
  expect(findMisspelt(['openai'], 'opnai', 1)).toBe('openai')
  expect(findMisspelt(['openai'], 'opnia', 1)).toBeUndefined()
  expect(findMisspelt(['openai'], 'open', 1)).toBeUndefined()
})

test.each<[unknown, string]>([
  ['sk-secret', 'text'],
  [undefined, 'undefined'],
  [() => 'sk-secret', 'a function'],
  [7, '7'],
])('%o in place of options is named, and a text not quoted: it may be a key', (given, told) => {
  expect(() =>
    checkFields(given, { what: 'webhook', code: 'invalid_option', fields: new Set(['url', 'secret']) }),
  ).toThrow(
    expect.objectContaining({
      message: `webhook must be an object of options, not ${told}`,
      hint: 'Pass an object; its fields are url, secret.',
    }),
  )
})
