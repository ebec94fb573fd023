// Reads the logs of a session and of its delegated calls for each other, on a worker. It reads from the store, so a signal carries
// nothing that a run could still lose.
import { isBatonError } from '@baton/core'
import type { Logger } from '@baton/core/internal'
import type { Child, Fact, SessionRecord, State } from '@baton/core/machine'
import { findCall, findChild, restsAsChild } from '@baton/core/machine'
import type { SessionEngine } from '@baton/runtime'
import {
  describeChild,
  describeOpeningFailure,
  describeThrown,
  findMismatch,
  hideSecrets,
  readReported,
  readEachTime,
  readTold,
  shortenReported,
} from '@baton/runtime'
import type { Identity, News, ReportJob, Reporting, TellJob, Telling } from '../contract.ts'
import type { Place, Places } from './places.ts'

export interface LanesPlace {
  readonly places: Places
  readonly log: Logger
  /** The session, whose log has all that the job knows. */
  readonly place: Place
}

/** Reads what the caller's log says to a child. @throws BatonError to try again */
export async function readTelling(init: LanesPlace, job: TellJob): Promise<Telling> {
  const { callId, opens, compares, from } = job
  const parent = init.place.view.replica
  const entry = findChild(parent.state(), callId)
  if (!entry) return {}
  let child: Identity
  try {
    child = identifyChild(parent, entry, job.identity)
    if (opens || compares) return await openChild(init, { parent, entry, child, from, opens })
  } catch (cause) {
    const input = describeFailure(init, entry, cause)
    if (!input) throw cause
    return { input }
  }
  const open = (): Promise<SessionEngine> => enterChild(init, child, entry)
  const told = await readTold(readEachTime(parent), { callId, began: entry.began, from, open })
  return { child, ...(told && { told }) }
}

interface Opening {
  readonly parent: SessionEngine
  readonly entry: Child
  readonly child: Identity
  /** How far the child has read, if it is running. */
  readonly from: number
  readonly opens: boolean
}

async function openChild({ places }: LanesPlace, { parent, entry, child, from, opens }: Opening): Promise<Telling> {
  const { view, leave } = await places.enter(child)
  try {
    const engine = view.replica
    // It may have been written by another worker.
    await view.refresh()
    const isNew = engine.state().pos < 0
    const { callId } = entry
    if (isNew && entry.pos >= 0)
      return { input: { type: 'child-lost', callId, code: 'child_lost', message: 'its log is gone' } }
    const lost = isNew ? undefined : await findMismatch(engine, entry, parent)
    if (lost) return { input: { type: 'child-lost', callId, ...lost } }
    const known = opens ? (engine.state().parent?.pos ?? -1) : from
    const told = await readTold(readEachTime(parent), {
      callId,
      began: entry.began,
      from: known,
      open: () => Promise.resolve(engine),
    })
    return { child, toldTo: known, ...(told && { told }) }
  } finally {
    leave()
  }
}

/** Milliseconds to wait for records of the other log that were read before. */
const REACH_MS = 2000

/** Enters the session of a child up to what its caller has read. */
async function enterChild({ places }: LanesPlace, child: Identity, { pos }: Child): Promise<SessionEngine> {
  const { view, leave } = await places.enter(child)
  try {
    await view.reach(pos, REACH_MS)
    return view.replica
  } finally {
    leave()
  }
}

/** @throws BatonError `tool_gone`, `invalid_tool` */
function identifyChild(parent: SessionEngine, entry: Child, caller: Identity): Identity {
  const { name: session, place } = describeChild(parent, entry)
  const rootBirth = caller.child?.rootBirth ?? parent.state().birth
  return { session, principal: caller.principal, agent: entry.agent, meta: {}, child: { place, caller, rootBirth } }
}

function describeFailure({ log, place }: LanesPlace, entry: Child, cause: unknown): Telling['input'] {
  const code = isBatonError(cause) ? cause.code : 'internal'
  const message = hideSecrets(describeThrown(cause), place.world.secrets)
  log.warn('the session of a delegated call cannot be opened', {
    session: place.view.replica.session,
    callId: entry.callId,
    cause: message,
  })
  return describeOpeningFailure(entry, code, message)
}

/** Reads what a child's log says to its caller. */
export async function readReporting({ place }: LanesPlace, { from, identity }: ReportJob): Promise<Reporting> {
  const child = place.view.replica
  const caller = identity.child?.caller.session
  const { callId } = child.state().parent ?? {}
  if (callId === undefined || caller === undefined) return {}
  const input = await readReported(readEachTime(child), { callId, from })
  return input ? { input: await shortenReported(input, { session: caller, world: place.world }) } : {}
}

/** Facts of requests: new ones, and withdrawals. */
const ASKS: ReadonlySet<Fact['type']> = new Set<Fact['type']>([
  'approval-requested',
  'question-asked',
  'call-offered',
  'request-relayed',
  'request-withdrawn',
])

interface Decision {
  readonly state: State
  readonly records: readonly SessionRecord[]
}

/** Whether the caller of this session must hear of a decision; undefined for other sessions, and if it need not. */
export function findNews(before: State, { state, records }: Decision): News | undefined {
  const { parent } = state
  if (!parent || records.length === 0) return undefined
  const known = before.parent
  const waits = (of: State): boolean => of.turn !== null && of.turn.deadline === null
  const isUrgent =
    parent.acted !== known?.acted ||
    waits(state) !== waits(before) ||
    parent.untrusted !== known.untrusted ||
    restsAsChild(state) ||
    records.some(({ facts }) => facts.some((fact) => ASKS.has(fact.type) || closesRequest(before, fact)))
  if (isUrgent) return 'now'
  return parent.spent !== known.spent || parent.did !== known.did ? 'later' : undefined
}

/** Whether a fact ends what the caller was asked. */
function closesRequest(before: State, fact: Fact): boolean {
  if (!('callId' in fact) || 'via' in fact) return false
  if (fact.type === 'question-answered') return true
  if (fact.type !== 'call-settled' && fact.type !== 'approval-decided' && fact.type !== 'call-taken-over') return false
  const call = findCall(before, fact.callId)
  if (!call) return false
  const { state, questions } = call
  return state === 'awaiting-approval' || state === 'offered' || state === 'claimed' || questions.length > 0
}
