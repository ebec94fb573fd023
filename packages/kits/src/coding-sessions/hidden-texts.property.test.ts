// Hidden texts never show: two worlds that differ only in a secret give equal results, whatever a model asks.
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tool } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { codingSessionTools } from './index.ts'
import { createStore, user, writeClaudeCode, writeCodex } from './session-files.test-kit.ts'
import { workspaceTools } from '@baton/tools/workspace'

/** Secrets with the same length and format, so that sizes do not distinguish them. */
const SECRETS = ['a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8', 'Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3i2'].map(
  (end) => `ghp_${end}`,
)
const [SECRET = '', OTHER = ''] = SECRETS

const places: string[] = []
let worlds: readonly (readonly Tool[])[] = []

beforeAll(() => {
  worlds = SECRETS.map((secret) => {
    const place = mkdtempSync(join(tmpdir(), 'baton-worlds-'))
    places.push(place)
    const root = join(place, 'work')
    mkdirSync(join(root, 'deep'), { recursive: true })
    const files = {
      'plain.txt': 'some words\nand more words\n',
      'notes.txt': `some words\nthe token is ${secret}\nand more words\n`,
      'deep/config.yml': `words: 1\ntoken: ${secret}\n`,
      'deep/long.txt': `${'words '.repeat(2000)}${secret}\n`,
      'wide.txt': Buffer.from(`\uFEFFtoken ${secret} words\n`, 'utf16le'),
      '.env': `TOKEN=${secret}\n`,
    }
    for (const [path, content] of Object.entries(files)) {
      writeFileSync(join(root, path), content)
      utimesSync(join(root, path), 1, 1)
    }
    const store = createStore(place)
    writeClaudeCode(store, 1, [user(0, 'some words'), user(1, `the token is ${secret}`), user(2, 'and more words')], {
      cwd: '/work',
    })
    writeCodex(store, 2, [], { cwd: '/work' })
    return [...workspaceTools({ root }), ...codingSessionTools({ ...store, scope: 'all', root })]
  })
})

afterAll(() => places.forEach((place) => rmSync(place, { recursive: true, force: true })))

/** Guesses at one of the secrets: parts of it, as a search would probe for it. */
const guess = fc
  .tuple(fc.constantFrom(SECRET, OTHER), fc.nat(39), fc.integer({ min: 1, max: 12 }))
  .map(([secret, start, length]) => secret.slice(start, start + length))
  .filter((part) => part !== '')
const pattern = fc.oneof(
  guess,
  guess.map((part) => `(?i)${part}`),
  guess.map((part) => `token.*${part}`),
  guess.map((part) => `${part}|words`),
  guess.map((part) => `^[^\\n]*${part}.{0,40}$`),
  guess.map((part) => `(${part}.*){1,9}`),
  fc.constantFrom('words', 'token', '.', '$'),
)
const path = fc.constantFrom(
  '.',
  'plain.txt',
  'notes.txt',
  'deep',
  'deep/config.yml',
  'deep/long.txt',
  'wide.txt',
  '.env',
)
const line = fc.integer({ min: 1, max: 4 })
const sessions = fc.constantFrom('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002')

const call = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ name: fc.constant('code.grep'), input: fc.record({ pattern, pathPrefix: path }) }),
  },
  { weight: 2, arbitrary: fc.record({ name: fc.constant('session.search'), input: fc.record({ pattern }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ name: fc.constant('content.get_span'), input: fc.record({ path, startLine: line }) }),
  },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('fs.list_dir'), input: fc.record({ path, depth: line }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constantFrom('session.read', 'session.analyze', 'session.list'),
      input: fc.oneof(fc.record({ sessionId: sessions, provider: fc.constant('claude-code') }), fc.constant({})),
    }),
  },
)

async function answer(tools: readonly Tool[], { name, input }: { readonly name: string; readonly input: object }) {
  const tool = tools.find((one) => one.name === name)
  if (!tool?.execute || !(tool.input instanceof z.ZodType)) return 'there is no such tool'
  try {
    return JSON.stringify(await tool.execute(tool.input.parse(input), createToolContext()))
  } catch (cause) {
    return String(cause)
  }
}

test('worlds that differ only in a secret give equal results, and the secret stands in none', async () => {
  expect(worlds[0]?.every(({ effect }) => effect === 'pure')).toBe(true)
  await fc.assert(
    fc.asyncProperty(call, async (one) => {
      const [here = '', there = ''] = await Promise.all(worlds.map((tools) => answer(tools, one)))
      expect(here).toBe(there)
      for (const secret of SECRETS) expect(here).not.toContain(secret.slice(4, 20))
    }),
    { numRuns: chooseCount({ quick: 150, landing: 400, deep: 5000 }) },
  )
})
