// A chat that lingers in one of two processes that share a SQLite file.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LINGERING_SITUATIONS } from '../lingering-situations.ts'

test.each(Object.keys(LINGERING_SITUATIONS))('%s', async (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-shared-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await expect(LINGERING_SITUATIONS[name]?.(join(folder, 'store.db'))).resolves.toBeUndefined()
})
