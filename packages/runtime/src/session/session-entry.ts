// The entry of a session in lists and the inbox, as a pure function of its state and history. A host stores it with the
// records that change it. A list has a name, and has its entries by time.
import type {
  AppendedRecords,
  EntryPlace,
  JsonObject,
  SessionEntry,
  SessionInfo,
  SessionQuery,
  WaitingApproval,
  WaitReason,
} from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { Call, DecidedBatch, Decider, History, State } from '@baton/core/machine'
import { createHistory, openTasks, waitsForAnswer } from '@baton/core/machine'
import { listApprovals } from './approvals.ts'

/** Characters of all approvals in an entry as JSON; the arguments of further ones are left out. */
const APPROVALS_CHARS = 262_144
/** Approvals in an entry; further ones are in lists once these are decided. */
export const APPROVALS_MAX = 64

export interface EntryBody {
  readonly info: SessionInfo
  readonly approvals: readonly WaitingApproval[]
}

/** Lists of sessions and of approvals, by what they have in common. */
export const LISTS = {
  sessions: (principal?: string, field?: 'agent' | 'activity', value?: string): string =>
    JSON.stringify(['sessions', principal ?? null, field ?? null, value ?? null]),
  approvals: (field?: 'principal' | 'agent' | 'tool' | 'person' | 'role' | 'others', value?: string): string =>
    JSON.stringify(['approvals', field ?? null, value ?? null]),
  /** The lists that together have every approval that this person may decide. */
  decidedBy: ({ principal, roles = [] }: Decider): readonly string[] => [
    LISTS.approvals('person', principal),
    ...roles.map((role) => LISTS.approvals('role', role)),
    LISTS.approvals('others'),
  ],
}

/**
 * `lastMs`: the wall-clock time of the newest record. `placedMs`: the session's time in its lists, at most `PLACE_MS`
 * earlier.
 */
export function createEntry(state: State, history: History, lastMs: number, placedMs = lastMs): SessionEntry {
  const info = describeSession(state, lastMs)
  const approvals = asksForApproval(state) ? cutArguments(listWaiting(state, history).slice(0, APPROVALS_MAX)) : []
  return {
    body: JSON.stringify({ info, approvals } satisfies EntryBody),
    places: [...placeSession(info, placedMs), ...placeApprovals(approvals)],
  }
}

/** Milliseconds. A shorter turn moves its session in the lists once, at its beginning. */
export const PLACE_MS = 60_000

/** Adds the entry of one session to its batches, as its only writer. */
export class EntryWriter {
  /** The session's time in its lists, once this writer has changed it. */
  #placedMs: number | undefined

  /** `history`: up to `before`; it has the calls of the batch only once they are stored. */
  addTo({ records, state }: Pick<DecidedBatch, 'records' | 'state'>, before: State, history: History): AppendedRecords {
    const last = records.at(-1)
    if (!last) return records
    if (!isListedOtherwise(before, state)) return Object.assign([...records], { entry: 'same' as const })
    let calls = history
    if (asksForApproval(state)) {
      calls = createHistory({ snapshot: history.takeSnapshot() })
      for (const record of records) calls.fold(record)
    }
    const lastMs = last.wallMs ?? last.nowMs
    const hasEnded = before.turn !== null && state.turn === null
    if (!hasEnded || Math.abs(lastMs - (this.#placedMs ?? -Infinity)) >= PLACE_MS) this.#placedMs = lastMs
    return Object.assign([...records], { entry: createEntry(state, calls, lastMs, this.#placedMs) })
  }
}

/** Reads an entry; undefined if Baton did not write it. */
export function readEntry(body: string): EntryBody | undefined {
  const parsed = parseJson(body)
  // Written by `createEntry`.
  return parsed.ok && isJsonObject(parsed.value) ? (parsed.value as unknown as EntryBody) : undefined
}

export function describeSession(state: State, lastMs: number): SessionInfo {
  const { session: id, agent, title, meta, createdMs, turn, lastTurn } = state
  const about = { id, agent, principal: { id: state.principal }, ...(title !== null && { title }), meta }
  const code = turn === null ? lastTurn?.error : undefined
  return { ...about, ...readActivity(state), ...(code !== undefined && { error: { code } }), createdMs, lastMs }
}

/** Whether it has approvals, whose arguments are in the history. */
function asksForApproval(state: State): boolean {
  return state.relayed.length > 0 || listOpen(state).some((call) => call.state === 'awaiting-approval')
}

/** The open approvals of a session and of those below it, with all that their deciders see. */
export function listWaiting(state: State, history: History): readonly WaitingApproval[] {
  const { session, agent } = state
  const asker = { session, agent, principal: { id: state.principal } }
  return listApprovals(state, history).map((one) => ({ ...one, ...asker }))
}

/** Whether lists show it differently; one more record makes no difference. */
export function isListedOtherwise(before: State, after: State): boolean {
  const { title, meta, agent, counters, turn, phase, step, tasks, relayed, attempt, retry } = before
  if (title !== after.title || meta !== after.meta || agent !== after.agent || before.pos < 0) return true
  if (counters.turn !== after.counters.turn || (turn === null) !== (after.turn === null)) return true
  const isQuiet = phase === after.phase && step === after.step && tasks === after.tasks && relayed === after.relayed
  if (isQuiet && attempt === after.attempt && retry === after.retry) return false
  return summarise(before) !== summarise(after)
}

function summarise(state: State): string {
  const { activity, waitsFor = [] } = readActivity(state)
  const asked = listOpen(state).flatMap(({ state: is, approval, given = [] }) =>
    is === 'awaiting-approval' && approval ? [approval.id, given.length] : [],
  )
  const below = state.relayed.flatMap(({ id, isDecided, asked: one }) => [id, isDecided, one?.given?.length ?? 0])
  return JSON.stringify([activity, waitsFor, asked, below])
}

const REASONS: readonly WaitReason[] = ['person', 'client', 'time', 'child']

function readActivity(state: State): Pick<SessionInfo, 'activity' | 'waitsFor'> {
  const { phase, turn, attempt, retry, relayed } = state
  if (phase === 'paused' || phase === 'stopped') return { activity: phase }
  const calls = listOpen(state)
  const reasons = new Set(calls.flatMap((call) => findReason(call) ?? []))
  for (const { type, isDecided } of relayed) if (!isDecided) reasons.add(type === 'call' ? 'client' : 'person')
  if (turn !== null && retry !== null) reasons.add('time')
  const isThinking = attempt !== null || phase === 'summarising' || phase === 'interrupting'
  const works = turn !== null && (isThinking || state.step?.calls.some(isWorking))
  if (!works && reasons.size > 0)
    return { activity: 'waiting', waitsFor: REASONS.filter((reason) => reasons.has(reason)) }
  return { activity: turn === null ? 'idle' : 'running' }
}

/** Tasks and calls of the step that are not settled. */
function listOpen(state: State): readonly Call[] {
  const calls = state.step?.calls ?? []
  const own: readonly Call[] = state.tasks.length === 0 ? calls : [...openTasks(state), ...calls]
  return own.filter((call) => call.state !== 'settled')
}

/** Finds what an open call waits for; undefined if it works. */
function findReason(call: Call): WaitReason | undefined {
  if (call.state === 'awaiting-approval' || waitsForAnswer(call)) return 'person'
  if (call.runs === 'child') return call.state === 'started' ? 'child' : undefined
  const isOffered = call.state === 'ready' || call.state === 'offered' || call.state === 'claimed'
  return call.runs === 'client' && isOffered ? 'client' : undefined
}

/** A call that waits for tasks waits for what they wait for. */
function isWorking(call: Call): boolean {
  return call.state !== 'settled' && call.operation?.type !== 'wait' && findReason(call) === undefined
}

/** Leaves out the arguments and differences that have no room. */
export function cutArguments(approvals: readonly WaitingApproval[]): readonly WaitingApproval[] {
  let left = APPROVALS_CHARS
  return approvals.map((one) => {
    const chars = JSON.stringify(one).length
    if (chars <= left) {
      left -= chars
      return one
    }
    const { diff: _, ...rest } = one
    return { ...rest, input: {} satisfies JsonObject, cut: true as const }
  })
}

/** Most sessions are idle, so the list of all serves for those; few run, so one list serves for all principals. */
function placeSession({ principal: { id }, agent, activity }: SessionInfo, placedMs: number): readonly EntryPlace[] {
  const lists = [undefined, id].flatMap((whose) => [
    LISTS.sessions(whose),
    LISTS.sessions(whose, 'agent', agent),
    ...(isPlaced(activity, whose) ? [LISTS.sessions(whose, 'activity', activity)] : []),
  ])
  return lists.map((list) => ({ list, atMs: Math.floor(placedMs), item: 0 }))
}

function isPlaced(activity: SessionInfo['activity'], whose: string | undefined): boolean {
  return activity === 'running' ? whose === undefined : activity !== 'idle'
}

/** The shortest list that has all sessions of the query. */
export function findList({ principal, agent, activity }: SessionQuery): string {
  const whose = principal?.id
  if (activity === 'running') return LISTS.sessions(undefined, 'activity', activity)
  if (activity !== undefined && activity !== 'idle') return LISTS.sessions(whose, 'activity', activity)
  return agent === undefined ? LISTS.sessions(whose) : LISTS.sessions(whose, 'agent', agent)
}

function placeApprovals(approvals: readonly WaitingApproval[]): readonly EntryPlace[] {
  return approvals.flatMap((one, item) =>
    [...new Set(listsOf(one))].map((list) => ({ list, atMs: Math.floor(one.askedMs), item })),
  )
}

function listsOf({ principal, agent, name, deciders }: WaitingApproval): readonly string[] {
  const { people = deciders ? [] : [principal.id], roles = [] } = deciders ?? {}
  return [
    LISTS.approvals(),
    LISTS.approvals('principal', principal.id),
    LISTS.approvals('agent', agent),
    LISTS.approvals('tool', name),
    ...people.map((id) => LISTS.approvals('person', id)),
    ...roles.map((role) => LISTS.approvals('role', role)),
    ...(people.length + roles.length === 0 ? [LISTS.approvals('others')] : []),
  ]
}
