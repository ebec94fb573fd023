// Records and snapshots: the contents of a store, with their format version.
import { BatonError } from '../errors.ts'
import * as s from '../shape/shape.ts'
import type { Fact } from './fact.ts'
import { createUnknownFactError, FACT_SHAPES, HOST_FACTS } from './fact.ts'
import type { History, HistorySnapshot } from './history.ts'
import { createHistory } from './history.ts'
import type { InputType } from './input.ts'
import type { State } from './state.ts'
import { initialState } from './state.ts'

/** Version of records. Frozen: every later Baton reads records of this version; facts may only be added. */
export const FORMAT_VERSION = 1

/**
 * Version of snapshots, raised with every change of a state's or a history's content. Older ones are folded again from
 * the log.
 */
export const SNAPSHOT_VERSION = 22

/** The stored envelope of an input: enough to identify it, without its content. */
export interface InputEnvelope {
  /** `offer-reached`: the name of `call-reached` in older records. */
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
  /** Session time, which deadlines use. It never goes back, and setting a clock does not move it. */
  readonly nowMs: number
  /** The wall clock, for people, if it differs from `nowMs` by a second or more. */
  readonly wallMs?: number
  /** Wall-clock time at which a host has to open the session, if this record changes it; null: none. */
  readonly dueMs?: number | null
  readonly epoch: number
  readonly input: InputEnvelope
  readonly facts: readonly Fact[]
}

/** A log folded up to a position, from which a reader can continue. */
export interface Snapshot {
  readonly version: number
  readonly state: State
  readonly history: HistorySnapshot
}

/**
 * Checks that a value is a record, field by field, and can be folded on top of `state`.
 * @throws BatonError `log_version_unknown`, `log_damaged`
 */
export function followRecord(state: Pick<State, 'pos' | 'epoch'>, record: SessionRecord): void {
  if (s.isObject(record) && typeof record.version === 'number') checkVersion(record.version)
  checkRecord(record)
  if (record.pos !== state.pos + 1)
    throw new BatonError({ code: 'log_damaged', message: `record ${record.pos} follows position ${state.pos}` })
  if (record.epoch < state.epoch)
    throw new BatonError({
      code: 'log_damaged',
      message: `record ${record.pos} has epoch ${record.epoch}, but an earlier record has epoch ${state.epoch}`,
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
 * Whether a session with this many records can continue from a store's snapshot. An unusable one is ignored: the log
 * has everything.
 */
export function isUsableSnapshot(value: unknown, session: string, lastPos: number): value is Snapshot {
  if (!s.isObject(value) || value['version'] !== SNAPSHOT_VERSION) return false
  const { state, history } = value
  if (!isLike(state, initialState(session)) || !isLike(history, createHistory().takeSnapshot())) return false
  return state['session'] === session && Number.isSafeInteger(state['pos']) && Number(state['pos']) <= lastPos
}

/** Whether every field exists and is of the same kind; a field that may be null may be anything. */
function isLike(value: unknown, model: object): value is Readonly<Record<string, unknown>> {
  if (!s.isObject(value)) return false
  return Object.entries(model).every(([name, like]) => {
    const field = value[name]
    if (like === null) return field !== undefined
    return Array.isArray(like) ? Array.isArray(field) : typeof field === typeof like && field !== null
  })
}

export function takeSnapshot(state: State, history: History): Snapshot {
  return { version: SNAPSHOT_VERSION, state, history: history.takeSnapshot() }
}

const RecordHead = s.fields({
  version: s.count,
  pos: s.count,
  nowMs: s.date,
  dueMs: s.optional(s.nullable(s.date)),
  epoch: s.count,
  input: s.fields({
    type: s.text,
    inputId: s.optional(s.text),
    callId: s.optional(s.text),
    attempt: s.optional(s.count),
    connection: s.optional(s.text),
  }),
  facts: s.list(s.fields({ type: s.text })),
})

/**
 * Checks anything that was stored or comes from elsewhere before it is folded. An unknown fact is from a newer Baton.
 * @throws BatonError `log_damaged` (the field, and its fault), `log_version_unknown` (a fact of a newer version)
 */
export function checkRecord(value: unknown): asserts value is SessionRecord {
  const pos = s.isObject(value) ? value['pos'] : undefined
  const where = Number.isSafeInteger(pos) ? `record ${String(pos)}` : 'a record'
  const refuse = (issue: string | undefined): void => {
    if (issue === undefined) return
    const message = `${where} is not a record: ${issue.replace(/^\./, '').trim()}`
    throw new BatonError({ code: 'log_damaged', message })
  }
  refuse(RecordHead.check(value))
  const { facts } = value as SessionRecord // of this form, apart from the facts' content
  for (const [index, fact] of facts.entries()) {
    const shape = FACT_SHAPES.get(fact.type)
    if (!shape) throw createUnknownFactError(fact, where)
    const issue = shape.check(fact)
    refuse(issue && `facts[${index}] (${fact.type})${issue}`)
  }
}

/** Maximum epoch of a foreign record: a store counts on from the largest epoch, and must not run out of numbers. */
const FOREIGN_EPOCH_MAX = 2 ** 40

/**
 * Validates foreign records (an import, another store) before a store accepts them. Their epochs are at most 2^40.
 * @throws BatonError `log_damaged`, `log_version_unknown`
 */
export function checkRecords(values: readonly unknown[]): asserts values is readonly SessionRecord[] {
  for (const value of values) {
    checkRecord(value)
    const { pos, epoch } = value
    if (epoch > FOREIGN_EPOCH_MAX)
      throw new BatonError({
        code: 'log_damaged',
        message: `record ${pos} has epoch ${epoch}; a record from elsewhere may have at most ${FOREIGN_EPOCH_MAX}`,
      })
  }
}

/**
 * Validates a foreign log, which a store takes as a whole: its records stand at the positions 0, 1, 2 and so on.
 * @throws BatonError `log_damaged`, `log_version_unknown`
 */
export function checkWholeLog(values: readonly unknown[]): asserts values is readonly SessionRecord[] {
  checkRecords(values)
  for (const [index, { pos }] of values.entries())
    if (pos !== index)
      throw new BatonError({
        code: 'log_damaged',
        message: `the log has record ${pos} in the place of record ${index}`,
      })
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

/** Call ids occur in many places, including notes about late results. */
function withoutBirth(fact: Fact, birth: string): Fact {
  if (birth === '') return fact
  return JSON.parse(JSON.stringify(fact).replaceAll(`call_${birth}_`, 'call_')) as Fact // the same fact with other ids
}

const VARYING: ReadonlySet<string> = new Set([
  'attempt',
  'approvalId',
  'tokenHash',
  'session',
  'birth',
  'root',
  'connection',
  'broughtBy',
  'traceparent',
])
/** Fields that hold words of people, models and tools: whatever their keys, they belong to the conversation. */
const CONTENT: ReadonlySet<string> = new Set(['body', 'parts', 'settlement', 'tools', 'schema', 'value', 'meta'])

/** Removes times (`…Ms`), attempts and random tokens at every depth, except inside content. */
function withoutTimes<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutTimes) as Value
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(
    ([key]) => !VARYING.has(key) && !(key.endsWith('Ms') && key !== 'timeoutMs'),
  )
  return Object.fromEntries(kept.map(([key, inner]) => [key, CONTENT.has(key) ? inner : withoutTimes(inner)])) as Value
}
