// Shared parts of the store contract's cases: records, short ways to read a store, and assertions.
import type { Clock } from '../agent/environment.ts'
import type { Acquired, Store, StoredSession } from '../agent/store.ts'
import { isBatonError } from '../errors.ts'
import type { ErrorCode } from '../errors.ts'
import { createHistory } from '../machine/history.ts'
import type { SessionRecord, Snapshot } from '../machine/record.ts'
import { FORMAT_VERSION, takeSnapshot } from '../machine/record.ts'
import type { State } from '../machine/state.ts'

/** The store's own time, which changes only when a case advances it. */
export interface SteppedClock extends Clock {
  step(ms: number): void
}

export function createSteppedClock(): SteppedClock {
  let nowMs = 5_000_000
  return {
    nowMs: () => nowMs,
    step: (ms) => {
      nowMs += ms
    },
  }
}

/** The steps of a case, with its own store. */
export type StoreAct = (store: Store, clock: SteppedClock) => Promise<void>

export const A = 'session-a'

export function record(pos: number, epoch: number, text = `note ${pos}`): SessionRecord {
  const input = { type: 'user-input', inputId: `input-${pos}` } as const
  return {
    version: FORMAT_VERSION,
    pos,
    nowMs: 1000 + pos,
    epoch,
    input,
    facts: [{ type: 'note-queued', note: pos, text }],
  }
}

export function createSnapshot(state: State): Snapshot {
  return takeSnapshot(state, createHistory())
}

export function recordsFrom(pos: number, count: number, epoch: number): readonly SessionRecord[] {
  return numbers(count).map((index) => record(pos + index, epoch))
}

export function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** Ann's session, with this many records. */
export async function filled(store: Store, count: number): Promise<{ readonly epoch: number }> {
  const { epoch } = await acquired(store, A, 'ann')
  await store.append(A, epoch, -1, recordsFrom(0, count, epoch))
  return { epoch }
}

/** @throws Error if another owner holds it */
export async function acquired(store: Store, session: string, owner: string): Promise<Acquired> {
  const outcome = await store.acquire(session, owner)
  if (outcome.type === 'acquired') return outcome
  throw new Error(`the store breaks its contract: ${owner} cannot acquire ${session}: ${JSON.stringify(outcome)}`)
}

export async function readAll(store: Store, session: string, fromPos: number): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = []
  for await (const one of store.read(session, fromPos)) records.push(one)
  return records
}

export async function listed(store: Store): Promise<readonly StoredSession[]> {
  const sessions: StoredSession[] = []
  for await (const one of store.list()) sessions.push(one)
  return sessions
}

export async function positions(store: Store, session: string, fromPos: number): Promise<readonly number[]> {
  return (await readAll(store, session, fromPos)).map(({ pos }) => pos)
}

/** Overwrites everything in a value, if it is writable. */
export function deface(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  for (const [key, inner] of Object.entries(value)) {
    deface(inner)
    ;(value as Record<string, unknown>)[key] = 'defaced'
  }
}

export function isTrue(holds: boolean, claim: string): void {
  if (!holds) throw new Error(`the store breaks its contract: ${claim}`)
}

export function equal(actual: unknown, expected: unknown, what: string): void {
  isTrue(Object.is(actual, expected), `${what} is ${String(actual)}, not ${String(expected)}`)
}

export function same(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  isTrue(is === should, `${what}: ${is?.slice(0, 300)}, not ${should?.slice(0, 300)}`)
}

/** @param code expected code; any error if undefined @param words expected part of the message */
export async function refuses(work: Promise<unknown>, code: ErrorCode | undefined, words = ''): Promise<void> {
  const failure: unknown = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  isTrue(failure !== undefined, `it takes what it must refuse${code ? ` with ${code}` : ''}`)
  if (code) isTrue(isBatonError(failure) && failure.code === code, `it refuses with ${code}, not ${String(failure)}`)
  isTrue(String(failure).includes(words), `its refusal says "${words}", not ${String(failure)}`)
}
