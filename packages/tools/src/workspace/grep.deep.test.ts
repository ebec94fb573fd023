// `code.grep` compared with ripgrep: generated patterns of their common syntax over generated text, and real patterns
// over this repository. Both engines match ASCII here: RE2's `\w`, `\d`, `\s` and `\b` are ASCII, ripgrep's are
// Unicode.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createToolContext } from '@baton/core/testing'
import { findRipgrep } from '@baton/testing/ripgrep'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { letter, patternArbitrary } from './patterns.test-kit.ts'
import { isProtected } from './protected-names.ts'
import { WORKSPACE_LIMITS } from './workspace-limits.ts'
import { workspaceTools } from './workspace-tools.ts'

const ripgrep = findRipgrep('the search beside ripgrep', console.warn)
const REPOSITORY = resolve(import.meta.dirname, '../../../..')

const context = createToolContext({ signal: new AbortController().signal })
const RESULT = z.object({
  files: z.array(z.object({ path: z.string(), count: z.int(), lines: z.array(z.object({ line: z.int() })) })),
  truncated: z.boolean(),
})
/** `path:line` of every match; `undefined` if the pattern is rejected. */
async function ours(root: string, pattern: string): Promise<readonly string[] | undefined> {
  const most = 1_000_000
  const limits = { matchesMax: most, matchesPerFileMax: most, timeMs: 120_000, walkedEntriesMax: most }
  const grep = workspaceTools({ root, limits }).find((tool) => tool.name === 'code.grep')
  try {
    const result = RESULT.parse(await grep?.execute?.({ pattern, startLine: 1 }, context))
    expect(result.truncated).toBe(false)
    return result.files.flatMap((file) => file.lines.map(({ line }) => `${file.path}:${line}`)).toSorted()
  } catch (error) {
    if (error instanceof Error && error.message.includes('is not a valid RE2 expression')) return undefined
    throw error
  }
}

function ripgreps(root: string, pattern: string): readonly string[] | undefined {
  const words = ['--no-config', '--no-heading', '--with-filename', '--line-number', '--crlf', '--hidden']
  const size = `--max-filesize=${WORKSPACE_LIMITS.searchedFileBytesMax}`
  const { stdout, status, stderr } = spawnSync(
    ripgrep ?? '',
    [...words, size, '--null', '--only-matching', '--replace=', '-e', pattern, '.'],
    { cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
  )
  if (status === 2 && stderr.includes('regex parse error')) return undefined
  if (status !== 0 && status !== 1) throw new Error(`ripgrep ended with ${status}: ${stderr}`)
  const found = stdout.split('\n').flatMap((row) => {
    const match = /^\.\/(.*)\0(\d+):/.exec(row)
    return match ? [`${match[1]}:${match[2]}`] : []
  })
  return [...new Set(found)].toSorted()
}

// ripgrep 13 finds nothing for `\B^`, not even in an empty line.
const comparablePattern = patternArbitrary.filter((pattern) => !/\\B.*\^/s.test(pattern))
const textArbitrary = fc
  .array(fc.array(fc.oneof(letter, fc.constantFrom('\t', 'abc', 'cab', '→')), { maxLength: 8 }))
  .map((lines) => lines.map((line) => line.join('')))

test.skipIf(ripgrep === undefined)('generated patterns and texts: the same lines', async () => {
  const root = mkdtempSync(join(tmpdir(), 'baton-grep-'))
  let compared = 0
  try {
    await fc.assert(
      fc.asyncProperty(comparablePattern, textArbitrary, fc.constantFrom('\n', '\r\n'), async (pattern, lines, end) => {
        // At the end of a line with CRLF, ripgrep evaluates \B including the CR.
        fc.pre(end === '\n' || !pattern.includes('\\B'))
        writeFileSync(join(root, 'text'), lines.map((line) => line + end).join(''))
        writeFileSync(join(root, 'open-end'), lines.join(end))
        const found = await ours(root, pattern)
        const expected = ripgreps(root, pattern)
        // A pattern that one of them rejects is not common syntax.
        if (found === undefined || expected === undefined) return
        compared++
        expect(found).toEqual(expected)
      }),
      { numRuns: 400 },
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  expect(compared).toBeGreaterThan(300)
})

test
  .skipIf(ripgrep === undefined)
  .each([
    'BatonError',
    '(?i)websocket',
    "^import .* from 'node:[a-z/_]+'$",
    '\\bfunction\\*? \\w+\\(',
    'TODO|FIXME|XXX',
    '"[^"]{40,60}"',
    '[^\\x00-\\x7f]',
    '\\}\\)$',
    '(\\w+)\\s*=>\\s*\\{',
    'https?://[^\\s)>"]+',
    '\\d+_\\d{3}',
    '^$',
  ])('this repository, %s: the same lines', async (pattern) => {
  const found = await ours(REPOSITORY, pattern)
  const expected = ripgreps(REPOSITORY, pattern)?.filter((match) => !isProtected(match.replace(/:\d+$/, ''), false))
  expect(expected?.length).toBeGreaterThan(0)
  expect(found).toEqual(expected)
})
