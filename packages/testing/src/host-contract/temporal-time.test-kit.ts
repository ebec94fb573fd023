// The time of a world over Temporal. Models, tools and handlers have virtual time. The time of a session's workflow
// skips to each of its deadlines when virtual time reaches it. Running work takes real time, and so does the service.
import type { Store } from '@baton/core'
import type { AwaitedEffect, SessionRecord, State } from '@baton/core/machine'
import { applyRecord, effectKey, initialState, outstanding } from '@baton/core/machine'
import type { Client, WorkflowExecutionDescription } from '@temporalio/client'
import { setTimeout as wait } from 'node:timers/promises'
import type { VirtualTime } from '../simulator/virtual-time.ts'
import { createVirtualTime } from '../simulator/virtual-time.ts'
import { skipTime } from '../components/skip-time.ts'

/** A situation needs more time than passes here. */
export class NeedsTime extends Error {}

/** Maximum real milliseconds: while work runs, and until nothing is in progress. */
const REAL_MAX_MS = 40_000
const REST_MAX_MS = 100_000
/** Milliseconds between two checks, and how many consecutive ones must see the same state. */
const QUIET_MS = 50
const LOOKS = 3
/** Nothing may change for this many times a check's own duration: on a busy machine, work in progress is slow too. */
const LOOK_TIMES = 6
const HOUR_MS = 3_600_000
/** Milliseconds for which a gateway of a world leases its clients: the maximum. */
export const LEASE_MS = HOUR_MS
/** Milliseconds left before a deadline, to be skipped when it is reached. */
const MARGIN_MS = 20_000
/** State of an activity that no worker has picked up: `PENDING_ACTIVITY_STATE_SCHEDULED`. */
const SCHEDULED = 1

/** The type of the workflows in which tools of tasks run: the service skips no time of a session meanwhile. */
const TASK_WORKFLOW = 'baton.task'

type Timer = Extract<AwaitedEffect, { readonly type: 'set-timer' }>

/** A session as described by its log. */
interface Watched {
  readonly session: string
  state: State
  /** When its timers are due in virtual time, by key. */
  readonly dueMs: Map<string, number>
  /** Virtual milliseconds that its workflow does not know of yet. */
  owedMs: number
  isRunning: boolean
  /** Whether activities are running for it. */
  isWorking: boolean
  /** Time as seen by its workflow. */
  clockMs: number
}

/** A deadline. */
interface Next {
  readonly watched: Watched
  /** In virtual time. */
  readonly dueMs: number
  /** Milliseconds of the session's time. */
  readonly leftMs: number
}

export interface SkippedTimeOptions {
  readonly store: Store
  readonly client: Client
  /** Virtual clock. */
  readonly startMs: number
}

export function createSkippedTime(init: SkippedTimeOptions): VirtualTime {
  const virtual = createVirtualTime(init.startMs)
  const time = new SkippedTime(init, virtual)
  return {
    ...virtual,
    seeFromElsewhere: () => {
      throw new NeedsTime('it has one clock')
    },
    settle: () => time.settle(),
    runNext: async (untilMs) => {
      await time.settle()
      return await time.happen(untilMs)
    },
    runUntil: (untilMs) => time.runUntil(untilMs),
    pass: (ms) => time.runUntil(virtual.nowMs() + ms),
    until: (work) => time.until(work),
  }
}

class SkippedTime {
  readonly #init: SkippedTimeOptions
  readonly #virtual: VirtualTime
  readonly #sessions = new Map<string, Watched>()

  constructor(init: SkippedTimeOptions, virtual: VirtualTime) {
    this.#init = init
    this.#virtual = virtual
  }

  /** Resolves when nothing that takes no time is in progress, or `isOver`. */
  async settle(isOver = (): boolean => false): Promise<void> {
    let before: string | undefined
    let quietMs = 0
    let slowestMs = 0
    const patientMs = performance.now() + REST_MAX_MS
    for (let same = 0; same < LOOKS || quietMs < LOOK_TIMES * slowestMs;) {
      const fromMs = performance.now()
      await wait(QUIET_MS)
      if (isOver()) return
      if (performance.now() > patientMs) throw new NeedsTime('it does not come to rest')
      await this.#virtual.settle()
      const now = await this.#look()
      const lookMs = performance.now() - fromMs
      const isSame = now !== undefined && now === before
      same = isSame ? same + 1 : 0
      quietMs = isSame ? quietMs + lookMs : 0
      slowestMs = Math.max(slowestMs, lookMs - QUIET_MS)
      before = now
    }
  }

  /** Lets one event of virtual time or one deadline happen. Returns false if there is none until then. */
  async happen(untilMs: number, isOver?: () => boolean): Promise<boolean> {
    const virtual = this.#virtual
    const next = this.#findNext()
    const fromMs = virtual.nowMs()
    if (await virtual.runNext(Math.min(untilMs, next?.dueMs ?? Infinity))) {
      for (const watched of this.#sessions.values()) watched.owedMs += virtual.nowMs() - fromMs
      await this.settle(isOver)
      if (!isOver?.()) await this.#tell()
      return true
    }
    // Work that runs longer than a test waits may still be about to end.
    if (!next || next.dueMs > untilMs || (next.watched.isWorking && next.leftMs > REAL_MAX_MS)) return false
    await this.#moveTo(Math.max(fromMs, next.dueMs))
    // Skipping would jump over running work.
    if (next.watched.isWorking) await wait(next.leftMs)
    else await skipTime(this.#init.client.workflowService, next.watched.session, next.leftMs)
    next.watched.owedMs = 0
    await this.settle(isOver)
    return true
  }

  async runUntil(untilMs: number): Promise<void> {
    await this.settle()
    while (await this.happen(untilMs));
    const missed = this.#findNext()
    if (missed && missed.dueMs <= untilMs)
      throw new NeedsTime(`work runs for ${missed.leftMs} ms, which cannot be skipped`)
    await this.#moveTo(Math.max(this.#virtual.nowMs(), untilMs))
    await this.settle()
    await this.#tell()
  }

  async until<Value>(work: Promise<Value>): Promise<Value> {
    let hasEnded = false
    work.finally(() => (hasEnded = true)).catch(() => {})
    const untilMs = this.#virtual.nowMs() + HOUR_MS
    const patientMs = performance.now() + REAL_MAX_MS
    const isOver = (): boolean => hasEnded
    for (;;) {
      await this.settle(isOver)
      while (!hasEnded && (await this.happen(untilMs, isOver)));
      if (hasEnded) {
        await this.#read()
        return await work
      }
      if (performance.now() > patientMs) throw new NeedsTime(`it did not end in ${REAL_MAX_MS} ms`)
    }
  }

  /** Reads new log records. What a session does at its deadline counts as done when that is due. */
  async #read(): Promise<void> {
    const { store } = this.#init
    let reachedMs = this.#virtual.nowMs()
    for (const session of await this.#listSessions()) {
      const watched = this.#sessions.get(session) ?? beginWatching(session)
      this.#sessions.set(session, watched)
      for await (const record of store.read(session, watched.state.pos + 1))
        reachedMs = Math.max(reachedMs, foldRecord(watched, record, reachedMs))
    }
    await this.#moveTo(reachedMs)
  }

  /** With the sessions of their calls, which are in no list. */
  async #listSessions(): Promise<readonly string[]> {
    const { store } = this.#init
    const names: string[] = []
    for await (const { session } of store.list()) {
      names.push(session)
      for await (const child of store.children(session)) names.push(child.session)
    }
    return names
  }

  /** Undefined while something that takes no time is in progress. */
  async #look(): Promise<string | undefined> {
    await this.#read()
    const seen: unknown[] = []
    for (const [session, watched] of this.#sessions) {
      const described = await this.#describe(session)
      if (isBusy(watched, described)) return undefined
      seen.push(session, watched.state.pos, described?.historyLength)
      for (const { workflowId, workflowTypeName } of described?.raw.pendingChildren ?? []) {
        if (workflowTypeName !== TASK_WORKFLOW) continue
        const task = await this.#describe(workflowId ?? '')
        if (!task || isStarting(task)) return undefined
        seen.push(workflowId, task.historyLength)
      }
    }
    return JSON.stringify(seen)
  }

  async #describe(workflow: string): Promise<WorkflowExecutionDescription | undefined> {
    const { client } = this.#init
    return await client.workflow
      .getHandle(workflow)
      .describe()
      .catch(() => undefined)
  }

  async #moveTo(atMs: number): Promise<void> {
    const fromMs = this.#virtual.nowMs()
    await this.#virtual.runUntil(atMs)
    for (const watched of this.#sessions.values()) watched.owedMs += this.#virtual.nowMs() - fromMs
  }

  /** Tells workflows how much time has passed, without letting any of them reach its next deadline. */
  async #tell(): Promise<void> {
    for (const watched of this.#sessions.values()) {
      const { state, clockMs, session, isRunning, isWorking, owedMs } = watched
      const leftMs = Math.min(...listTimers(state).map(({ atMs }) => atMs)) - clockMs - MARGIN_MS
      const ms = Math.min(owedMs, leftMs)
      watched.owedMs = 0
      if (ms > 0 && isRunning && !isWorking) await skipTime(this.#init.client.workflowService, session, ms)
    }
  }

  /** The earliest deadline of all sessions. */
  #findNext(): Next | undefined {
    const all = [...this.#sessions.values()].filter(({ isRunning }) => isRunning).flatMap(listDeadlines)
    return all.toSorted((one, other) => one.dueMs - other.dueMs)[0]
  }
}

function listDeadlines(watched: Watched): readonly Next[] {
  return listTimers(watched.state).flatMap((timer) => {
    const dueMs = watched.dueMs.get(effectKey(timer))
    return dueMs === undefined ? [] : [{ watched, dueMs, leftMs: Math.max(1, timer.atMs - watched.clockMs + 1) }]
  })
}

function beginWatching(session: string): Watched {
  const state = initialState(session)
  return { session, state, dueMs: new Map(), owedMs: 0, isRunning: false, isWorking: false, clockMs: 0 }
}

/** Notes the workflow's state. Returns true if something that takes no time is in progress. */
function isBusy(watched: Watched, described: WorkflowExecutionDescription | undefined): boolean {
  const { pendingActivities, pendingChildren, workflowExtendedInfo } = described?.raw ?? {}
  const { seconds, nanos } = workflowExtendedInfo?.timeSkippingInfo?.currentTime ?? {}
  const skippedMs = seconds ? Number(seconds) * 1000 + Math.floor((nanos ?? 0) / 1e6) : Date.now()
  watched.clockMs = Math.max(watched.state.nowMs, skippedMs)
  watched.isRunning = described?.status.name === 'RUNNING'
  const tasks = (pendingChildren ?? []).filter(({ workflowTypeName }) => workflowTypeName === TASK_WORKFLOW)
  watched.isWorking = (pendingActivities ?? []).length + tasks.length > 0
  return described !== undefined && isStarting(described)
}

/** Whether a worker has yet to take something up, or records are on their way. */
function isStarting({ raw: { pendingActivities, pendingWorkflowTask } }: WorkflowExecutionDescription): boolean {
  if (pendingWorkflowTask) return true
  const activities = pendingActivities ?? []
  return activities.some(({ state, activityType }) => state === SCHEDULED || activityType?.name === 'baton.publish')
}

/** Returns the virtual time of a record: when the timer that fired was due, or else now. */
function foldRecord(watched: Watched, record: SessionRecord, nowMs: number): number {
  const before = listTimers(watched.state)
  watched.state = applyRecord(watched.state, record)
  const after = listTimers(watched.state)
  const keys = new Set(after.map(effectKey))
  const fired = before.filter((timer) => timer.atMs <= record.nowMs && !keys.has(effectKey(timer)))
  const dues = fired.map((timer) => watched.dueMs.get(effectKey(timer)) ?? nowMs)
  const atMs = record.input.type === 'timer-fired' ? Math.max(nowMs, ...dues) : nowMs
  for (const timer of after) {
    const key = effectKey(timer)
    // A gateway renews its leases by the real clock, so none of them ends.
    if (timer.timer.startsWith('lease:') && timer.atMs - record.nowMs >= LEASE_MS) continue
    if (!watched.dueMs.has(key)) watched.dueMs.set(key, atMs + Math.max(0, timer.atMs - record.nowMs))
  }
  return atMs
}

function listTimers(state: State): readonly Timer[] {
  return outstanding(state).filter((effect) => effect.type === 'set-timer')
}
