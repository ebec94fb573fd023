// Policy as a local activity: its decisions are recorded, so that another policy does not affect running sessions.
import type { Clock, JsonValue, Tool } from '@baton/core/internal'
import { BatonError, CHILD_PREFIX, parseJson } from '@baton/core/internal'
import type { HostReport, Input, SessionRecord, State } from '@baton/core/machine'
import {
  applyRecord,
  createHistory,
  decideBatch,
  effectKey,
  findCall,
  followRecord,
  initialState,
  openSession,
  outstanding,
  readGiven,
} from '@baton/core/machine'
import type { SessionWorld } from '@baton/runtime'
import { describeDue, isWorkEffect, performTool } from '@baton/runtime'
import type {
  ChildIdentity,
  Decided,
  DecideJob,
  ForeignFinished,
  Identity,
  Opened,
  OpenJob,
  ReminderPassed,
  SearchField,
  WorkPlan,
} from '../contract.ts'
import { mayOutlive, TASK_PREFIX } from '../task-workflow.ts'
import type { SessionLog } from '../session-view.ts'
import { findForeignWork } from '../temporal-tool.ts'
import { findNews } from './lanes.ts'
import type { Places } from './places.ts'

export interface WorkAbout {
  readonly agent: string
  /** The tool's name; absent for a model call. */
  readonly tool?: string
}

export interface WorkTimes {
  /** A task queue other than the session's. */
  readonly taskQueue?: string
  /**
   * Milliseconds; the machine's own deadlines settle a call earlier. Default: seven days for a tool, a day for a model
   * call.
   */
  readonly startToCloseMs?: number
  /** Milliseconds without a heartbeat until the work counts as lost. Default: 10,000. */
  readonly heartbeatMs?: number
}

export interface DecisionOptions {
  readonly places: Places
  readonly store: SessionLog
  readonly searchFields: readonly SearchField[]
  readonly timesOf: ((about: WorkAbout) => WorkTimes | undefined) | undefined
  /** For the birth of a log. */
  readonly newId: () => string
  readonly clock: Clock
}

const DAY_MS = 86_400_000
const MODEL_MS = DAY_MS
const TOOL_MS = 7 * DAY_MS
const HEARTBEAT_MS = 10_000
/** Milliseconds that a custom activity has beyond its tool's time-out. */
const GRACE_MS = 10_000

/** @throws BatonError `invalid_agent`, `store_failed`, `log_damaged` */
export async function openLog(init: DecisionOptions, { identity, nowMs }: OpenJob): Promise<Opened> {
  const { places, store, searchFields, newId, clock } = init
  const { session, principal } = identity
  checkName(identity)
  let state = initialState(session)
  for await (const record of store.read(session, 0)) {
    followRecord(state, record)
    state = applyRecord(state, record)
  }
  if (state.pos >= 0) {
    if (identity.child) checkPlace(state, identity.child)
    return { state, records: [], searchFields }
  }
  const { spec } = await places.findWorld(identity)
  const child = identity.child?.place
  const birth = newId()
    .replace(/[^a-zA-Z0-9]/g, '')
    .slice(0, 8)
  const opening = { session, birth, principal, spec, nowMs: nowMs ?? clock.nowMs(), epoch: 1 }
  return { records: [openSession({ ...opening, ...(child && { child }) })], searchFields }
}

/**
 * A program may start a workflow under any id; the ids of calls are known to clients.
 * @throws BatonError `illegal_input` for a session that has the name of a child or of a task, and is none
 */
function checkName({ session, child }: Identity): void {
  const prefix = [CHILD_PREFIX, TASK_PREFIX].find((one) => session.startsWith(one))
  if (prefix === undefined || child) return
  throw new BatonError({
    code: 'illegal_input',
    message: `the workflow id ${session} is reserved: ids with ${prefix} belong to calls of other sessions`,
    hint: 'Give the workflow another id.',
  })
}

/** @throws BatonError `child_lost` for the log of another session */
function checkPlace({ session, parent }: State, { place }: ChildIdentity): void {
  const isOwn = parent?.session === place.session && parent.birth === place.birth && parent.callId === place.callId
  if (isOwn) return
  throw new BatonError({ code: 'child_lost', message: `session ${session} does not belong to call ${place.callId}` })
}

/** @throws BatonError `invalid_agent`, `store_failed` */
export async function decideInputs(init: DecisionOptions, job: DecideJob): Promise<Decided> {
  const { state, nowMs, underWay } = job
  const world = await init.places.findWorld(job.identity)
  const inputs: Input[] = []
  for (const input of job.inputs)
    if (input.type === 'foreign-finished') inputs.push(await readForeign(world, state, input))
    else inputs.push(input.type === 'reminder-passed' ? await readPassed(state, input, nowMs) : input)
  const batch = decideBatch({ spec: world.spec, state, nowMs, wallMs: init.clock.nowMs() }, inputs)
  const known = new Set(underWay)
  const owed = outstanding(batch.state).filter(isWorkEffect)
  const plans: Record<string, WorkPlan> = {}
  for (const effect of owed) {
    const key = effectKey(effect)
    if (known.has(key)) continue
    plans[key] =
      effect.type === 'run-tool'
        ? await planTool(init, world, {
            job,
            callId: effect.callId,
            attempt: effect.attempt,
            state: batch.state,
            records: batch.records,
          })
        : { runs: 'model', ...timesOf(init, { agent: world.agent.name }, MODEL_MS) }
  }
  const epochs = new Map([...job.recent, ...batch.records].map(({ pos, epoch }) => [pos, epoch]))
  const answers = batch.answers.map((answer) => {
    const epoch = answer.type === 'accepted' ? epochs.get(answer.pos) : undefined
    return epoch === undefined ? answer : { ...answer, epoch }
  })
  const news = findNews(state, batch)
  return { records: batch.records, answers, plans, ...(news && { news }) }
}

function timesOf(
  { timesOf: ask }: DecisionOptions,
  about: WorkAbout,
  longestMs: number,
): WorkTimes & { readonly startToCloseMs: number } {
  const { taskQueue, startToCloseMs = longestMs, heartbeatMs = HEARTBEAT_MS } = ask?.(about) ?? {}
  return { startToCloseMs, heartbeatMs, ...(taskQueue !== undefined && { taskQueue }) }
}

interface ToolRun {
  readonly job: DecideJob
  readonly callId: string
  readonly attempt: number
  readonly state: State
  readonly records: readonly SessionRecord[]
}

async function planTool(init: DecisionOptions, world: SessionWorld, run: ToolRun): Promise<WorkPlan> {
  const { callId, attempt, state } = run
  const name = findCall(state, callId)?.name ?? ''
  const outlives = mayOutlive(state, callId) && { outlives: true as const }
  const times = { ...timesOf(init, { agent: world.agent.name, tool: name }, TOOL_MS), ...outlives }
  const tool = world.tools.find((one) => one.name === name)
  const foreign = tool && findForeignWork(tool)
  if (!tool || !foreign) return { runs: 'tool', ...times }
  const { session } = state
  const text = await findArguments(init, run)
  const parsed = parseJson(tool.background === 'model' ? readGiven(text, true) : text)
  const context = { session, callId, attempt, idempotencyKey: `${session}/${callId}` }
  return {
    runs: foreign.runs,
    type: foreign.type,
    name,
    args: [parsed.ok ? parsed.value : {}, context],
    attempts: tool.effect === 'once' ? 1 : (foreign.attempts ?? 1),
    // The machine has settled the call by then, so the work need not continue.
    startToCloseMs: Math.min(tool.timeoutMs + GRACE_MS, times.startToCloseMs),
    ...(foreign.heartbeatMs !== undefined && { heartbeatMs: foreign.heartbeatMs }),
    ...(foreign.taskQueue !== undefined && { taskQueue: foreign.taskQueue }),
    ...outlives,
  }
}

/**
 * Finds a call's arguments in its step's record: among those just decided, those on their way to the log, or in the
 * log.
 */
async function findArguments({ store }: DecisionOptions, { job, callId, records }: ToolRun): Promise<string> {
  const history = createHistory()
  let pos = -1
  for await (const record of store.read(job.identity.session, 0)) {
    if (record.pos > job.state.pos) break
    history.fold(record)
    pos = record.pos
  }
  for (const record of [...job.recent, ...records]) if (record.pos > pos) history.fold(record)
  return history.openCall(callId)?.arguments ?? '{}'
}

/** Calendars and time zones are not the workflow's. A reminder that was replaced meanwhile has no effect. */
async function readPassed(
  { reminders }: State,
  { reminder, dueMs }: ReminderPassed,
  nowMs: number,
): Promise<HostReport> {
  const passed = reminders.find((one) => one.reminder === reminder && one.dueMs === dueMs)
  return passed ? await describeDue(passed, nowMs) : { type: 'reminder-due', reminder, dueMs, told: { due: '' } }
}

/**
 * Turns the outcome into a report like that of an agent's tool: checked by its schema, limited, with long texts stored
 * separately.
 */
async function readForeign(world: SessionWorld, state: State, ended: ForeignFinished): Promise<HostReport> {
  const { callId, attempt, name, value, failure } = ended
  const call = findCall(state, callId)
  const execute = (): JsonValue => {
    if (failure !== undefined) throw new BatonError({ code: 'tool_failed', message: failure })
    return value ?? null
  }
  const tools = world.tools.map((tool): Tool => (tool.name === name ? { ...tool, execute } : tool))
  const { session, principal } = state
  const job = {
    session,
    principal,
    turn: state.turn?.turn ?? 0,
    toEntry: state.counters.entry,
    callId,
    attempt,
    name: call?.name ?? name,
    arguments: '{}',
    models: [],
  }
  const io = {
    history: { messages: () => [], untrusted: () => [] }, // its tool has run elsewhere
    cancellation: new AbortController(),
    isClosed: () => false,
    live: () => {},
    plan: () => {},
    used: () => {},
    ask: () => Promise.reject(new BatonError({ code: 'cancelled', message: 'its tool has ended' })),
  }
  // Its arguments were validated when the model wrote them.
  const validated = { take: () => ({ value: {} }) } as unknown as SessionWorld['validated']
  const report = await performTool({ ...world, tools, validated }, job, io)
  return report ?? { type: 'work-lost', work: { type: 'tool', callId, attempt } }
}
