// A process dies, and its disk loses all unsynced data: every acknowledged append must still be there. The same store
// with `synchronous=NORMAL` must fail here, or this test would prove nothing.
import { openSqliteStore } from '@baton/host'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaveOut } from '../components/left-out.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const STORES = fileURLToPath(new URL('../../../host/src/stores/', import.meta.url))
const MODULE = 'sqlite/sqlite-store.ts'
const folder = mkdtempSync(join(tmpdir(), 'baton-lost-'))
const shim = join(folder, 'lost-writes.so')
let isThere = false

interface Ended {
  readonly output: string
  readonly errors: string
  readonly failure: unknown
}

function start(file: string, words: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(file, [...words], { env: { ...process.env, ...variables } }, (failure, output, errors) =>
      resolve({ output, errors, failure }),
    )
  })
}

beforeAll(async () => {
  const source = join(HERE, 'lost-writes.c')
  const { failure } = await start('cc', ['-shared', '-fPIC', '-O1', '-o', shim, source, '-ldl', '-lpthread'])
  isThere = process.platform === 'linux' && failure === null
  if (isThere) return
  const lack = { why: `no C compiler for Linux: ${String(failure)}`, remedy: 'Install cc (gcc or clang) on Linux.' }
  leaveOut('a disk that loses what was not synced', lack, console.warn)
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Life {
  readonly acknowledged: number
  readonly lost: number
}

/** One run of a process on the file: its appends, then its death with the loss of all unsynced data. */
async function live(stores: string, path: string, chars: number): Promise<Life> {
  const words = ['--conditions=@baton/source', '--no-warnings', join(HERE, 'append-and-die.ts'), join(stores, MODULE)]
  const { output, errors } = await start(process.execPath, [...words, path, '20', `${chars}`], {
    LD_PRELOAD: shim,
    LOST_WRITES_UNDER: path,
  })
  const lost = /lost (\d+)/.exec(errors)?.[1]
  if (lost === undefined) throw new Error(`the process did not die as it should: ${errors}`)
  return { acknowledged: Number(output), lost: Number(lost) }
}

async function findLast(path: string): Promise<number> {
  const store = await openSqliteStore(path)
  let last = -1
  try {
    for await (const { pos } of store.read('s', 0)) last = pos
  } finally {
    await store.close()
  }
  return last
}

/** Short ones are committed on the caller's thread if the disk is fast, long ones by the worker. */
test.each([
  ['short', 200],
  ['long', 70_000],
])('every %s append that was acknowledged is there after the power went, over three lives', async (name, chars) => {
  if (!isThere) return
  const path = join(folder, `${name}.db`)
  const lives: Life[] = []
  for (let life = 0; life < 3; life++) {
    lives.push(await live(STORES, path, chars))
    expect(await findLast(path)).toBe(lives.at(-1)?.acknowledged)
  }
  console.log(
    `${name} appends: ${lives.map(({ acknowledged, lost }) => `${acknowledged} kept, ${lost} writes lost`).join('; ')}`,
  )
  expect(lives.at(-1)?.acknowledged).toBe(59)
})

test('a store that syncs less loses what it has acknowledged, and is found out', async () => {
  if (!isThere) return
  const mutant = join(folder, 'mutant')
  cpSync(STORES, mutant, { recursive: true })
  symlinkSync(fileURLToPath(new URL('../../../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  let changed = 0
  for (const name of readdirSync(join(mutant, 'sqlite'))) {
    const file = join(mutant, 'sqlite', name)
    const text = readFileSync(file, 'utf8')
    if (text.includes('synchronous=FULL')) changed += 1
    writeFileSync(file, text.replaceAll('synchronous=FULL', 'synchronous=NORMAL'))
  }
  expect(changed).toBeGreaterThan(0)
  const path = join(folder, 'mutant.db')
  const { acknowledged, lost } = await live(mutant, path, 200)
  expect(acknowledged).toBe(19)
  expect(lost).toBeGreaterThan(0)
  expect(await findLast(path).catch(() => -1)).toBeLessThan(acknowledged)
})
