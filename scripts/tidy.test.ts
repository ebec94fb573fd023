// The repository follows its own style, and each rule detects its violations.
import { describe, expect, test } from 'vitest'
import { parseSource } from './source-files.ts'
import type { Finding } from './tidy-rules.ts'
import { checkSource } from './tidy-rules.ts'
import { applyRatchet } from './tidy.ts'

const listRules = (text: string, path = 'packages/x/src/some-file.ts'): readonly string[] =>
  checkSource(parseSource(path, text)).map(({ rule, line }) => `${rule} ${line}`)

const lines = (count: number, line: string): string => Array.from({ length: count }, () => line).join('\n')

describe('rules', () => {
  test.each([
    ['a long function', `// c\nfunction f() {\n${lines(69, 'g()')}\n}\n`, ['function-lines 2']],
    ['a function of just 70 lines', `// c\nfunction f() {\n${lines(68, 'g()')}\n}\n`, []],
    [
      'a long arrow function and a long method',
      `// c\nconst f = () => {\n${lines(70, 'g()')}\n}\nclass C { m() {\n${lines(70, 'g()')}\n} }`,
      ['function-lines 2', 'function-lines 74'],
    ],
    ['a long file', `// c\n${lines(400, 'g()')}\n`, ['file-lines 1']],
    ['a long file that is one class', `// c\nexport class C {\n${lines(410, 'a = 1')}\n}\n`, []],
    ['five parameters', '// c\nfunction f(a, b, c, d, e) {}', ['parameters 2']],
    ['this is no parameter', '// c\nfunction f(this: X, a, b, c, d) {}', []],
    ['five parameters in a type', '// c\ninterface I { m(a: A, b: A, c: A, d: A, e: A): void }', ['parameters 2']],
    ['four type parameters', '// c\ntype T<A, B, C, D> = A', ['type-parameters 2']],
    ['no opening comment', 'export {}', ['opening-comment 1']],
    ['an opening comment that is too long', `${lines(6, '// c')}\nexport {}`, ['opening-comment 1']],
    ['a comment in block form, and behind a shebang', '#!/usr/bin/env node\n/* c */\nexport {}', []],
    [
      'comments that hide their subject',
      '// What it is.\n/** Of a call. */\nconst a = 1\n/**\n * Where it is,\n * and why.\n */\nconst b = 2 // Whose it is.',
      ['comment-start 1', 'comment-start 2', 'comment-start 4', 'comment-start 8'],
    ],
    [
      'comments with such a word later',
      '// The place.\n// Where it is, and what of.\n/** Says what it is. */\nconst a = 1\n/** Offset. */\nconst b = 2',
      [],
    ],
    [
      'module state',
      '// c\nlet a = 1\nexport let b\nconst c = new Map()\nexport const d = []\nvar e',
      ['module-state 2', 'module-state 3', 'module-state 4', 'module-state 5', 'module-state 6'],
    ],
    [
      'constants are no state',
      '// c\nconst a = new Set([1])\nconst b = { c: 1 }\nfunction f() { let c = 1 }\ndeclare let g: number',
      [],
    ],
    ['text that is no TypeScript', '// c\nconst = 1', ['syntax 1']],
  ])('%s', (_situation, text, expected) => {
    expect(listRules(text)).toEqual(expected)
  })

  test.each([
    ['packages/x/src/utils.ts', ['file-name 1']],
    ['packages/x/src/types.test.ts', ['file-name 1']],
    ['packages/x/src/camelCase.ts', ['file-name 1']],
    ['packages/x/src/snake_case.ts', ['file-name 1']],
    ['packages/x/src/tool-names.property.test.ts', []],
  ])('the name %s', (path, expected) => {
    expect(listRules('// c\nexport {}', path)).toEqual(expected)
  })

  test('in a test file functions may be long, but not the file without end', () => {
    const path = 'packages/x/src/a.test.ts'
    expect(listRules(`// c\ntest('x', () => {\n${lines(500, 'g()')}\n})`, path)).toEqual([])
    expect(listRules(`// c\n${lines(700, 'g()')}`, path)).toEqual(['file-lines 1'])
  })
})

test('a file of the machine is one subject, which may be long, but not without end', () => {
  const path = 'packages/core/src/machine/calls.ts'
  expect(listRules(`// c\n${lines(600, 'g()')}`, path)).toEqual([])
  expect(listRules(`// c\n${lines(700, 'g()')}`, path)).toEqual(['file-lines 1'])
})

describe('waits of tests', () => {
  const waits = (text: string, path = 'packages/x/src/some.test.ts') => listRules(`// c\n${text}`, path)
  const SLEEP = 'await new Promise((resolve) => void setTimeout(resolve, 5))'

  test.each([
    ['a sleep', SLEEP],
    ['a sleep of the library', "import { setTimeout } from 'node:timers/promises'"],
    ['a short poll', 'await expect.poll(f, { timeout: 1_000 }).toBe(1)'],
    ['a wait of one second', 'await vi.waitFor(f)'],
    ['a program with little time', 'await promisify(execFile)(path, words, { timeout: 60_000 })'],
    ['a timeout of its own', 'vi.setConfig({ testTimeout: 60_000 })'],
    ['a listener that stays', "process.on('unhandledRejection', note)"],
  ])('%s', (_, text) => {
    expect(waits(text).map((found) => found.split(' ')[0])).toEqual(['test-wait'])
  })

  test.each([
    ['a poll', 'await expect.poll(f, { interval: 5 }).toBe(1)'],
    ['a long poll', 'await expect.poll(f, { timeout: 90_000 }).toBe(1)'],
    ['a program with time', 'execFileSync(path, words, { cwd, timeout: 180_000 })'],
    ['a deadline', 'const late = new Promise((_, reject) => void setTimeout(() => reject(e), 60_000))'],
    ['a listener that goes', "process.on('exit', note)\nprocess.off('exit', note)"],
  ])('%s is none', (_, text) => {
    expect(waits(text)).toEqual([])
  })

  test.each([
    ['deep', 900_000],
    ['property', 600_000],
    ['process', 600_000],
    ['', 300_000],
  ])('a test of the suite "%s" has no shorter timeout than its suite', (suite, ms) => {
    const path = `packages/x/src/some.${suite && `${suite}.`}test.ts`
    for (const write of [
      (time: number) => `test('a', { timeout: ${time} }, f)`,
      (time: number) => `test('a', f, ${time})`,
      (time: number) => `beforeAll(start, ${time})`,
    ]) {
      expect(waits(write(ms - 1), path).map((found) => found.split(' ')[0])).toEqual(['test-wait'])
      expect(waits(write(ms), path)).toEqual([])
    }
  })

  test('a test of processes may sleep, and what is no test is not asked', () => {
    expect(waits(SLEEP, 'packages/x/src/some.process.test.ts')).toEqual([])
    expect(waits(SLEEP, 'packages/x/src/some.ts')).toEqual([])
  })
})

describe('purity of the machine', () => {
  const path = 'packages/core/src/machine/part.ts'

  test.each([
    'async function f() {}',
    'const f = async () => {}',
    'for await (const a of b) {}',
    'const now = Date.now()',
    'const { random } = Math',
    'const r = Math.random()',
    "const r = Math['random']()",
    'const f = Intl.NumberFormat',
    'const t = n.toLocaleString()',
    'const t = a.localeCompare(b)',
    'const w = new WeakRef(a)',
    'const s = names.sort()',
    'const s = names.toSorted()',
    'const p = Promise.resolve()',
    "import { readFile } from 'node:fs'",
    "export * from 'left-pad'",
  ])('%s', (text) => {
    expect(listRules(`// c\n${text}`, path)).toContain('machine-purity 2')
    expect(listRules(`// c\n${text}`)).toEqual([])
  })

  test('what only looks like it is allowed', () => {
    const text =
      "// c\nimport { a } from './a.ts'\nconst x = a.Date + Math.max(1, 2) + { Date: 1 }.Date\nconst s = a.sort((l, r) => l - r)"
    expect(listRules(text, path)).toEqual([])
  })
})

describe('the ratchet', () => {
  const found = (size: number): Finding => ({
    path: 'a.ts',
    rule: 'file-lines',
    size,
    line: 1,
    message: `the file has ${size} lines`,
  })

  test.each([
    ['an exception of just its size', [found(450)], { 'a.ts:file-lines': 450 }, []],
    ['a finding without an exception', [found(450)], {}, ['a.ts:1: file-lines: the file has 450 lines']],
    [
      'a file that grew over its exception',
      [found(451)],
      { 'a.ts:file-lines': 450 },
      ['a.ts:1: file-lines: the file has 451 lines'],
    ],
    [
      'a file that shrank',
      [found(420)],
      { 'a.ts:file-lines': 450 },
      ['scripts/tidy-ratchet.json: "a.ts:file-lines" can shrink from 450 to 420'],
    ],
    [
      'a file that is fine now',
      [],
      { 'a.ts:file-lines': 450 },
      ['scripts/tidy-ratchet.json: "a.ts:file-lines" is no longer needed'],
    ],
    [
      'over the hard limit',
      [found(800)],
      { 'a.ts:file-lines': 800 },
      ['scripts/tidy-ratchet.json: "a.ts:file-lines" is over the hard limit of 700 lines'],
    ],
  ])('%s', (_situation, findings, ratchet, expected) => {
    expect(applyRatchet(findings, ratchet as Readonly<Record<string, number>>)).toEqual(expected)
  })
})
