// Targets of backups, and the state after a failed restore: foreign files are never touched, and messages name the
// right file.
import type * as FileSystem from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { backUpStoreFile, restoreStoreFile } from './backup-file.ts'
import { checkStoreFile } from './check-file.ts'
import { openSqliteStore } from './sqlite-store.ts'

vi.mock('node:fs', async (load) => {
  const actual = await load<typeof FileSystem>()
  return { ...actual, renameSync: vi.fn<typeof FileSystem.renameSync>(actual.renameSync) }
})

const root = mkdtempSync(join(tmpdir(), 'baton-backup-'))
let folder = ''
let path = ''
let folders = 0
beforeEach(async () => {
  folder = join(root, `${(folders += 1)}`)
  mkdirSync(folder)
  path = join(folder, 'store.db')
  await (await openSqliteStore(path)).close()
})
afterAll(() => rmSync(root, { recursive: true }))

/** Leaves out the files SQLite keeps next to a store being read. */
const list = (): readonly string[] =>
  readdirSync(folder)
    .filter((name) => !/-(?:wal|shm)$/.test(name))
    .toSorted()

test('files next to a backup belong to others and stay', () => {
  const target = join(folder, 'copy.db')
  writeFileSync(`${target}.partial`, 'mine')
  expect(backUpStoreFile(path, target).findings).toEqual([])
  expect(readFileSync(`${target}.partial`, 'utf8')).toBe('mine')
  expect(list()).toEqual(['copy.db', 'copy.db.partial', 'store.db', 'store.db.lock'])
})

test('a link in place of a backup is never replaced', () => {
  const target = join(folder, 'copy.db')
  for (const leadsTo of [join(folder, 'nowhere'), path]) {
    symlinkSync(leadsTo, target)
    expect(() => backUpStoreFile(path, target)).toThrow(`${target} already exists`)
    expect(lstatSync(target).isSymbolicLink()).toBe(true)
    rmSync(target)
  }
  expect(existsSync(join(folder, 'nowhere'))).toBe(false)
})

test('an unwritable backup is named in its error, not the store', () => {
  const target = join(folder, 'none', 'copy.db')
  expect(() => backUpStoreFile(path, target)).toThrow(
    expect.objectContaining({
      code: 'store_failed',
      message: expect.stringMatching(/none\/copy\.db cannot be written: /),
    }),
  )
  expect(list()).toEqual(['store.db', 'store.db.lock'])
})

test('a database of another program is neither backed up nor restored', () => {
  const other = join(folder, 'songs.db')
  const db = new DatabaseSync(other)
  db.exec('CREATE TABLE songs (title TEXT)')
  db.close()
  const refusal = { code: 'log_damaged', message: expect.stringContaining(`${other} is not a Baton database`) }
  expect(() => backUpStoreFile(other, join(folder, 'copy.db'))).toThrow(expect.objectContaining(refusal))
  expect(() => restoreStoreFile(other, path, { replace: true })).toThrow(expect.objectContaining(refusal))
  expect(list()).toEqual(['songs.db', 'store.db', 'store.db.lock'])
})

test.each([
  ['a text', (file: string) => writeFileSync(file, 'root:x:0:0::/root:/bin/sh\n')],
  ['an empty file', (file: string) => writeFileSync(file, '')],
  [
    'a database of another program',
    (file: string) => {
      const db = new DatabaseSync(file)
      db.exec('CREATE TABLE songs (title TEXT)')
      db.close()
    },
  ],
])('a restore replaces a store, and never %s', (_, make) => {
  const target = join(folder, 'copy.db')
  backUpStoreFile(path, target)
  const other = join(folder, 'other')
  make(other)
  const before = readFileSync(other)
  // Twice: what the first attempt leaves must not make it look like a store.
  for (const _try of [1, 2])
    expect(() => restoreStoreFile(target, other, { replace: true })).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining('is not a Baton store') }),
    )
  expect(readFileSync(other)).toEqual(before)
  expect(list()).toEqual(['copy.db', 'other', 'store.db', 'store.db.lock'])
})

test('a restore does not follow a link to the file that it would replace', () => {
  const target = join(folder, 'copy.db')
  backUpStoreFile(path, target)
  const link = join(folder, 'link.db')
  for (const leadsTo of [path, join(folder, 'nowhere')]) {
    symlinkSync(leadsTo, link)
    expect(() => restoreStoreFile(target, link, { replace: true })).toThrow(
      'is a link; a backup can only replace a file',
    )
    rmSync(link)
  }
  expect(list()).toEqual(['copy.db', 'store.db', 'store.db.lock'])
})

test('files kept by a restore are plain files', () => {
  const target = join(folder, 'copy.db')
  backUpStoreFile(path, target)
  rmSync(path)
  mkdirSync(`${path}-journal`)
  expect(() => restoreStoreFile(target, path)).toThrow('store.db-journal is a folder')
})

test.each([
  ['the first file is moved', 0, []],
  ['the second file is moved', 1, ['-wal']],
  ['the copy gets its name', 3, ['-wal', '-shm', '']],
])('a restore that fails before %s names the copy and each file that was moved', (_, renames, moved) => {
  const target = join(folder, 'copy.db')
  backUpStoreFile(path, target)
  for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
  writeFileSync(path, 'no database any more, and long enough to be none')
  writeFileSync(`${path}-wal`, 'of a lost store')
  const actual = vi.mocked(renameSync).getMockImplementation()
  for (let each = 0; each < renames; each++)
    vi.mocked(renameSync).mockImplementationOnce((...given) => actual?.(...given))
  vi.mocked(renameSync).mockImplementationOnce(() => {
    throw new Error('the disk failed')
  })
  const said = catchMessage(() => restoreStoreFile(target, path, { replace: true }))
  const copy = /its copy is (\S+\.partial)/.exec(said)?.[1] ?? ''
  expect(checkStoreFile(copy).findings).toEqual([])
  const names = moved.map((end) => `${path}.before-1${end}`)
  for (const name of names) expect(existsSync(name)).toBe(true)
  const kept = names.length === 0 ? '' : `; the former files are kept as ${names.join(', ')}`
  expect(said).toBe(`the backup could not be moved to ${path}: the disk failed; its copy is ${copy}${kept}`)
})

function catchMessage(act: () => unknown): string {
  try {
    act()
    return ''
  } catch (cause) {
    return cause instanceof Error ? cause.message : ''
  }
}
