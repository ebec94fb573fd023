// Records and snapshots: what a store keeps, with their format version.
import { BatonError } from '../errors.ts'
import type { Fact } from './fact.ts'
import { HOST_FACTS } from './fact.ts'
import type { History, HistorySnapshot } from './history.ts'
import { createHistory } from './history.ts'
import type { InputType } from './input.ts'
import { checkRecord } from './record-schema.ts'
import { isObject } from './value-checks.ts'
import type { State } from './state.ts'
import { initialState } from './state.ts'

/** Version of records. Frozen: every later Baton reads records of this version; new facts may only be added. */
export const FORMAT_VERSION = 1

/** Version of snapshots: raised with every change of a state's or a history's content. An older one is folded again from its log. */
export const SNAPSHOT_VERSION = 9

/** The stored envelope of an input: enough to tell what it was, without its content. */
export interface InputEnvelope {
  /** `offer-reached`: as `call-reached` was called in older records. */
  readonly type: InputType | 'session-opened' | 'offer-reached'
  readonly inputId?: string
  readonly callId?: string
  readonly attempt?: number
  readonly connection?: string
}

/** The facts of one input. */
export interface SessionRecord {
  readonly version: number
  readonly pos: number
  /** The session's time: deadlines are counted in it. It never goes back, and no clock that is set moves it. */
  readonly nowMs: number
  /** The wall clock, for people, where it is a second or more apart from `nowMs`. */
  readonly wallMs?: number
  readonly epoch: number
  readonly input: InputEnvelope
  readonly facts: readonly Fact[]
}

/** A log folded up to some position, from which a reader can continue. */
export interface Snapshot {
  readonly version: number
  readonly state: State
  readonly history: HistorySnapshot
}

/**
 * Checks that a record is one, field by field, and can be folded on top of `state`.
 * @throws BatonError `log_version_unknown`, `log_damaged`
 */
export function followRecord(state: Pick<State, 'pos' | 'epoch'>, record: SessionRecord): void {
  if (isObject(record) && typeof record.version === 'number') checkVersion(record.version)
  checkRecord(record)
  if (record.pos !== state.pos + 1)
    throw new BatonError({ code: 'log_damaged', message: `record ${record.pos} follows position ${state.pos}` })
  if (record.epoch < state.epoch)
    throw new BatonError({
      code: 'log_damaged',
      message: `record ${record.pos} has epoch ${record.epoch}, but epoch ${state.epoch} was seen before it`,
    })
}

/** @throws BatonError `log_version_unknown` */
export function checkVersion(version: number): void {
  if (version === FORMAT_VERSION) return
  throw new BatonError({
    code: 'log_version_unknown',
    message: `a record has format version ${version}; this Baton reads version ${FORMAT_VERSION}`,
  })
}

/**
 * Whether a session of so many records can go on from what a store gave as its snapshot. One that cannot is left out: the
 * log has what it has.
 */
export function isUsableSnapshot(value: unknown, session: string, lastPos: number): value is Snapshot {
  if (!isObject(value) || value['version'] !== SNAPSHOT_VERSION) return false
  const { state, history } = value
  if (!isLike(state, initialState(session)) || !isLike(history, createHistory().takeSnapshot())) return false
  return state['session'] === session && Number.isSafeInteger(state['pos']) && Number(state['pos']) <= lastPos
}

/** Every field is there and of the same kind; one that may be null may be anything. */
function isLike(value: unknown, model: object): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false
  return Object.entries(model).every(([name, like]) => {
    const field = value[name]
    if (like === null) return field !== undefined
    return Array.isArray(like) ? Array.isArray(field) : typeof field === typeof like && field !== null
  })
}

export function takeSnapshot(state: State, history: History): Snapshot {
  return { version: SNAPSHOT_VERSION, state, history: history.takeSnapshot() }
}

/** The canonical log: the same on every host and front for the same conversation. */
export function canonicalLog(records: readonly SessionRecord[]): readonly Fact[] {
  return records.flatMap((record) => {
    const facts = record.facts.filter((fact) => !HOST_FACTS.has(fact.type))
    return facts.map((fact) => withoutTimes(withoutBirth(fact, findBirth(records))))
  })
}

function findBirth(records: readonly SessionRecord[]): string {
  const opened = records[0]?.facts[0]
  return opened?.type === 'session-opened' ? opened.birth : ''
}

/** Ids of calls stand in many places, also in what the model is told of late results. */
function withoutBirth(fact: Fact, birth: string): Fact {
  if (birth === '') return fact
  return JSON.parse(JSON.stringify(fact).replaceAll(`call_${birth}_`, 'call_')) as Fact // the same fact, other ids
}

const VARYING: ReadonlySet<string> = new Set([
  'attempt',
  'approvalId',
  'tokenHash',
  'session',
  'birth',
  'connection',
  'broughtBy',
  'traceparent',
])
/** Fields that hold what people, models and tools said: whatever their keys are called, it belongs to the conversation. */
const CONTENT: ReadonlySet<string> = new Set(['body', 'parts', 'settlement', 'tools', 'schema', 'value', 'meta'])

/** Takes out times (`…Ms`), attempts and random tokens, at every depth but inside of content. */
function withoutTimes<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutTimes) as Value
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(
    ([key]) => !VARYING.has(key) && !(key.endsWith('Ms') && key !== 'timeoutMs'),
  )
  return Object.fromEntries(kept.map(([key, inner]) => [key, CONTENT.has(key) ? inner : withoutTimes(inner)])) as Value
}
