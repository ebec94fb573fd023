// A real server is killed with SIGKILL around every record of a turn and restarted; a real client reconnects to it.
// Whatever the moment, the turn ends, and effects happen as often as their tools allow.
import type { SessionRecord } from '@baton/core/machine'
import { openSqliteStore } from '@baton/host'
import { chooseCount, chooseSample, isDeep } from '@baton/testing/depth'
import { findFreePort } from '@baton/testing/free-port'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import type { KillPlan } from '@baton/testing/kill-plan'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { createV1Client } from './client.ts'

const SERVER = fileURLToPath(new URL('../../testing/src/kill-loop/server.ts', import.meta.url))
const SESSION = 'killed'
/** More records than a turn has. */
const POSITIONS_MAX = 60
const AT_ONCE = 2

interface Life {
  /** How often a process was killed. */
  readonly kills: number
  readonly records: readonly SessionRecord[]
  /** Occurrences of each effect, by tool. */
  readonly effects: ReadonlyMap<string, readonly string[]>
  readonly final: string
}

const counts = { lives: 0, kills: 0, records: 0, again: 0, unknown: 0 }
afterAll(() => {
  const { lives, kills, records, again, unknown } = counts
  console.log(
    `kill loop: ${lives} conversations, ${kills} processes killed, ${records} records; ` +
      `${again} server tools run again with their key, ${unknown} calls told as unknown`,
  )
})

/** One conversation: a process for each plan, each of which kills itself, and a final one that survives. */
async function live(plans: readonly KillPlan[]): Promise<Life> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-kill-'))
  const port = await findFreePort()
  const clientEffects: string[] = []
  const effect =
    (name: string) =>
    (_: unknown, { callId }: { readonly callId: string }): string => {
      clientEffects.push(`${name} ${callId}`)
      return 'done'
    }
  let running: StartedCommand | undefined
  const start = async (plan: KillPlan | undefined): Promise<StartedCommand> => {
    const words = ['--conditions=@baton/source', '--no-warnings', SERVER, folder, String(port), 'plain']
    const server = startCommand(process.execPath, { words: [...words, ...(plan ? [JSON.stringify(plan)] : [])] })
    running = server
    // A process that dies in its recovery prints nothing.
    await server.untilLine((line) => line.includes('listening')).catch(() => {})
    return server
  }
  const first = await start(plans[0])
  const client = createV1Client({
    url: `ws://127.0.0.1:${port}/ws`,
    session: SESSION,
    tools: { 'client.pure': effect('client.pure'), 'client.once': effect('client.once') },
    reconnect: { baseMs: 20, mostMs: 100 },
  })
  try {
    const final = new Promise<string>((resolve) => void client.on('final', resolve))
    client.say('go')
    const late = lateness(plans, () => `${running?.output()}${running?.errors()}`)
    const kills = await Promise.race([outlive(first, { plans: plans.slice(1), start, final }), late])
    const text = await Promise.race([final, late])
    running?.kill('SIGTERM')
    await running?.ended
    return { kills, records: await recordsIn(folder), effects: effectsIn(folder, clientEffects), final: text }
  } finally {
    client.close()
    running?.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}

/** Time limit of a conversation in milliseconds, including a call's grace after a restart. */
const LIFE_MS = 180_000

function lateness(plans: readonly KillPlan[], told: () => string): Promise<never> {
  return new Promise((_, reject) => {
    const late = (): void => reject(new Error(`no answer came for ${JSON.stringify(plans)}; the server said ${told()}`))
    setTimeout(late, LIFE_MS).unref()
  })
}

interface Lives {
  readonly plans: readonly KillPlan[]
  readonly start: (plan: KillPlan | undefined) => Promise<StartedCommand>
  readonly final: Promise<string>
}

/** Starts a new process whenever one died, until one reports the final answer. Returns how many died. */
async function outlive(first: StartedCommand, { plans, start, final }: Lives): Promise<number> {
  const left = [...plans]
  let server = first
  for (let kills = 0; ; kills++) {
    const died = await Promise.race([server.ended.then(() => true), final.then(() => false)])
    if (!died) return kills
    expect({ ...(await server.ended), said: server.errors() }).toMatchObject({ signal: 'SIGKILL' })
    server = await start(left.shift())
  }
}

async function recordsIn(folder: string): Promise<readonly SessionRecord[]> {
  const store = await openSqliteStore(join(folder, 'sessions.db'), { readOnly: true })
  const records: SessionRecord[] = []
  for await (const record of store.read(SESSION, 0)) records.push(record)
  await store.close()
  return records
}

function effectsIn(folder: string, clientEffects: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const lines = [...readFileSync(join(folder, 'effects.txt'), 'utf8').trim().split('\n'), ...clientEffects]
  return Map.groupBy(lines, (line) => line.split(' ')[0] ?? '')
}

/** Checks a conversation against the promises; `wrong` names the broken one. */
function check(life: Life, plans: readonly KillPlan[]): void {
  const { records, final } = life
  const facts = records.flatMap((record) => record.facts)
  const outcomes = facts.flatMap((fact) => (fact.type === 'turn-finished' ? [fact.outcome] : []))
  const proposed = facts.flatMap((fact) => (fact.type === 'step-finished' ? fact.calls : []))
  const wrong = proposed.flatMap(({ callId, name }) => {
    const settled = facts.flatMap((fact) =>
      fact.type === 'call-settled' && fact.callId === callId ? [fact.settlement.type] : [],
    )
    return isKept(name, settled, life.effects.get(name) ?? []) ? [] : [`${name} is settled as ${settled.join(', ')}`]
  })
  expect({ plans, outcomes, calls: proposed.length, wrong }).toEqual({
    plans,
    outcomes: ['answered'],
    calls: 5,
    wrong: [],
  })
  expect(final).toMatch(/^Let me see\.\n\ndone: /)
  counts.lives += 1
  counts.kills += life.kills
  counts.records += records.length
}

/**
 * Exactly one settlement; ok means that it happened; `once` tools and effects of a living client happen at most once;
 * one key.
 */
function isKept(name: string, settled: readonly string[], happened: readonly string[]): boolean {
  const [settlement = ''] = settled
  const isOnce = name.endsWith('.once')
  if (settlement === 'unknown') counts.unknown += 1
  counts.again += Math.max(0, happened.length - 1)
  return (
    settled.length === 1 &&
    (settlement === 'ok' ? happened.length > 0 : isOnce && settlement === 'unknown') &&
    (happened.length <= 1 || !(isOnce || name.startsWith('client.'))) &&
    new Set(happened).size <= 1
  )
}

/** Runs several conversations at once; each is checked. */
async function liveAll(all: readonly (readonly KillPlan[])[]): Promise<number> {
  const left = [...all]
  let kills = 0
  const work = async (): Promise<void> => {
    for (let plans = left.shift(); plans; plans = left.shift()) {
      const life = await live(plans)
      check(life, plans)
      kills += life.kills
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return kills
}

test('killed around every record of a turn with parallel server and client tools, the turn completes', async () => {
  const whole = await live([])
  check(whole, [])
  const positions = whole.records.map(({ pos }) => pos).filter((pos) => pos < POSITIONS_MAX)
  // Inputs that arrive together are one record; their number may vary.
  expect(positions.length).toBeGreaterThan(8)
  const moments = ['before', 'after', 'later'] as const
  const all = positions.flatMap((at) => moments.map((moment): KillPlan[] => [{ at, moment, laterMs: 0 }]))
  const tried = chooseSample(all, { quick: 1, landing: 3 })
  // The last records may be merged in another life, or be the client's detaching, which no process outlives.
  expect(await liveAll(tried)).toBeGreaterThan(tried.length / 2)
})

test('killed again and again, at other records each day, the turn completes', async () => {
  const seed = Math.floor(Date.now() / 86_400_000)
  console.log(`kill loop: seed ${seed}`)
  const at = (index: number): number => 2 + ((seed * 7 + index * 5) % 17)
  const all = Array.from({ length: chooseCount({ quick: 1, deep: 8 }) }, (_, index): KillPlan[] => [
    { at: at(index), moment: 'later', laterMs: 1 },
    { at: at(index) + 2 + (index % 5), moment: 'after', laterMs: 0 },
  ])
  // A single plan may name a record that is merged with others in its life: whether it killed says nothing.
  expect(await liveAll(all)).toBeGreaterThan(isDeep() ? all.length / 2 : -1)
})
