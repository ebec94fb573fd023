// Names of a file that mean the same file to its lock.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from './sqlite-store.ts'

test('a store that is in use is locked under the name of a link to it too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-lock-'))
  const store = await openSqliteStore(join(folder, 'store.db'))
  symlinkSync(join(folder, 'store.db'), join(folder, 'link.db'))
  await expect(openSqliteStore(join(folder, 'link.db'))).rejects.toMatchObject({
    code: 'store_locked',
    hint: expect.stringContaining('this process has opened it before') as string,
  })
  await store.close()
  rmSync(folder, { recursive: true })
})
