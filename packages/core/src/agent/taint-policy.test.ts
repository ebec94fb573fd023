// The policy against prompt injection: when it asks, for what, and when it leaves the decision to others.
import { expect, test } from 'vitest'
import type { PolicyCall } from './policy.ts'
import { createTaintPolicy } from './taint-policy.ts'

const call = (
  change: Partial<PolicyCall> & { readonly effect?: 'pure' | 'once'; readonly kind?: 'fetch' } = {},
): PolicyCall => ({
  session: 's',
  principal: { id: 'ann' },
  tool: {
    name: 'put',
    effect: change.effect ?? 'once',
    runs: 'server',
    trust: 'trusted',
    ...(change.kind && { kind: change.kind }),
  },
  input: {},
  untrusted: ['web'],
  described: [],
  copied: () => [],
  composed: () => ['/url'],
  ...change,
})
const strange = { name: 'mcp.read', effect: 'pure', runs: 'server', trust: 'untrusted', source: 'mcp' } as const
const look = { name: 'look', effect: 'pure', runs: 'server', trust: 'trusted', kind: 'think' } as const
const ASK = 'The model has read text from outside, which may contain instructions for it: web'

test.each([
  ['a call that acts, after untrusted data', {}, { ask: ASK }],
  ['the same with a destination', { destination: 'a.txt' }, { ask: ASK, destination: 'a.txt' }],
  ['a pure call', { effect: 'pure' }, undefined],
  ['an address that the model put together', { effect: 'pure', kind: 'fetch' }, { ask: ASK }],
  ['an address that stood on the page', { effect: 'pure', kind: 'fetch', composed: () => [] }, undefined],
  ['a pure call to a stranger', { tool: strange }, { ask: ASK }],
  ['a pure call to a stranger with words of the page', { tool: strange, composed: () => [] }, undefined],
  [
    'an address for a pure tool of another kind',
    { tool: look, input: { url: 'https://a.example/?k=1' } },
    { ask: ASK },
  ],
  ['the same below a list', { tool: look, input: { url: ['x', { deep: 'HTTP://a.example' }] } }, { ask: ASK }],
  [
    'the same as a name',
    { tool: look, input: { 'https://a.example': 1 }, composed: () => ['/https:~1~1a.example'] },
    { ask: ASK },
  ],
  ['other words for it', { tool: look, input: { url: 'shows a logo' } }, undefined],
  ['an address that it found', { tool: look, input: { url: 'https://a.example' }, composed: () => [] }, undefined],
  [
    'an address for a tool that reaches no network',
    { tool: { ...look, network: false }, input: { url: 'https://a.example' } },
    undefined,
  ],
  ['nothing untrusted', { untrusted: [] }, undefined],
  [
    'a tool that a stranger describes',
    { untrusted: [], described: ['echo'] },
    {
      ask: 'The model was offered tools described by third parties, and a description may contain instructions for it: echo',
    },
  ],
  [
    'many tools',
    { untrusted: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] },
    { ask: 'The model has read text from outside, which may contain instructions for it: a, b, c, d, e and 2 more' },
  ],
] as const)('%s', async (_, change, verdict) => {
  expect(await createTaintPolicy()(call(change))).toEqual(verdict)
})

test('another policy decides about all other calls, and may deny these', async () => {
  const policy = createTaintPolicy({ otherwise: ({ input }) => (input === 1 ? { deny: 'never' } : 'allow') })
  expect(await policy(call())).toEqual({ ask: ASK })
  expect(await policy(call({ destination: 'a' }))).toEqual({ ask: ASK, destination: 'a', each: false })
  expect(await policy(call({ untrusted: [] }))).toBe('allow')
  expect(await policy(call({ input: 1 }))).toEqual({ deny: 'never' })
})

test('what another policy asks about anyway is not asked about less', async () => {
  for (const verdict of ['ask', { ask: 'it costs' }] as const)
    expect(await createTaintPolicy({ otherwise: () => verdict })(call({ destination: 'a' }))).toEqual({
      ask: ASK,
      destination: 'a',
      each: true,
    })
})

test('destinations, tools and descriptions can be trusted', async () => {
  const policy = createTaintPolicy({
    allows: (destination) => destination.startsWith('drafts/'),
    trusts: ['handbook'],
    descriptions: false,
    isRisky: ({ input }) => input !== 'harmless',
  })
  expect(await policy(call({ destination: 'drafts/a' }))).toBeUndefined()
  expect(await policy(call({ destination: 'sent/a' }))).toMatchObject({ destination: 'sent/a' })
  expect(await policy(call({ untrusted: ['handbook'], described: ['echo'] }))).toBeUndefined()
  expect(await policy(call({ input: 'harmless' }))).toBeUndefined()
})

test.each([
  [{ allow: true }, /allow/],
  [{ otherwise: 'ask' }, /otherwise must be a function/],
])('%o is refused', (init, message) => {
  expect(() => createTaintPolicy(init as never)).toThrow(message)
})
