// Processes that share a store and are killed while writing: no acknowledged record is lost or stored twice, and no
// session of a living process goes to another one.
import { chooseCount } from '@baton/testing/depth'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createRandom } from '@baton/core/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Said } from './appending-process.test-kit.ts'
import { openSharedSqliteStore } from './shared-sqlite-store.ts'
import { readProcesses } from './store-processes.ts'

const PROGRAM = fileURLToPath(new URL('./appending-process.test-kit.ts', import.meta.url))

let folder = ''
let path = ''
let lives: Life[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-killed-'))
  path = join(folder, 'store.db')
  lives = []
})
afterEach(async () => {
  for (const life of lives) await life.kill()
  rmSync(folder, { recursive: true })
})

type Life = Awaited<ReturnType<typeof startLife>>

function start(name: string): Life {
  const life = startLife(name)
  lives.push(life)
  return life
}

function startLife(name: string) {
  const words = ['--conditions=@baton/source', '--no-warnings', PROGRAM, path, name]
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'pipe'] })
  const said: Said[] = []
  let errors = ''
  let wake = Promise.withResolvers<void>()
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (errors += piece))
  child.stdin.on('error', () => {}) // it was killed
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push(JSON.parse(line) as Said) // written by the program next to this file
    wake.resolve()
    wake = Promise.withResolvers()
  })
  let isOver = false
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      isOver = true
      resolve(code)
      wake.resolve()
    })
  })
  return {
    name,
    pid: child.pid,
    said,
    ended,
    errors: () => errors,
    /** Waits for this many matching outputs. */
    until: async (isMeant: (one: Said) => boolean, count = 1): Promise<void> => {
      while (said.filter(isMeant).length < count) {
        if (isOver) throw new Error(`process ${name} has ended: ${errors}${JSON.stringify(said.slice(-3))}`)
        await wake.promise
      }
    },
    stop: () => void child.stdin.write('stop\n'),
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

const isKept = ({ type }: Said): boolean => type === 'kept'
const countKept = (life: Life): number => life.said.filter(isKept).length

/** All stored texts of each session, in order. */
async function readTexts(): Promise<ReadonlyMap<string, readonly string[]>> {
  const store = await openSharedSqliteStore(path, { waitMs: 60_000 })
  const found = new Map<string, string[]>()
  for await (const { session } of store.list()) {
    const texts: string[] = []
    for await (const { pos, facts } of store.read(session, 0)) {
      expect(pos).toBe(texts.length)
      texts.push(facts[0]?.type === 'note-queued' ? facts[0].text : '')
    }
    found.set(session, texts)
  }
  await store.close()
  return found
}

test.each(Array.from({ length: chooseCount({ quick: 1, deep: 10 }) }, (_, index) => index + 1))(
  'holders and guests are killed again and again (seed %i)',
  async (seed) => {
    const random = createRandom(seed)
    const dead: Life[] = []
    let alive = [start('p0'), start('p1'), start('p2')]
    for (let round = 0; round < chooseCount({ quick: 2, landing: 4, deep: 12 }); round++) {
      // At a random moment of a process's writing.
      const watched = random.pick(alive)
      await watched.until(isKept, countKept(watched) + 1 + random.below(200))
      const { holder } = readProcesses(path)
      const isHolder = random.chance(0.75)
      const victim = alive.find(({ pid }) => (pid === holder?.pid) === isHolder) ?? random.pick(alive)
      await victim.kill()
      dead.push(victim)
      alive = [...alive.filter((life) => life !== victim), start(`q${round}`)]
    }
    // Every living process continues, and sessions of dead ones are written further.
    for (const life of alive) await life.until(isKept, countKept(life) + 20)
    for (const life of alive) life.stop()
    for (const life of alive) expect([await life.ended, life.errors()]).toEqual([0, ''])
    const all = [...dead, ...alive]
    expect(all.flatMap(({ said }) => said.filter(({ type }) => type === 'failed'))).toEqual([])
    const stored = await readTexts()
    for (const { said } of all)
      for (const one of said) {
        if (one.type !== 'kept') continue
        const texts = stored.get(one.session) ?? []
        const at = texts.indexOf(one.texts[0] ?? '')
        expect(texts.slice(at, at + one.texts.length)).toEqual(one.texts)
      }
    for (const texts of stored.values()) expect(new Set(texts).size).toBe(texts.length)
  },
)

test('when a process is killed, its sessions are free at once if it had the file, else when its lease has ended', async () => {
  const holder = start('p0')
  await holder.until(isKept)
  const guest = start('p1')
  await guest.until(isKept)
  await holder.kill()
  // Its lease would last a minute.
  await guest.until((one) => one.type === 'owned' && one.session === 'of-p0')
  const other = start('p2')
  await other.until(isKept)
  await other.kill()
  const store = await openSharedSqliteStore(path, { waitMs: 60_000 })
  expect(await store.acquire('of-p2', 'ann')).toMatchObject({ type: 'held' })
  await store.close()
})
