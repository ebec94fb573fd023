// Logs of situations, kept as the Baton of their day wrote them. Each one folds to the state and projects to the events
// that it did when it was kept. `npm run keep:logs` adds what is missing, and changes no log.
import { SessionProjection } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import {
  applyRecord,
  checkRecords,
  createHistory,
  FACTS,
  followRecord,
  initialState,
  SNAPSHOT_VERSION,
  takeSnapshot,
} from '@baton/core/machine'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ContractWorld } from '../host-contract/host-kind.ts'
import { createMemoryKind } from '../host-contract/local-kind.ts'
import { findKept, KEPT_NAMES } from './kept-situations.ts'

const FOLDER = new URL('./logs/', import.meta.url)
const DIGESTS = new URL('digests.json', FOLDER)

interface Digests {
  /** Another version of what a state holds has other digests. */
  readonly snapshotVersion: number
  readonly states: Readonly<Record<string, string>>
}

const placeOf = (name: string): URL => new URL(`${name}.jsonl`, FOLDER)
const eventsOf = (name: string): URL => new URL(`${name}.events.jsonl`, FOLDER)
const encodeLines = (values: readonly unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('')

function readRecords(name: string): readonly SessionRecord[] {
  const lines = readFileSync(placeOf(name), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as SessionRecord) // checked below
}

/** Digest of the state and the history, whatever the order of their fields. */
function digestState(records: readonly SessionRecord[]): string {
  let state = initialState('')
  const history = createHistory()
  for (const record of records) {
    followRecord(state, record)
    state = applyRecord(state, record)
    history.fold(record)
  }
  const text = JSON.stringify(takeSnapshot(state, history), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

function projectAll(records: readonly SessionRecord[]): string {
  const projection = new SessionProjection()
  return encodeLines(records.flatMap((record) => projection.takeRecord(record).read()))
}

/** Plays the situation on a local host, and returns the log. */
async function record(name: string): Promise<readonly SessionRecord[]> {
  const kind = createMemoryKind()
  const worlds: ContractWorld[] = []
  const createWorld: typeof kind.createWorld = async (init) => {
    const world = await kind.createWorld(init)
    worlds.push(world)
    return world
  }
  const session = await findKept(name)({ kind: kind.name, createWorld })
  for (const { host, time } of worlds) await time.until(host.stop())
  const records = (await worlds.at(-1)?.records(session ?? undefined)) ?? []
  if (records.length === 0) throw new Error(`the situation "${name}" left no log`)
  return records
}

/** Never writes over a log, nor over its events. */
async function keepMissing(): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  for (const name of KEPT_NAMES) {
    if (!existsSync(placeOf(name))) writeFileSync(placeOf(name), encodeLines(await record(name)), { flag: 'wx' })
    if (!existsSync(eventsOf(name))) writeFileSync(eventsOf(name), projectAll(readRecords(name)), { flag: 'wx' })
  }
  const known = readDigests()
  const isKnown = known?.snapshotVersion === SNAPSHOT_VERSION
  const all = Object.fromEntries(listKept().map((name) => [name, digestState(readRecords(name))]))
  const states = { ...all, ...(isKnown && known.states) }
  writeFileSync(DIGESTS, `${JSON.stringify({ snapshotVersion: SNAPSHOT_VERSION, states }, null, 2)}\n`)
}

function readDigests(): Digests | undefined {
  return existsSync(DIGESTS) ? (JSON.parse(readFileSync(DIGESTS, 'utf8')) as Digests) : undefined // as written above
}

function listKept(): readonly string[] {
  const names = readdirSync(FOLDER).flatMap((file) => /^([^.]+)\.jsonl$/.exec(file)?.[1] ?? [])
  return names.toSorted()
}

if (process.env['BATON_KEEP_LOGS'] !== undefined) await keepMissing()

/** Failures of the first two tests name what is missing: `npm run keep:logs` adds it. */
test('each situation has its log, and each log its events and its digest', () => {
  const kept = listKept()
  const { snapshotVersion, states = {} } = readDigests() ?? {}
  expect(kept).toEqual(expect.arrayContaining([...KEPT_NAMES]))
  expect(kept.filter((name) => !existsSync(eventsOf(name)))).toEqual([])
  expect([snapshotVersion, Object.keys(states).toSorted()]).toEqual([SNAPSHOT_VERSION, kept])
})

/** Facts that no situation has yet; see kept-situations.ts. */
const NOT_KEPT: readonly string[] = [
  'answer-ignored',
  'child-lost',
  'client-tools-dropped',
  'decision-ignored',
  'results-moved',
  'step-salvaged',
  'summary-failed',
  'wakes-held',
]

test('each fact is in a log', () => {
  const kept = listKept().flatMap((name) => readRecords(name).flatMap(({ facts }) => facts.map(({ type }) => type)))
  const missing = Object.keys(FACTS).filter((type) => !kept.some((one) => one === type))
  expect(missing.toSorted()).toEqual(NOT_KEPT)
})

test.each(listKept())('%s folds and projects as it did when it was kept', (name) => {
  const records = readRecords(name)
  checkRecords(records)
  expect(projectAll(records)).toBe(readFileSync(eventsOf(name), 'utf8'))
  expect(digestState(records)).toBe(readDigests()?.states[name])
})
