// A search finds the same with and without ripgrep: generated patterns over files of every kind, and a ripgrep that
// fails, lies, hangs or does not exist.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolContext } from '@baton/core/testing'
import { findRipgrep } from '@baton/testing/ripgrep'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { letter, patternArbitrary } from './patterns.test-kit.ts'
import { RipgrepFilter } from './ripgrep-filter.ts'
import { workspaceTools } from './workspace-tools.ts'

const ripgrep = findRipgrep('searches that use ripgrep', console.warn)
let root = ''

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-ripgrep-'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Its matches, or the rejection of the pattern. */
async function search(pattern: string, program: string | false, limits = {}): Promise<unknown> {
  const most = { matchesMax: 100_000, matchesPerFileMax: 1000, timeMs: 120_000, ...limits }
  const grep = workspaceTools({ root, limits: most, ripgrep: program }).find(({ name }) => name === 'code.grep')
  try {
    return await grep?.execute?.({ pattern, startLine: 1 }, createToolContext({ signal: new AbortController().signal }))
  } catch (error) {
    return error instanceof Error ? error.message : error
  }
}

const line = fc
  .array(fc.oneof(letter, fc.constantFrom('\t', '→', 'é', 'K', 'ſ', '\u2028', '\f', '\v', '\u00a0')), { maxLength: 8 })
  .map((letters) => letters.join(''))
const file = fc
  .record({
    lines: fc.array(line, { maxLength: 5 }),
    end: fc.constantFrom('\n', '\n', '\n', '\r\n', '\r'),
    before: fc.constantFrom('', '', '', '\uFEFF', '\0'),
    after: fc.constantFrom(Buffer.alloc(0), Buffer.from([0xff]), Buffer.from('é\r'), Buffer.from([0xc3])),
  })
  .map(({ lines, end, before, after }) => Buffer.concat([Buffer.from(before + lines.join(end)), after]))

test.skipIf(ripgrep === undefined)('finds the same over files of every kind', async () => {
  mkdirSync(join(root, 'files'))
  writeFileSync(join(root, 'files', 'large'), `a${'1'.repeat(2 * 1024 * 1024)}`)
  writeFileSync(join(root, 'files', 'large-binary'), Buffer.alloc(2 * 1024 * 1024))
  symlinkSync('large', join(root, 'files', 'link'))
  let helped = 0
  await fc.assert(
    fc.asyncProperty(patternArbitrary, fc.array(file, { minLength: 60, maxLength: 80 }), async (pattern, files) => {
      files.forEach((bytes, index) => writeFileSync(join(root, 'files', `f${index}`), bytes))
      const init = { program: ripgrep ?? '', root, fileBytesMax: 1024 * 1024, timeMs: 60_000 }
      const without = await search(pattern, false)
      if (typeof without === 'object' && RipgrepFilter.open({ ...init, pattern })) helped += 1
      expect(await search(pattern, ripgrep ?? false)).toEqual(without)
    }),
    { numRuns: 150 },
  )
  console.log(`ripgrep: ${helped} of 150 generated patterns could be said in its words; all found the same`)
  expect(helped).toBeGreaterThan(100)
})

test.each([
  ['fails', 'exit 2'],
  ['fails after its first start', 'case "$*" in *--invert-match*) exit 2;; esac; exit 1'],
  ['does not end', 'case "$*" in *" -- "*) sleep 600;; esac; exit 1'],
  ['is killed', 'case "$*" in *" -- "*) kill -9 $$;; esac; exit 1'],
])('a ripgrep that %s changes nothing but the time', async (_, script) => {
  const program = join(mkdtempSync(join(tmpdir(), 'baton-rg-')), 'rg')
  writeFileSync(program, `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`)
  chmodSync(program, 0o755)
  mkdirSync(join(root, 'files'), { recursive: true })
  for (let index = 0; index < 100; index += 1) writeFileSync(join(root, 'files', `f${index}`), `needle ${index}\n`)
  const limits = { timeMs: 2_000 }
  const without = await search('needle 7', false, limits)
  const found = await search('needle 7', program, limits)
  // If it hangs, time is used up: the search says where to continue.
  const isLate = script.includes('sleep')
  expect(isLate ? (found as { truncated: boolean }).truncated : found).toEqual(isLate ? true : without)
})
