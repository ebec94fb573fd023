// Errors in words: every thrown value has a description, and no part of a secret shows in it.
import { expect, test } from 'vitest'
import { describeFailure, describeThrown, hideSecrets } from './describe-thrown.ts'
import { describeToolFailure } from './work/tool-result.ts'

const SECRET = 'sk-live-0123456789abcdef'

/** Offsets of the secret in a long text, around every length at which a message may be cut. */
const PADS = [4096, 12_288].flatMap((chars) => [chars - SECRET.length, chars - 20, chars - 10, chars - 2])

test.each(PADS)('half a secret does not stay where a message is cut: %i characters before it', (chars) => {
  const thrown = new Error(`${'x'.repeat(chars)}${SECRET} and more`)
  for (const said of [describeFailure(thrown, [SECRET]).message, JSON.stringify(describeToolFailure(thrown, [SECRET]))])
    expect(said).not.toContain('sk')
})

test('a secret that another one begins with is hidden whole, in whatever order they are known', () => {
  for (const secrets of [
    ['abcd', 'abcd-efgh'],
    ['abcd-efgh', 'abcd'],
  ])
    expect(hideSecrets('keys abcd-efgh and abcd', secrets)).toBe('keys [redacted] and [redacted]')
})

test('a secret is hidden as an address has it; words of fewer than 4 characters stay', () => {
  expect(hideSecrets('https://a.test/?key=a%2Fb%3Fc', ['a/b?c'])).toBe('https://a.test/?key=[redacted]')
  expect(hideSecrets('the key is abc', ['abc', ''])).toBe('the key is abc')
})

test('a secret that is not valid Unicode hides nothing else, and throws nothing', () => {
  expect(hideSecrets('a \ud800key b', ['\ud800key'])).toBe('a [redacted] b')
})

test.each([
  [new Error('why'), 'why'],
  ['text', 'text'],
  [undefined, ''],
  [null, ''],
  [{ error: { message: 'deep' } }, '{"error":{"message":"deep"}}'],
  [7n, '7'],
  [Symbol('s'), 'Symbol(s)'],
])('%o is said', (thrown, said) => {
  expect(describeThrown(thrown)).toBe(said)
})

test('an error whose message cannot be read says nothing', () => {
  const thrown = Object.defineProperty(new Error('x'), 'message', {
    get: () => {
      throw new Error('no')
    },
  })
  expect(describeThrown(thrown)).toBe('')
})

test('a failure without words has some, and a code that is not known is a failure of the provider', () => {
  expect(describeFailure(undefined)).toEqual({
    code: 'model_provider_failed',
    message: 'the model did not say why it failed',
    retryable: false,
  })
})
