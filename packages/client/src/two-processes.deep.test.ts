// Two real servers over one PostgreSQL store, behind one port, with wall clocks 30 s apart. Apps talk while either
// server is killed, restarted or cut off from the database. Whatever happens, no message is lost, every turn is
// answered, every call is settled once, and effects happen as often as their tools allow.
import type { SessionRecord } from '@baton/core/machine'
import { createRandom } from '@baton/core/testing'
import { openPostgresStore } from '@baton/host/postgres'
import { startBalancer } from '@baton/testing/balancer'
import { chooseCount } from '@baton/testing/depth'
import { findFreePort } from '@baton/testing/free-port'
import type { PostgresServer } from '@baton/testing/postgres'
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { V1Client } from './client.ts'
import { createV1Client } from './client.ts'

const SERVER = fileURLToPath(new URL('../../testing/src/two-processes/server.ts', import.meta.url))
const SESSIONS = 4
/** Kills, restarts or cuts per test. The apps keep talking until all of them happened. */
const TROUBLES = chooseCount({ quick: 4, deep: 8 })
const LEASE_MS = 2000
/** Time limit of a turn in milliseconds: both servers may be down during it, more than once. */
const TURN_MS = 60_000

const programs = findPostgres('two servers over one store', console.warn)

type Trouble = 'kill' | 'restart' | 'cut'

describe.skipIf(programs === undefined)('two servers over one store', () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres(programs ?? '')
  })
  afterAll(() => postgres.close())

  test.each([
    ['while either is killed', ['kill']],
    ['while either is restarted, without a failed turn', ['restart']],
    ['while the connections to the database are cut', ['cut']],
    ['while all of it happens', ['kill', 'restart', 'cut']],
  ] as const)('keep their promises %s', async (_, troubles) => {
    const seed = Math.floor(Date.now() / 86_400_000)
    const world = await openWorld(postgres)
    try {
      const { counts, turns } = await talk(world, { troubles, seed })
      const seen = await check(world, turns)
      console.log(
        `two servers, ${troubles.join(', ')}: seed ${seed}, ${turns.reduce((sum, one) => sum + one, 0)} turns, ` +
          `${counts.kill} killed, ${counts.restart} restarted, ${counts.cut} connections cut; ` +
          `${seen.records} records, ${seen.owners} owners, ${seen.moves} moves between servers, ${seen.unknown} calls told as unknown`,
      )
      // Turns end before a server does, and no server holds sessions that it cannot finish.
      expect(seen.unknown === 0 || troubles.some((trouble) => trouble === 'kill')).toBe(true)
    } finally {
      await world.close()
    }
  })
})

interface Peer {
  readonly port: number
  readonly aheadMs: number
  process: StartedCommand
}

interface World {
  readonly postgres: PostgresServer
  readonly store: string
  readonly peers: readonly [Peer, Peer]
  readonly url: string
  readonly effectsFile: string
  readonly clientEffects: string[]
  start(peer: Pick<Peer, 'port' | 'aheadMs'>): Promise<StartedCommand>
  close(): Promise<void>
}

async function openWorld(postgres: PostgresServer): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-two-'))
  const store = postgres.createDatabase()
  const effectsFile = join(folder, 'effects.txt')
  const start: World['start'] = async ({ port, aheadMs }) => {
    const words = { store, port, effectsFile, aheadMs, leaseMs: LEASE_MS }
    const server = startCommand(process.execPath, {
      words: ['--conditions=@baton/source', '--no-warnings', SERVER, JSON.stringify(words)],
    })
    await server.untilLine((line) => line.includes('listening'))
    return server
  }
  const places = [
    { port: await findFreePort(), aheadMs: 0 },
    { port: await findFreePort(), aheadMs: 30_000 },
  ]
  const [one, other] = await Promise.all(places.map(async (place) => ({ ...place, process: await start(place) })))
  if (!one || !other) throw new Error('there are two servers')
  const balancer = await startBalancer([one.port, other.port])
  return {
    postgres,
    store,
    peers: [one, other],
    url: `ws://127.0.0.1:${balancer.port}/ws`,
    effectsFile,
    clientEffects: [],
    start,
    close: async () => {
      await balancer.close()
      for (const { process: server } of [one, other]) {
        server.kill('SIGKILL')
        await server.ended
      }
      rmSync(folder, { recursive: true })
    },
  }
}

interface Talked {
  readonly counts: Readonly<Record<Trouble, number>>
  /** Turns of each session. */
  readonly turns: readonly number[]
}

interface Plan {
  readonly troubles: readonly Trouble[]
  readonly seed: number
}

/** Every session sends its turns one after another, while troubles happen. */
async function talk(world: World, { troubles, seed }: Plan): Promise<Talked> {
  const random = createRandom(seed)
  const counts = { kill: 0, restart: 0, cut: 0 }
  const clients = Array.from({ length: SESSIONS }, (_, index) => openApp(world, `session-${index}`))
  const progress = { isOver: false }
  const talking = Promise.all(clients.map(({ client }, index) => sayUntil(world, { client, index, progress })))
  talking.catch(() => {}) // awaited below
  for (let made = 0; made < TROUBLES; made++) {
    await setTimeout(random.below(700))
    await make(world, { trouble: random.pick(troubles), peer: random.pick(world.peers), counts })
  }
  progress.isOver = true
  const turns = await talking
  for (const { client } of clients) client.close()
  return { counts, turns }
}

function openApp({ url, clientEffects }: World, session: string): { readonly client: V1Client } {
  const effect =
    (name: string) =>
    (_: unknown, { callId }: { readonly callId: string }): string => {
      clientEffects.push(`${name} ${session} ${callId}`)
      return 'done'
    }
  const tools = { 'client.pure': effect('client.pure'), 'client.once': effect('client.once') }
  return { client: createV1Client({ url, session, tools, reconnect: { baseMs: 20, mostMs: 200 } }) }
}

interface Talk {
  readonly client: V1Client
  readonly index: number
  readonly progress: { readonly isOver: boolean }
}

/** Returns the number of turns. @throws Error if an answer does not arrive */
async function sayUntil(world: World, { client, index, progress }: Talk): Promise<number> {
  for (let turn = 0; ; turn++) {
    if (progress.isOver) return turn
    const final = new Promise<string>((resolve) => {
      const stop = client.on('final', (text) => {
        stop()
        resolve(text)
      })
    })
    client.say(`turn ${turn} of session ${index}`)
    const late = setTimeout(TURN_MS, 'late', { ref: false })
    const told = await Promise.race([final, late])
    if (told === 'late') {
      const errors = world.peers.map(({ process: server }) => server.errors().slice(-2000)).join('\n')
      throw new Error(`no answer came to turn ${turn} of session ${index}; the servers said ${errors}`)
    }
  }
}

async function make(
  world: World,
  {
    trouble,
    peer,
    counts,
  }: { readonly trouble: Trouble; readonly peer: Peer; readonly counts: Record<Trouble, number> },
): Promise<void> {
  if (trouble === 'kill' || trouble === 'restart') {
    peer.process.kill(trouble === 'kill' ? 'SIGKILL' : 'SIGTERM')
    await peer.process.ended
    peer.process = await world.start(peer)
    counts[trouble] += 1
    return
  }
  counts.cut += world.postgres.cutConnections(world.store)
}

/** Checks the logs and the effects. */
async function check(world: World, turns: readonly number[]) {
  const store = await openPostgresStore(world.store, { readOnly: true })
  const lines = existsSync(world.effectsFile) ? readFileSync(world.effectsFile, 'utf8').trim().split('\n') : []
  const seen = { records: 0, owners: 0, moves: 0, unknown: 0 }
  const wrong: string[] = []
  for (const [index, count] of turns.entries()) {
    const session = `session-${index}`
    const records: SessionRecord[] = []
    for await (const record of store.read(session, 0)) records.push(record)
    const epochs = records.map(({ epoch }) => epoch)
    if (epochs.some((epoch, at) => epoch < (epochs[at - 1] ?? 0)))
      wrong.push(`${session}: an owner wrote after the next one`)
    seen.records += records.length
    seen.owners += new Set(epochs).size
    seen.moves += new Set(epochs).size - 1
    wrong.push(
      ...findLost(records, index, count),
      ...findUnkept(records, { session, lines: [...lines, ...world.clientEffects], seen }),
    )
  }
  await store.close()
  expect(wrong).toEqual([])
  return seen
}

function findLost(records: readonly SessionRecord[], index: number, turns: number): readonly string[] {
  const facts = records.flatMap((record) => record.facts)
  const said = facts.flatMap((fact) => (fact.type === 'input-accepted' ? [JSON.stringify(fact)] : []))
  const outcomes = facts.flatMap((fact) => (fact.type === 'turn-finished' ? [fact.outcome] : []))
  const lost = Array.from({ length: turns }, (_, turn) => `turn ${turn} of session ${index}`).filter(
    (text) => said.filter((fact) => fact.includes(text)).length !== 1,
  )
  return [
    ...lost.map((text) => `${text} was not accepted once`),
    ...(outcomes.length === turns && outcomes.every((outcome) => outcome === 'answered')
      ? []
      : [`session ${index}: turns ended as ${outcomes.join(', ')}`]),
  ]
}

interface Happened {
  readonly session: string
  readonly lines: readonly string[]
  readonly seen: { unknown: number }
}

/** One settlement per call; ok means that it happened; `once` tools and effects of an app happen at most once. */
function findUnkept(records: readonly SessionRecord[], { session, lines, seen }: Happened): readonly string[] {
  const facts = records.flatMap((record) => record.facts)
  return facts
    .flatMap((fact) => (fact.type === 'step-finished' ? fact.calls : []))
    .flatMap(({ callId, name }) => {
      const settled = facts.flatMap((fact) =>
        fact.type === 'call-settled' && fact.callId === callId ? [fact.settlement.type] : [],
      )
      const happened = lines.filter(
        (line) => line.startsWith(`${name} `) && line.includes(session) && line.endsWith(callId),
      )
      if (settled[0] === 'unknown') seen.unknown += 1
      const mayRepeat = name === 'server.pure' || name === 'server.idempotent'
      const isKept =
        settled.length === 1 &&
        (settled[0] === 'ok' ? happened.length > 0 : settled[0] === 'unknown') &&
        (happened.length <= 1 || mayRepeat)
      return isKept
        ? []
        : [`${session} ${callId} ${name}: settled as ${settled.join(', ')}, happened ${happened.length} times`]
    })
}
