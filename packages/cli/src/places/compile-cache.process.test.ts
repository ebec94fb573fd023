// The compiled code of the command: kept in a folder of this user alone, and never a reason to fail.
import { startCommand } from '@baton/testing/start-command'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
/** Makes `os.homedir()` fail, as for a user id without an entry and without HOME. */
const HOMELESS = `data:text/javascript,${encodeURIComponent(`
  import { syncBuiltinESMExports } from 'node:module'
  import os from 'node:os'
  os.homedir = () => { throw new Error('ENOENT: no such file or directory, uv_os_homedir') }
  syncBuiltinESMExports()
`)}`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function askVersion(variables: Readonly<Record<string, string>>, options: readonly string[] = []) {
  const command = startCommand(process.execPath, {
    words: [...options, BATON, '--version'],
    folder,
    variables: { HOME: folder, NODE_COMPILE_CACHE: '', ...variables },
  })
  const { code } = await command.ended
  return { code, output: command.output(), errors: command.errors() }
}

const WORKS = { code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+/), errors: '' }

test('compiled code is kept in a folder that only its user can read', async () => {
  expect(await askVersion({ XDG_CACHE_HOME: join(folder, 'caches') })).toMatchObject(WORKS)
  const kept = join(folder, 'caches/baton/compiled')
  expect(statSync(kept).mode & 0o777).toBe(0o700)
  expect(readdirSync(kept)).not.toEqual([])
})

test('a user without a home gets the version', async () => {
  expect(await askVersion({}, ['--import', HOMELESS])).toMatchObject(WORKS)
})

test('a relative XDG_CACHE_HOME is ignored', async () => {
  expect(await askVersion({ XDG_CACHE_HOME: 'caches' })).toMatchObject(WORKS)
  expect(existsSync(join(folder, 'caches'))).toBe(false)
  expect(existsSync(join(folder, '.cache/baton/compiled'))).toBe(true)
})

test.each(['1', 'true'])('NODE_DISABLE_COMPILE_CACHE=%s creates no folder', async (value) => {
  expect(await askVersion({ NODE_DISABLE_COMPILE_CACHE: value })).toMatchObject(WORKS)
  expect(readdirSync(folder)).toEqual([])
})

test.runIf(process.platform === 'linux')('a place where no folder can be made is no reason to fail', async () => {
  expect(await askVersion({ XDG_CACHE_HOME: '/proc/baton' })).toMatchObject(WORKS)
})

test('a folder that others may use is left alone', async () => {
  const open = join(folder, '.cache/baton/compiled')
  mkdirSync(open, { recursive: true })
  chmodSync(open, 0o777)
  expect(await askVersion({})).toMatchObject(WORKS)
  expect(readdirSync(open)).toEqual([])
})

test('a link to a folder is left alone', async () => {
  const elsewhere = join(folder, 'elsewhere')
  mkdirSync(elsewhere, { mode: 0o700 })
  mkdirSync(join(folder, '.cache/baton'), { recursive: true })
  symlinkSync(elsewhere, join(folder, '.cache/baton/compiled'))
  expect(await askVersion({})).toMatchObject(WORKS)
  expect(readdirSync(elsewhere)).toEqual([])
})

test.runIf(process.getuid?.() === 0)('a folder of another user is left alone', async () => {
  const foreign = join(folder, '.cache/baton/compiled')
  mkdirSync(foreign, { recursive: true, mode: 0o700 })
  chownSync(foreign, 65_534, 65_534)
  expect(await askVersion({})).toMatchObject(WORKS)
  expect(readdirSync(foreign)).toEqual([])
})
