// A folder with more files than one search may examine: the search ends within its limits with what it found, says so,
// and continues from there.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chooseCount, isDeep } from '@baton/testing/depth'
import { createToolContext } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { workspaceTools } from './workspace-tools.ts'

const FILES = chooseCount({ quick: 6_000, deep: 60_000 })
/** A fast machine examines all of fewer files in one call. */
const LEAST_CALLS = isDeep() ? 2 : 1
/** One file in a hundred contains the word. */
const EVERY = 100

interface Found {
  readonly files: readonly { readonly path: string }[]
  readonly filesSearched: number
  readonly truncated: boolean
  readonly next?: { readonly after: string }
}

test(`a search over ${FILES} files of one folder finds all of them, in as many calls as it takes`, async () => {
  const root = mkdtempSync(join(tmpdir(), 'baton-large-'))
  try {
    mkdirSync(join(root, 'many'))
    for (let index = 0; index < FILES; index++)
      writeFileSync(join(root, 'many', `f${String(index).padStart(5, '0')}`), index % EVERY === 0 ? 'needle' : 'hay')
    const grep = workspaceTools({ root, limits: { matchesMax: 100_000 } }).find(({ name }) => name === 'code.grep')
    const found: string[] = []
    let calls = 0
    let searched = 0
    let after: string | undefined
    do {
      const input = { pattern: 'needle', startLine: 1, ...(after !== undefined && { after }) }
      const result = (await grep?.execute?.(input, createToolContext({}))) as Found // as its schema declares
      calls += 1
      searched += result.filesSearched
      expect(result.filesSearched).toBeGreaterThan(0)
      expect(result.truncated).toBe(result.next !== undefined)
      found.push(...result.files.map(({ path }) => path))
      after = result.next?.after
    } while (after !== undefined && calls < 60)
    console.log(`large folder: ${FILES} files, ${calls} calls, ${searched} searched, ${found.length} found`)
    expect(found).toHaveLength(FILES / EVERY)
    expect(new Set(found).size).toBe(found.length)
    expect(calls).toBeGreaterThanOrEqual(LEAST_CALLS)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
