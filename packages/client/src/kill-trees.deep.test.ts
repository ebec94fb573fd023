// Real servers are killed with SIGKILL around each record of a tree of three sessions, whose lowest one has an approval, a
// question, `once` tools and a client tool. A real client stays with the root. Whatever the moment, the turn ends, a
// decision counts, and each effect happens at most once.
import type { SessionRecord } from '@baton/core/machine'
import type { Store } from '@baton/core'
import { openSqliteStore } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import { startBalancer } from '@baton/testing/balancer'
import { chooseRotating, describeRotation } from '@baton/testing/depth'
import { findFreePort } from '@baton/testing/free-port'
import type { KillPlan } from '@baton/testing/kill-plan'
import type { PostgresServer } from '@baton/testing/postgres'
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSession } from './session/open-session.ts'

const SERVER = fileURLToPath(new URL('../../testing/src/kill-loop/server.ts', import.meta.url))
const PEER = fileURLToPath(new URL('../../testing/src/two-processes/server.ts', import.meta.url))
const SESSION = 'tree'
const AT_ONCE = 2
const LEASE_MS = 2000

/** Whoever keeps servers of a tree running while one of them dies. */
interface Place {
  readonly url: string
  /** Resolves with how many died once `work` has; each dead one is replaced. */
  outlive(work: Promise<unknown>): Promise<number>
  /** Ends the servers in an orderly way, and opens their store. */
  settle(): Promise<Store>
  effects(): readonly string[]
  close(): Promise<void>
}

const start = (file: string, words: readonly string[]): StartedCommand =>
  startCommand(process.execPath, { words: ['--conditions=@baton/source', '--no-warnings', file, ...words] })

/** Starts another server for each that dies, without a plan. */
async function keep(first: StartedCommand, next: () => Promise<StartedCommand>, work: Promise<unknown>) {
  let server = first
  for (let kills = 0; ; kills += 1) {
    const died = await Promise.race([server.ended.then(() => true), work.then(() => false)])
    if (!died) return { server, kills }
    expect({ ...(await server.ended), said: server.errors() }).toMatchObject({ signal: 'SIGKILL' })
    server = await next()
  }
}

async function listening(server: StartedCommand): Promise<StartedCommand> {
  // A process that dies in its recovery prints nothing.
  await server.untilLine((line) => line.includes('listening')).catch(() => {})
  return server
}

const readEffects = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []

async function openOneServer(plan: KillPlan | undefined): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-kill-tree-'))
  const port = await findFreePort()
  const words = [folder, String(port), 'home-tree']
  let server = await listening(start(SERVER, [...words, ...(plan ? [JSON.stringify(plan)] : [])]))
  return {
    url: `ws://127.0.0.1:${port}/ws`,
    outlive: async (work) => {
      const kept = await keep(server, () => listening(start(SERVER, words)), work)
      server = kept.server
      return kept.kills
    },
    settle: async () => {
      server.kill('SIGTERM')
      await server.ended
      return await openSqliteStore(join(folder, 'sessions.db'), { readOnly: true })
    },
    effects: () => readEffects(join(folder, 'effects.txt')),
    close: async () => {
      server.kill('SIGKILL')
      await server.ended
      rmSync(folder, { recursive: true })
    },
  }
}

async function openTwoServers(postgres: PostgresServer, plan: KillPlan | undefined): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-kill-peers-'))
  const effectsFile = join(folder, 'effects.txt')
  const store = postgres.createDatabase()
  const [holderPort, otherPort] = [await findFreePort(), await findFreePort()]
  const open = (port: number, more: object): Promise<StartedCommand> => {
    const words = { store, port, effectsFile, aheadMs: 0, leaseMs: LEASE_MS, kind: 'home-tree', ...more }
    return listening(start(PEER, [JSON.stringify(words)]))
  }
  const other = await open(otherPort, {})
  let holder = await open(holderPort, plan ? { plan } : {})
  // The first connection goes to the second port.
  const balancer = await startBalancer([otherPort, holderPort])
  return {
    url: `ws://127.0.0.1:${balancer.port}/ws`,
    outlive: async (work) => {
      const kept = await keep(holder, () => open(holderPort, {}), work)
      holder = kept.server
      return kept.kills
    },
    settle: async () => {
      for (const server of [holder, other]) server.kill('SIGTERM')
      await Promise.all([holder.ended, other.ended])
      return await openPostgresStore(store)
    },
    effects: () => readEffects(effectsFile),
    close: async () => {
      await balancer.close()
      for (const server of [holder, other]) server.kill('SIGKILL')
      await Promise.all([holder.ended, other.ended])
      rmSync(folder, { recursive: true })
    },
  }
}

interface Life {
  readonly kills: number
  readonly text: string
  /** Every session's records, the root's first. */
  readonly logs: readonly (readonly SessionRecord[])[]
  readonly effects: readonly string[]
  /** Whether the person's approval was acknowledged. */
  readonly isApproved: boolean
}

async function live(place: Place): Promise<Life> {
  const effects: string[] = []
  let isApproved = false
  const client = openSession({
    url: place.url,
    session: SESSION,
    tools: { camera: () => (effects.push('camera'), 'a picture') },
  })
  client.on('event', (event) => {
    if (event.type === 'approval-requested')
      client.decide({ approvalId: event.approvalId, decision: 'approve' }).then(
        () => (isApproved = true),
        () => {},
      )
    if (event.type === 'question-asked')
      client.answer({ questionId: event.questionId, value: { card: 'blue' } }).catch(() => {})
  })
  try {
    const { answer } = client.send('Go.')
    const kills = await place.outlive(answer)
    const { text } = await answer
    client.close()
    const store = await place.settle()
    const names = [SESSION]
    for await (const { session } of store.children(SESSION)) names.push(session)
    const logs: (readonly SessionRecord[])[] = []
    for (const name of names) {
      const records: SessionRecord[] = []
      for await (const record of store.read(name, 0)) records.push(record)
      logs.push(records)
    }
    await store.close()
    return {
      kills,
      text,
      logs,
      effects: [...effects, ...place.effects().map((line) => line.split(' ')[0] ?? '')],
      isApproved,
    }
  } finally {
    client.close()
    await place.close()
  }
}

const count = (list: readonly string[], name: string): number => list.filter((one) => one === name).length

/** Checks a life against the promises. */
function check({ text, logs, effects, isApproved }: Life, plan: KillPlan | undefined): readonly string[] {
  const facts = logs.map((records) => records.flatMap((record) => record.facts))
  const types = facts.map((all) => all.map(({ type }) => type))
  const turns = types.map((all) => count(all, 'turn-finished'))
  const births = types.map((all) => [count(all, 'child-begun'), count(all, 'child-closed'), count(all, 'child-opened')])
  const acts = (['camera', 'note', 'pay'] as const).map((name) => Math.min(2, count(effects, name)))
  expect({ plan, turns, births, isSaid: text.startsWith('boss heard') }).toEqual({
    plan,
    turns: [1, 1, 1],
    births: expect.arrayContaining([
      [1, 1, 0],
      [1, 1, 1],
      [0, 0, 1],
    ]),
    isSaid: true,
  })
  expect({ plan, acts: acts.every((times) => times <= 1) }).toEqual({ plan, acts: true })
  const proposed = facts.flat().flatMap((fact) => (fact.type === 'step-finished' ? fact.calls : []))
  const settled = facts.flat().flatMap((fact) => (fact.type === 'call-settled' && fact.via === undefined ? [fact] : []))
  const wrong = proposed.flatMap(({ callId, name }) => {
    const ends = settled.filter((fact) => fact.callId === callId).map(({ settlement }) => settlement.type)
    const [end] = ends
    const isKept =
      ends.length === 1 && (end === 'unknown' || (end === 'ok' && (effects.includes(name) || !isTool(name))))
    return isKept ? [] : [`${name} is settled as ${ends.join()}`]
  })
  expect({ plan, wrong }).toEqual({ plan, wrong: [] })
  const decided = facts.map((all) =>
    all.some((fact) => fact.type === 'approval-decided' && fact.decision === 'approve'),
  )
  expect({ plan, arrived: !isApproved || decided.every(Boolean) }).toEqual({ plan, arrived: true })
  return settled.flatMap(({ settlement }) => (settlement.type === 'unknown' ? ['unknown'] : []))
}

const isTool = (name: string): boolean => ['camera', 'note', 'pay'].includes(name)

/** Kills at every write of a life, before and after it. */
async function killEverywhere(open: (plan?: KillPlan) => Promise<Place>): Promise<void> {
  const whole = await live(await open())
  expect(check(whole, undefined)).toEqual([])
  const writes = whole.logs.flat().length
  const plans = Array.from({ length: writes }, (_, index) => index + 1).flatMap((write): readonly KillPlan[] => [
    { at: { write }, moment: 'before', laterMs: 0 },
    { at: { write }, moment: 'after', laterMs: 0 },
  ])
  const tried = chooseRotating(plans)
  const counts = { kills: 0, unknown: 0 }
  const left = [...tried]
  const worker = async (): Promise<void> => {
    for (let plan = left.shift(); plan; plan = left.shift()) {
      const life = await live(await open(plan))
      counts.kills += life.kills
      counts.unknown += check(life, plan).length
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  console.log(
    `kills of a tree: ${tried.length} of ${plans.length} moments, ${counts.kills} processes killed, ` +
      `${counts.unknown} calls told as unknown; ${describeRotation()}`,
  )
  expect(counts.kills).toBeGreaterThan(tried.length / 2)
}

test('a tree of three sessions survives its server, whichever record it dies at', async () => {
  await killEverywhere(openOneServer)
})

const programs = findPostgres('a tree over two servers', console.warn)

describe.skipIf(programs === undefined)('over two servers', () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres(programs ?? '')
  })
  afterAll(() => postgres.close())

  test('a tree of three sessions survives its holder, whichever record it dies at', async () => {
    await killEverywhere((plan) => openTwoServers(postgres, plan))
  })
})
