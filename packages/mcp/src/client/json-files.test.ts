// Logins and pins on disk: who can read them, what survives, and the error for a damaged file.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFilePinStore, createFileTokenStore } from './index.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-mcp-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('logins are available to the next process of their owner only', async () => {
  const path = join(folder, 'deep', 'logins.json')
  const store = createFileTokenStore(path)
  await Promise.all([store.write('https://a', 'one'), store.write('https://b', 'two')])
  await store.write('https://a', undefined)
  const other = createFileTokenStore(path)
  expect([await other.read('https://a'), await other.read('https://b')]).toEqual([undefined, 'two'])
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('two processes that write at once lose nothing', async () => {
  const path = join(folder, 'logins.json')
  const module = new URL('json-files.ts', import.meta.url).href
  const program = `const { createFileTokenStore } = await import(${JSON.stringify(module)})
    const store = createFileTokenStore(process.argv[1])
    for (let at = 0; at < 20; at += 1) await store.write(process.argv[2] + at, 'login')`
  const write = (who: string) =>
    promisify(execFile)(process.execPath, [
      '--conditions=@baton/source',
      '--input-type=module',
      '-e',
      program,
      path,
      who,
    ])
  await Promise.all([write('one'), write('two')])
  expect(Object.keys(JSON.parse(await readFile(path, 'utf8')) as object)).toHaveLength(40)
  expect(await readdir(folder)).toEqual(['logins.json'])
})

test('pins of one server do not touch those of another', async () => {
  const path = join(folder, 'pins.json')
  const tool = { name: 'echo', inputSchema: { type: 'object' as const } }
  await createFilePinStore(path).write('a', [tool])
  await createFilePinStore(path).write('b', [])
  expect(await createFilePinStore(path).read('a')).toEqual([tool])
})

test('a damaged file is named in the error, and is not overwritten', async () => {
  const path = join(folder, 'logins.json')
  await writeFile(path, '{"a":')
  const store = createFileTokenStore(path)
  await expect(store.read('a')).rejects.toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining(path) as string,
  })
  await expect(store.write('a', 'x')).rejects.toMatchObject({ code: 'store_failed' })
  expect(await readFile(path, 'utf8')).toBe('{"a":')
})

test.each(['{"shop":[null]}', '{"shop":[{"name":7}]}', '{"shop":{}}'])(
  'pins that are none are told: %s',
  async (text) => {
    const path = join(folder, 'pins.json')
    await writeFile(path, text)
    await expect(createFilePinStore(path).read('shop')).rejects.toMatchObject({
      code: 'store_failed',
      message: `the file ${path} is damaged at "shop"`,
    })
  },
)
