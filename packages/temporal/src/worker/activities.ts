// A worker's activities: decisions, model calls, tools, and publishing records to the log.
import type { Session } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import { addUsage } from '@baton/core/internal'
import type { Fact, SessionRecord, HostReport } from '@baton/core/machine'
import { effectKey, outstanding, TASK_INPUT } from '@baton/core/machine'
import type { Notices, Work } from '@baton/runtime'
import { createSession, performEffect, performModel, performTool, readOpening } from '@baton/runtime'
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import { setTimeout as wait } from 'node:timers/promises'
import type {
  BatonActivities,
  GoalResult,
  LaneJob,
  Opened,
  OpenJob,
  PublishedUnder,
  ResultJob,
  WorkJob,
} from '../contract.ts'
import { NOT_BEGUN, GOAL_INPUT } from '../contract.ts'
import type { LiveBus } from '../live/live-bus.ts'
import { EVERY_SESSION } from '../live/live-bus.ts'
import { checkNotRemoved } from '../removed-sessions.ts'
import type { SessionLog } from '../session-view.ts'
import type { DecisionOptions } from './decide.ts'
import { decideInputs, openLog } from './decide.ts'
import { readReporting, readTelling } from './lanes.ts'
import { LiveWriter } from './live-writer.ts'
import type { Place, Places } from './places.ts'
import type { CallView, Logger, SessionEventOf, Usage } from '@baton/core/internal'

export interface ActivitiesOptions extends DecisionOptions {
  readonly places: Places
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
  /** Hear of all records that reach the log. */
  readonly notices: Pick<Notices, 'begin' | 'noteStored' | 'settled'>
}

/** Characters of records, as JSON, that are announced with their content; longer ones are read from the log. */
const ANNOUNCED_CHARS = 128 * 1024
/** Milliseconds that an activity waits for the log to accept or contain the records it needs before it begins. */
const BEGIN_MS = 10_000
const LANE_BEGIN_MS = 5000
/** Milliseconds between heartbeats; the SDK forwards fewer to the service. */
const BEAT_MS = 1000
/** Milliseconds that the end of a tool waits for its reported plans. */
const REPORT_MS = 5000
/** Milliseconds for aborted work to end before it is abandoned. */
const ABORT_MS = 5000

export function createActivities(init: ActivitiesOptions): BatonActivities {
  return {
    'baton.open': (job) => tellFailure(() => open(init, job)),
    'baton.decide': (job) => tellFailure(() => decideInputs(init, job)),
    'baton.publish': ({ session, records, under }) => beatWhile(() => putRecords(init, session, records, under)),
    'baton.result': (job) => beatWhile(() => readGoalResult(init.places, job)),
    'baton.model': (job) => performWork(init, job),
    'baton.tool': (job) => performWork(init, job),
    'baton.tell': (job) => onPlace(init, job, (place) => readTelling({ ...init, place }, job)),
    'baton.report': (job) => onPlace(init, job, (place) => readReporting({ ...init, place }, job)),
  }
}

/** A run that was terminated may have left notices that the outbox does not know of. */
async function open(init: ActivitiesOptions, job: OpenJob): Promise<Opened> {
  const opened = await openLog(init, job)
  const { session, child } = job.identity
  if (!opened.state || child) return opened
  await init.notices.begin(session, opened.state.pos + 1)
  if ((await init.notices.settled(session)) === false)
    throw new BatonError({ code: 'store_failed', message: `the notices of session ${session} could not be noted` })
  return opened
}

/** Acts on a session whose log has all that the job knows: a local activity, which has less time and no heartbeat. */
async function onPlace<Value>(
  init: ActivitiesOptions,
  job: LaneJob,
  act: (place: Place) => Promise<Value>,
): Promise<Value> {
  const place = await begin(init, job, LANE_BEGIN_MS)
  try {
    return await tellFailure(() => act(place))
  } finally {
    place.leave()
  }
}

/** Uses the error's code as the failure's type. Some failures, such as a missing agent, cannot be fixed by retrying. */
async function tellFailure<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act()
  } catch (cause) {
    if (!isBatonError(cause)) throw cause
    const { code: type, message, hint } = cause
    const nonRetryable = FINAL_CODES.includes(type)
    throw ApplicationFailure.create({ type, message: `${message}. ${hint}`, nonRetryable })
  }
}

/** Sends heartbeats while it acts, so that a slow store does not look like a dead worker. */
async function beatWhile<Value>(act: () => Promise<Value>): Promise<Value> {
  const beat = setInterval(() => heartbeat(), BEAT_MS)
  try {
    return await tellFailure(act)
  } finally {
    clearInterval(beat)
  }
}

/** Codes that retrying cannot fix. `store_conflict`: another writer has the log. */
const FINAL_CODES: readonly string[] = [
  'invalid_agent',
  'log_damaged',
  'log_version_unknown',
  'store_conflict',
  'child_lost',
  'illegal_input',
]

/** An activity that dies in the middle is repeated with the same records. */
async function putRecords(
  { store, bus, notices }: Pick<ActivitiesOptions, 'store' | 'bus' | 'notices'>,
  session: string,
  records: readonly SessionRecord[],
  under: PublishedUnder | undefined,
): Promise<void> {
  const last = records.at(-1)
  if (!last) return
  await store.put(session, records, under && { root: under.root })
  await checkNotRemoved(store, session, records, under)
  const isShort = JSON.stringify(records).length <= ANNOUNCED_CHARS
  bus.publish(session, isShort ? { type: 'records', records } : { type: 'pos', pos: last.pos })
  // A child is in no list.
  const isListedOtherwise = !under && records.some(({ facts }) => facts.some(({ type }) => LISTED.has(type)))
  if (isListedOtherwise) bus.publish(EVERY_SESSION, { type: 'listed', session })
  if (!under) await notices.noteStored(session, records) // the root tells what its children ask
}

/** Facts that change a session's entry in lists. */
const LISTED: ReadonlySet<string> = new Set<Fact['type']>([
  'session-opened',
  'session-described',
  'session-paused',
  'session-continued',
  'session-stopped',
  'session-started',
  'turn-started',
  'turn-finished',
  'approval-requested',
  'approval-given',
  'approval-decided',
  'request-relayed',
  'request-withdrawn',
])

/** Returns `undefined` if there is nothing to report. @throws ApplicationFailure of type `baton.not_begun` */
async function performWork(init: ActivitiesOptions, job: WorkJob): Promise<HostReport | undefined> {
  const place = await beatWhile(() => begin(init, job))
  try {
    return await perform(init, job, place)
  } finally {
    place.leave()
  }
}

async function begin(init: ActivitiesOptions, job: LaneJob, beginMs = BEGIN_MS): Promise<Place> {
  const { identity, records, pos } = job
  const { child } = identity
  const under = child && { root: child.place.root, birth: child.rootBirth }
  const untilMs = performance.now() + beginMs
  for (;;) {
    let place: Place | undefined
    try {
      await putRecords(init, identity.session, records, under)
      place = await init.places.enter(identity)
      place.view.take(records)
      await place.view.reach(pos, Math.max(1, untilMs - performance.now()))
      await checkBirth(init, job, place)
      await place.view.completeHistory()
      return place
    } catch (cause) {
      place?.leave()
      const message = cause instanceof Error ? cause.message : String(cause)
      if (isBatonError(cause) && cause.code === 'store_conflict')
        throw ApplicationFailure.nonRetryable(message, cause.code)
      if (performance.now() > untilMs || cancellationSignal().aborted)
        throw ApplicationFailure.create({ type: NOT_BEGUN, message: `it could not start: ${message}` })
      await wait(200)
    }
  }
}

/**
 * Checks that the session known here is the job's, and not another one of its name.
 * @throws BatonError `store_conflict` if the job's session was removed, `store_failed` if the known one was
 */
async function checkBirth({ store }: ActivitiesOptions, { identity, birth }: LaneJob, place: Place): Promise<void> {
  const { session } = identity
  if (birth === undefined || place.view.replica.state().birth === birth) return
  const stored = await readOpening(store, session)
  if (stored && stored.birth !== birth)
    throw new BatonError({ code: 'store_conflict', message: `session ${session} was removed, and started again` })
  place.forget()
  throw new BatonError({ code: 'store_failed', message: `session ${session} was started again` })
}

async function perform(
  { bus, log }: ActivitiesOptions,
  job: WorkJob,
  { view, world }: Place,
): Promise<HostReport | undefined> {
  const { effect } = job
  const { replica } = view
  const key = effectKey(effect)
  const cancellation = new AbortController()
  const writer = new LiveWriter(bus, job.identity.session, effect.type === 'call-model' ? effect.attempt : undefined)
  let isOver = false
  /** Reported plans, which the final report must not overtake. */
  const reports = new Set<Promise<unknown>>()
  const cancelled = Promise.withResolvers<undefined>()
  // A failing model call aborts the signal too.
  let isCancelled = false
  let outliving: Promise<void> | undefined
  const cancel = (): void => {
    isCancelled = true
    cancellation.abort()
    cancelled.resolve(undefined)
  }
  const signal = cancellationSignal() // aborted already if the activity was cancelled while it began
  const cancelIfOver = (): void => {
    if (signal.aborted || !outstanding(replica.state()).some((owed) => effectKey(owed) === key)) cancel()
  }
  // An interrupt arrives with its record; the service's own cancellation takes as long as a heartbeat.
  const stopListening = view.onRecords(cancelIfOver)
  signal.addEventListener('abort', cancel, { once: true })
  const beat = setInterval(() => heartbeat({ said: writer.said.slice(0, SAID_MAX) }), BEAT_MS)
  try {
    heartbeat({ said: '' })
    cancelIfOver()
    const working = performEffect(effect, {
      work: createWork(world),
      state: replica.state(),
      history: replica.history(),
      cancellation,
      questions: replica.questions,
      isClosed: () => false,
      outlive: (settled) => void (outliving = settled),
      live: (frame) => {
        if (!cancellation.signal.aborted && !isOver) writer.write(frame)
      },
      report: (report) => {
        const reporting = replica.submit([report]).catch(() => {})
        reports.add(reporting)
        void reporting.finally(() => reports.delete(reporting))
      },
    })
    if (effect.type === 'run-tool') {
      const report = await Promise.race([working, cancelled.promise.then(waitForEnd)])
      if (reports.size > 0) await Promise.race([Promise.all(reports), wait(REPORT_MS, undefined, { ref: false })])
      return dropIfShutDown(report, signal)
    }
    const report = await Promise.race([working, cancelled.promise])
    // The session's next model call waits for the end of this activity.
    if (outliving) await Promise.race([outliving, waitForEnd()])
    if (!isCancelled) return report
    dropIfShutDown(report, signal)
    return { type: 'model-stopped', attempt: effect.attempt, text: writer.said }
  } finally {
    isOver = true
    clearInterval(beat)
    stopListening()
    signal.removeEventListener('abort', cancel)
    writer.flush()
    log.info('work has ended', { session: job.identity.session, work: key, activity: activityInfo().activityId })
  }
}

function createWork(world: Place['world']): Work {
  return {
    model: (job, io) => performModel(world, job, io),
    tool: (job, io) => performTool(world, job, io),
  }
}

/** Waits as long as aborted work may take to end. */
function waitForEnd(): Promise<undefined> {
  return wait(ABORT_MS, undefined, { ref: false })
}

/** UTF-16 units of the text so far in a heartbeat. */
const SAID_MAX = 65_536

/** Work that ends because its worker shuts down is lost, and repeated if allowed. @throws ApplicationFailure */
function dropIfShutDown(report: HostReport | undefined, signal: AbortSignal): HostReport | undefined {
  const reason = signal.aborted && signal.reason instanceof Error ? signal.reason.message : ''
  const hasFailed = report?.type === 'tool-finished' && report.outcome.type === 'error' // it was told to stop
  if ((report === undefined || hasFailed) && reason === 'WORKER_SHUTDOWN')
    throw ApplicationFailure.create({ type: 'baton.worker_shutdown', message: 'the worker was shut down' })
  return report
}

/**
 * Reads the result of a goal from its session's events, as any front would: of the last turn that the goal or its tasks
 * began.
 * @throws BatonError `store_failed`, `invalid_agent`
 */
async function readGoalResult(places: Places, { identity, pos = -1 }: ResultJob): Promise<GoalResult> {
  const place = await places.enter(identity)
  const { session: id, principal } = identity
  const newId = (): string => id // no input is sent
  const fork = (): Promise<string> => Promise.resolve(id)
  const session = createSession({
    engine: place.view.replica,
    principal: { id: principal },
    newId,
    wallMs: () => 0,
    onClose: () => {},
    fork,
  })
  try {
    await place.view.reach(pos, BEGIN_MS)
    const { calls, finished, usage } = await readGoalTurns(session)
    if (!finished) throw new Error(`the turn of goal ${id} has not ended`)
    const { stop, text, error } = finished
    const output = stop === 'end' && place.world.output ? await place.world.output.read(text) : undefined
    return {
      session: id,
      stop,
      text,
      ...(output !== undefined && { output: output as NonNullable<GoalResult['output']> }), // read from JSON
      calls: calls.map(({ callId, name, input, result }) => ({ callId, name, input, ...(result && { result }) })),
      usage,
      ...(error && { error }),
    }
  } finally {
    await session.close()
    place.leave()
  }
}

interface GoalTurns {
  readonly calls: readonly CallView[]
  readonly finished: SessionEventOf<'turn-finished'> | undefined
  readonly usage: Usage
}

async function readGoalTurns(session: Session): Promise<GoalTurns> {
  const calls = new Map<string, CallView>()
  let finished: GoalTurns['finished']
  let usage: Usage | undefined
  /** Whether the turn is the goal's; undefined between turns. */
  let isOwn: boolean | undefined
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'live') break
    if (event.type === 'message-entered')
      isOwn ??= event.message === GOAL_INPUT || (finished !== undefined && event.message.startsWith(TASK_INPUT))
    // The end of the goal's task may come in a turn that a user began.
    if (event.type === 'call' && (isOwn || calls.has(event.call.callId))) calls.set(event.call.callId, event.call)
    if (event.type !== 'turn-finished') continue
    if (isOwn) {
      finished = event
      usage = addUsage(usage, event.usage)
    }
    isOwn = undefined
  }
  return { calls: [...calls.values()], finished, usage: usage ?? {} }
}
