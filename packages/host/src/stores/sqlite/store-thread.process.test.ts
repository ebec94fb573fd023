// The threads of a store and the life of their process, and files next to a database that is refused.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { openSqliteStore } from './sqlite-store.ts'

const root = mkdtempSync(join(tmpdir(), 'baton-threads-'))
let folders = 0
afterAll(() => rmSync(root, { recursive: true }))

function makeFolder(): string {
  const folder = join(root, `${(folders += 1)}`)
  mkdirSync(folder)
  return folder
}

/** Ends a process that is still alive. The timer itself keeps none alive. */
const LAST = "setTimeout(() => { console.log('it does not end'); process.exit(1) }, 60_000).unref()"

test.each([
  ['leaves its store open ends', '', ''],
  ['closes its store lives until that is done', "await store.close(); console.log('closed')", 'closed\n'],
])('a program that %s', (_what, last, said) => {
  const program = `
    import { openSqliteStore } from ${JSON.stringify(new URL('./sqlite-store.ts', import.meta.url).href)}
    const store = await openSqliteStore(${JSON.stringify(join(makeFolder(), 'store.db'))})
    ${last}
    ${LAST}`
  const words = ['--conditions=@baton/source', '--no-warnings', '--input-type=module', '-e', program]
  const ran = spawnSync(process.execPath, words, { encoding: 'utf8', cwd: import.meta.dirname })
  expect([ran.status, ran.stdout, ran.stderr]).toEqual([0, said, ''])
})

test('a database of another program with a write-ahead log is refused, and no file is left next to it', async () => {
  const folder = makeFolder()
  const path = join(folder, 'songs.db')
  const songs = new DatabaseSync(path)
  songs.exec('PRAGMA journal_mode=WAL; CREATE TABLE songs (title TEXT)')
  songs.close()
  const before = readFileSync(path)
  await expect(openSqliteStore(path)).rejects.toMatchObject({ code: 'log_damaged' })
  expect([readdirSync(folder), readFileSync(path).equals(before)]).toEqual([['songs.db'], true])
})
