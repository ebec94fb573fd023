// A session as a workflow. It only folds: policy, models and tools run in activities, whose results are its history, so
// that a change of policy never breaks a running session.
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  patched,
  setHandler,
  sleep,
  workflowInfo,
  upsertMemo,
  upsertSearchAttributes,
} from '@temporalio/workflow'
import type { HostReport, SessionRecord, State, AwaitedEffect } from '@baton/core/machine'
import {
  applyRecord,
  effectKey,
  findDue,
  followRecord,
  initialState,
  losesByRestart,
  outstanding,
  SESSION_TABLE,
} from '@baton/core/machine'
import type {
  Answers,
  Carried,
  Identity,
  LinkStart,
  SessionStart,
  Submission,
  Tuning,
  WorkflowInput,
  WorkPlan,
  SearchField,
} from '../contract.ts'
import { AGAIN_MS, INPUTS_MAX, SEARCH_ATTRIBUTES } from '../contract.ts'
import { mayOutlive } from '../task-workflow.ts'
import { callLocally, reportedSignal, stateQuery, submitUpdate, taskToldSignal, toldSignal } from './activities.ts'
import type { LanesOptions } from './child-lanes.ts'
import { ChildLanes } from './child-lanes.ts'
import { packState, readCarriedState } from './pack-state.ts'
import { ParentLane } from './parent-lane.ts'
import { Publishing } from './publishing.ts'
import type { Ended } from './work-under-way.ts'
import { WorkUnderWay } from './work-under-way.ts'
import { defineSearchAttributeKey } from '@temporalio/common'

/** Inputs waiting to be decided: those of an Update, or the outcome of work. */
interface Mail {
  readonly inputs: readonly WorkflowInput[]
  readonly agent?: string
  /** For the session of a call: the session that calls, with another agent. */
  readonly caller?: Identity
  readonly birth?: string
  /** The work that has ended with it. */
  readonly ended?: string
  readonly resolve?: (answers: Answers) => void
  readonly reject?: (cause: unknown) => void
}

export interface SessionRunOptions {
  readonly identity: Identity
  readonly tuning?: Tuning | undefined
  readonly carried?: Carried | undefined
  readonly link?: LinkStart | undefined
  /** Checks an existing log before anything is added to it. @throws ApplicationFailure */
  readonly checkFound?: (state: State) => void
}

const DAY_MS = 86_400_000
/** Maximum milliseconds between attempts to decide; each attempt is a few history events. */
const AGAIN_MAX_MS = 60_000
const UPDATES_MAX = 1500
/** Marks runs that check whether they are done before they wait. */
const DONE_AT_ONCE = 'baton-done-at-once'
/** Marks runs where a refused change of the agent leaves the inputs of others. */
const REFUSES_ALONE = 'baton-refuses-agent-alone'
/** Marks runs that rest until a timer for that has fired, and not until the clock says so. */
const PROVES_REST = 'baton-proves-rest'
/** Marks runs that look for the workflows of tasks which an earlier run has started. */
const TASKS = 'baton-tasks'
/** Inputs that may wait to be decided. */
const WAITING_MAX = 1000

export class SessionRun {
  #identity: Identity
  #state: State
  #inbox: Mail[] = []
  #plans: Readonly<Record<string, WorkPlan>> = {}
  #updates = 0
  /** Consecutive failed decisions. */
  #failures = 0
  /** Number of mails being decided. */
  #deciding = 0
  #isCancelled = false
  /** Whether a cancelled session has been stopped. */
  #isStopping = false
  readonly #checkFound: SessionRunOptions['checkFound']
  readonly #idleMs: number
  readonly #updatesMax: number
  readonly #search: SearchAttributes
  readonly #deadlines: Deadlines
  readonly #work: WorkUnderWay
  readonly #publishing: Publishing
  readonly #children: ChildLanes
  /** Set for the session of a delegated call. */
  readonly #parent: ParentLane | undefined
  readonly #link: LinkStart | undefined

  constructor({ identity, tuning = {}, carried, checkFound, link }: SessionRunOptions) {
    this.#checkFound = checkFound
    this.#identity = carried?.identity ?? identity
    this.#state = carried ? readCarriedState(carried.state) : initialState(identity.session)
    this.#idleMs = tuning.idleMs ?? DAY_MS
    this.#updatesMax = tuning.updatesMax ?? UPDATES_MAX
    this.#search = new SearchAttributes(carried?.searchFields)
    this.#deadlines = new Deadlines()
    const { child } = this.#identity
    const under = child && { root: child.place.root, birth: child.rootBirth }
    this.#publishing = new Publishing(identity.session, carried?.unpublished ?? [], under)
    const lane = { publishing: this.#publishing, identity: () => this.#identity, state: () => this.#state }
    this.#work = new WorkUnderWay({ ...lane, onEnd: (ended) => this.#noteEnd(ended) }, carried?.tasks)
    this.#link = link
    const submit: LanesOptions['submit'] = (input, resolve) => this.#inbox.push({ inputs: [input], resolve })
    this.#children = new ChildLanes({ ...lane, tuning, submit }, carried?.children ?? [])
    this.#parent =
      child &&
      new ParentLane(
        {
          ...lane,
          place: child.place,
          submit: (input, resolve) => this.#inbox.push({ inputs: [input], resolve }),
          adopt: (caller) => this.#inbox.push({ inputs: [], caller, reject: () => {} }),
        },
        carried ? (carried.parent ?? {}) : { reportedTo: link?.read ?? -1 },
      )
  }

  get state(): State {
    return this.#state
  }

  get identity(): Identity {
    return this.#identity
  }

  /** Called first, in the task that starts the run, because an Update may already be waiting. */
  listen(): void {
    setHandler(submitUpdate, (submission) => this.#submit(submission), {
      validator: (submission) => checkSubmission(submission, this.#inbox.length >= WAITING_MAX),
    })
    setHandler(stateQuery, () => {
      const { session, agent, principal, title, pos, phase, turn, step } = this.#state
      const calls = step?.calls ?? []
      const openCalls = calls
        .filter((call) => call.state !== 'settled')
        .map(({ callId, name, state }) => ({ callId, name, state }))
      const underWay = this.#work.keys()
      const unpublished = this.#publishing.waiting.length
      const waiting = this.#inbox.length + this.#deciding
      const about = { session, agent, principal: { id: principal }, title, pos, phase, turn: turn?.turn ?? null }
      return { ...about, openCalls, underWay, unpublished, waiting }
    })
    setHandler(reportedSignal, (reported) => {
      this.#updates += 1
      // Another session of this name may have made the call.
      if (reported.birth === this.#state.birth) this.#children.take(reported)
    })
    setHandler(toldSignal, (told) => {
      this.#updates += 1
      this.#parent?.take(told)
    })
    setHandler(taskToldSignal, (told) => {
      this.#updates += 1
      if (told.birth === this.#state.birth) this.#work.tasks.take(told)
    })
    CancellationScope.current().cancelRequested.catch(() => {
      this.#isCancelled = true
    })
  }

  /** Creates the first record of a new session; an existing log is continued. */
  async open(): Promise<void> {
    if (this.#state.pos >= 0) {
      // State of the previous run: its outstanding work starts again here, after a failure with the next decision.
      // A run whose first decision failed in an earlier version continues as it did.
      if (!(await this.#decide([])) && patched('baton-opens-again')) this.push([])
      return
    }
    do {
      const before = Date.now()
      const opened = await this.#insist(() => callLocally('baton.open', { identity: this.#identity, nowMs: before }))
      const { state, records, searchFields } = opened
      this.#search.fields = this.#identity.child ? undefined : searchFields
      if (state) this.#checkFound?.(state)
      if (state) this.#state = { ...readCarriedState(state), epoch: state.epoch + 1 } // a replay has what an older worker read
      this.#fold(records)
      if (this.#identity.agent === '') this.#identity = { ...this.#identity, agent: this.#state.agent }
      if (!state) return this.#begin()
      this.#adoptTasks()
      const downMs = Math.max(0, before - state.nowMs)
      const restarted = losesByRestart(this.#state) ? [{ type: 'host-restarted', downMs } as const] : []
      const inputs = [{ type: 'agent-changed' } as const, ...restarted]
      while (!(await this.#decide([{ inputs, reject: () => {} }])));
      // Activities of a terminated run may still write. Anything written before the log was claimed is folded first.
    } while (!(await this.#publishing.claim()))
    this.#parent?.note('now')
    if (this.#link && this.#link.toldTo !== this.#state.parent?.pos) this.#parent?.sayRead()
    else if (this.#link?.told) this.push([this.#link.told])
  }

  /** Finds the `baton.task` workflows of a terminated run. They are cancelled once the restart has declared their tools lost. */
  #adoptTasks(): void {
    const found = outstanding(this.#state).filter((effect) => effect.type === 'run-tool')
    const runs = found.filter(({ callId }) => mayOutlive(this.#state, callId))
    if (runs.length > 0 && patched(TASKS)) this.#work.tasks.adopt(runs)
  }

  /** Gives a new child its task. @throws ApplicationFailure if its caller has read a log that no longer exists */
  #begin(): void {
    if (!this.#link) return
    const { told, read } = this.#link
    if (read >= 0)
      throw ApplicationFailure.nonRetryable(`session ${this.#state.session} has no log any more`, 'child_lost')
    if (told) this.push([told])
    this.#parent?.note('now')
  }

  /** Adds inputs from the workflow itself. */
  push(inputs: readonly WorkflowInput[]): void {
    this.#inbox.push({ inputs })
  }

  /**
   * Decides inputs until `isDone` returns true, the session is cancelled, or it has rested for long enough. If it is
   * done already, no input is awaited.
   */
  async run(isDone: () => boolean = () => false): Promise<'done' | 'cancelled' | 'idle' | 'full'> {
    for (;;) {
      // A run that is about to end starts no work: the next one does.
      if (!this.#isLeaving()) this.#perform()
      // A run that has waited since an earlier version continues as it began.
      if (!this.#hasWork() && isDone() && this.#work.isEmpty && patched(DONE_AT_ONCE)) return 'done'
      await condition(() => this.#hasWork() || this.#publishing.conflict !== undefined || this.#canLeave)
      if (this.#publishing.conflict) throw this.#publishing.conflict
      const hasFired = this.#deadlines.isDue
      const due: readonly WorkflowInput[] = this.#deadlines.takeDue(this.#state, this.#nowMs())
      if (due.length > 0) this.#inbox.push({ inputs: due })
      if (this.#isCancelled && !this.#isStopping) this.#stop()
      const mail = this.#inbox.filter((one) => this.#isForHere(one))
      this.#inbox = []
      if (mail.length > 0) await this.#decide(mail)
      if (this.#inbox.length > 0) continue
      if (this.#isStopping && this.#work.isEmpty && this.#hasSettled) return 'cancelled'
      if (isDone() && this.#work.isEmpty) return 'done'
      if (this.#isLeaving()) return 'full'
      if (hasFired && this.#hasRested()) return 'idle'
    }
  }

  /** Refuses inputs meant for a removed session of this name. */
  #isForHere({ birth, reject }: Mail): boolean {
    const { session, birth: own } = this.#state
    if (birth === undefined || birth === own) return true
    reject?.(ApplicationFailure.nonRetryable(`session ${session} was removed`, 'session_closed'))
    return false
  }

  /** Whether the sessions of its calls have ended, and its own caller has heard of its end. */
  get #hasSettled(): boolean {
    return this.#state.children.length === 0 && (this.#parent?.isSettled ?? true)
  }

  /** For the session of a delegated call: whether it has ended, or was cancelled, and its caller has heard so. */
  get #canLeave(): boolean {
    if (!this.#parent) return false
    return this.isOver || (this.#isStopping && this.#work.isEmpty && this.#hasSettled)
  }

  /** For the session of a delegated call: whether it has come to rest, and its caller has heard so. */
  get isOver(): boolean {
    return this.#parent?.isOver === true
  }

  /** Settles running work, and stops the session. */
  #stop(): void {
    this.#isStopping = true
    const heard = { type: 'all' } as const
    const interrupt = { type: 'interrupt', reason: 'the workflow was cancelled', heard } as const
    this.#inbox.push({ inputs: this.#state.turn === null ? [{ type: 'stop' }] : [interrupt, { type: 'stop' }] })
  }

  #isLeaving(): boolean {
    return this.#isFull() && this.#work.isEmpty && this.#state.interrupting === null
  }

  /**
   * Resolves when everything is in the log and every caller has its answer. Returns false if inputs arrived meanwhile.
   */
  async settle(): Promise<boolean> {
    const { tasks } = this.#work
    this.#children.hold()
    this.#parent?.hold()
    tasks.hold()
    tasks.withdraw(new Set(outstanding(this.#state).map(effectKey)))
    await this.#publishing.flush()
    const isQuiet = (): boolean => this.#children.isQuiet && tasks.isQuiet && this.#parent?.isActing !== true
    await condition(() => this.#inbox.length > 0 || (allHandlersFinished() && isQuiet()))
    return this.#inbox.length === 0
  }

  carry(): Carried {
    const { fields: searchFields } = this.#search
    const carried = { state: packState(this.#state), identity: this.#identity, unpublished: this.#publishing.waiting }
    const children = this.#children.carry()
    const tasks = this.#work.tasks.carry()
    return {
      ...carried,
      ...(tasks.length > 0 && { tasks }),
      ...(searchFields && { searchFields }),
      ...(children.length > 0 && { children }),
      ...(this.#parent && { parent: this.#parent.carry() }),
    }
  }

  #hasWork(): boolean {
    return this.#inbox.length > 0 || this.#deadlines.isDue || (this.#isCancelled && !this.#isStopping)
  }

  /** When the session has rested for long enough; Infinity while it is not at rest. */
  #idleAtMs(): number {
    const { turn, queue, children, tasks, nowMs } = this.#state
    const isQuiet = turn === null && queue.length === 0 && children.length === 0 && tasks.length === 0
    const rests = this.#work.isEmpty && isQuiet && findDue(this.#state) === null
    return rests ? nowMs + this.#idleMs : Infinity
  }

  /** Its own timer has to prove it: a replay may show the clock of an earlier task of the workflow. */
  #hasRested(): boolean {
    const idleAtMs = this.#idleAtMs()
    if (idleAtMs === Infinity) return false
    return (patched(PROVES_REST) ? this.#deadlines.reachedMs : this.#nowMs()) >= idleAtMs
  }

  #isFull(): boolean {
    return this.#updates >= this.#updatesMax || workflowInfo().continueAsNewSuggested
  }

  #nowMs(): number {
    return Math.max(this.#state.nowMs, Date.now(), this.#deadlines.reachedMs)
  }

  async #submit({ inputs, agent, birth }: Submission): Promise<Answers> {
    this.#updates += 1
    return await new Promise((resolve, reject) => {
      const about = { ...(agent !== undefined && { agent }), ...(birth !== undefined && { birth }) }
      this.#inbox.push({ inputs, resolve, reject, ...about })
    })
  }

  #noteEnd({ key, inputs }: Ended): void {
    this.#inbox.push({ inputs, ended: key })
  }

  /** Returns false if the decision failed and must be retried. */
  async #decide(mail: readonly Mail[]): Promise<boolean> {
    const agent = mail.findLast((one) => one.agent !== undefined)?.agent
    const caller = mail.findLast((one) => one.caller !== undefined)?.caller
    const { child } = this.#identity
    const identity = {
      ...this.#identity,
      ...(agent !== undefined && { agent }),
      ...(caller && child && { child: { ...child, caller } }),
    }
    const isChanged = agent !== undefined || caller !== undefined
    const inputs: readonly WorkflowInput[] = [
      ...(isChanged ? [{ type: 'agent-changed' } as const] : []),
      ...mail.flatMap((one) => one.inputs),
    ]
    const ended = mail.flatMap((one) => one.ended ?? [])
    this.#deciding = mail.length
    try {
      const { records, answers, plans, news } = await callLocally('baton.decide', {
        identity,
        state: this.#state,
        inputs,
        nowMs: this.#nowMs(),
        underWay: this.#work.keys().filter((key) => !ended.includes(key)),
        recent: this.#publishing.waiting,
      })
      this.#failures = 0
      this.#identity = identity
      this.#plans = plans
      this.#fold(records)
      this.#parent?.note(news)
      let next = isChanged ? 1 : 0
      for (const one of mail) {
        const own = answers.slice(next, (next += one.inputs.length))
        one.resolve?.(own)
        if (one.ended !== undefined) this.#work.forget(one.ended)
        // A report that the machine refuses would leave its work outstanding forever.
        if (one.ended !== undefined && own.some(({ type }) => type === 'refused')) this.#loseRefused(one, own)
      }
      return true
    } catch (cause) {
      // Callers get the error, and may retry; reports of work are kept, and so is all else if a change of the agent failed.
      const isAlone = caller !== undefined || (agent !== undefined && patched(REFUSES_ALONE))
      const changes = (one: Mail): boolean => (caller ? one.caller !== undefined : one.agent === agent)
      const refused = mail.filter((one) => one.reject && (!isAlone || changes(one)))
      for (const one of refused) one.reject?.(cause)
      const kept = mail.filter((one) => !refused.includes(one))
      this.#inbox = [...kept, ...this.#inbox]
      await sleep(Math.min(AGAIN_MS * 2 ** this.#failures, AGAIN_MAX_MS))
      this.#failures += 1
      return false
    } finally {
      this.#deciding = 0
    }
  }

  #loseRefused(one: Mail, answers: Answers): void {
    const key = one.ended
    const effect = outstanding(this.#state).find((owed) => effectKey(owed) === key)
    const refused = answers.find(({ type }) => type === 'refused')
    if (!effect || refused?.type !== 'refused') return
    const { code, message } = refused
    const error = { code, message, retryable: false }
    const report: HostReport | undefined =
      effect.type === 'call-model'
        ? { type: 'model-failed', attempt: effect.attempt, error }
        : effect.type === 'summarise'
          ? { type: 'summary-failed', attempt: effect.attempt, error }
          : effect.type === 'run-tool'
            ? {
                type: 'tool-finished',
                callId: effect.callId,
                attempt: effect.attempt,
                outcome: { type: 'error', code, message },
              }
            : undefined
    if (report) this.#inbox.push({ inputs: [report] })
  }

  #fold(records: readonly SessionRecord[]): void {
    for (const record of records) {
      followRecord(this.#state, record)
      this.#state = applyRecord(this.#state, record)
    }
    this.#publishing.add(records)
  }

  /** Starts outstanding work, cancels work that is no longer owed, and publishes records. */
  #perform(): void {
    this.#search.show(this.#state)
    this.#work.perform(outstanding(this.#state), this.#plans)
    this.#children.perform()
    this.#parent?.perform()
    const { interrupting, attempt } = this.#state
    // A model interrupted in the commit that began it was never called, and has no text.
    if (interrupting && attempt && !this.#work.isAwaited(`call-model:${attempt.attempt}`))
      this.#inbox.push({ inputs: [{ type: 'model-stopped', attempt: attempt.attempt, text: '' }] })
    this.#publishing.publish()
    this.#deadlines.set(this.#state, this.#nowMs(), this.#idleAtMs())
  }

  /** A worker that cannot do it now may be replaced by another. */
  async #insist<Value>(act: () => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await act()
      } catch (cause) {
        if (cause instanceof CancelledFailure || isFinal(cause)) throw cause
        await sleep(AGAIN_MS)
      }
    }
  }
}

function isFinal(cause: unknown): boolean {
  return cause instanceof ApplicationFailure && cause.nonRetryable === true
}

export async function runSession({ identity, tuning, carried, link }: SessionStart): Promise<void> {
  const run = new SessionRun({ identity, tuning, carried, link })
  run.listen()
  await CancellationScope.nonCancellable(async () => {
    await run.open()
    for (;;) {
      const end = await run.run(() => run.isOver)
      if (!(await run.settle())) continue
      if (end === 'cancelled') throw new CancelledFailure('the session was cancelled: its calls are settled')
      if (end === 'full')
        return await continueAsNew<typeof runSession>({ identity, ...(tuning && { tuning }), carried: run.carry() })
      return undefined
    }
  })
}

/**
 * Refuses an invalid Update before it costs a history event.
 * @throws ApplicationFailure of type `illegal_input` or `queue_full`
 */
function checkSubmission(submission: Submission, isFull: boolean): void {
  if (isFull) throw ApplicationFailure.nonRetryable('too many inputs are waiting to be decided', 'queue_full')
  const { inputs } = submission ?? {}
  const isList = Array.isArray(inputs) && inputs.length <= INPUTS_MAX
  const wrong = !isList
    ? `inputs must be a list of at most ${INPUTS_MAX}`
    : inputs.some((input) => !Object.hasOwn(SESSION_TABLE, String(input?.type)))
      ? 'an input has no known type'
      : undefined
  if (wrong !== undefined) throw ApplicationFailure.nonRetryable(wrong, 'illegal_input')
}

/**
 * A timer for a session's earliest deadline. It is never cancelled: letting it fire for nothing costs less than
 * cancelling it and setting another one with every turn.
 */
class Deadlines {
  /** Whether the timer has fired and due deadlines were not checked yet. */
  isDue = false
  /** The latest session time proved by a timer, whatever the service's clock says. */
  reachedMs = 0
  /** When the running timers will fire, in session time. */
  #runningMs: readonly number[] = []

  /** `idleAtMs`: when a session at rest has rested for long enough; Infinity if it is not at rest. */
  set(state: State, nowMs: number, idleAtMs: number): void {
    // The clock of the service is its wall clock.
    const atMs = Math.min(idleAtMs, findDue(state) ?? Infinity, ...listTimers(state).map((timer) => timer.atMs))
    if (!Number.isFinite(atMs) || this.#runningMs.some((running) => running <= atMs)) return
    this.#runningMs = [...this.#runningMs, atMs]
    sleep(Math.max(1, atMs - nowMs)).then(
      () => {
        this.#runningMs = this.#runningMs.filter((running) => running !== atMs)
        this.isDue = true
        this.reachedMs = Math.max(this.reachedMs, atMs)
      },
      () => {}, // it is never cancelled
    )
  }

  takeDue(state: State, nowMs: number): readonly WorkflowInput[] {
    if (!this.isDue) return []
    this.isDue = false
    const due = listTimers(state).filter(({ atMs }) => atMs <= nowMs)
    const passed = findDue(state) === null ? [] : state.reminders.filter(({ dueMs }) => dueMs <= nowMs)
    return [
      ...due.map(({ timer, generation }) => ({ type: 'timer-fired', timer, generation }) as const),
      ...passed.map(({ reminder, dueMs }) => ({ type: 'reminder-passed', reminder, dueMs }) as const),
    ]
  }
}

function listTimers(state: State): readonly Extract<AwaitedEffect, { readonly type: 'set-timer' }>[] {
  return outstanding(state).filter((effect) => effect.type === 'set-timer')
}

/** Maximum characters of a value; a service over SQL accepts 255. */
const CHARS_MAX = 200

/**
 * A session in lists of workflows: search attributes, if the service knows them, and the title as a memo. Each write
 * is an event and an action, so only changes are written.
 */
class SearchAttributes {
  /** `undefined` for a session started by an earlier version, which shows nothing. */
  fields: readonly SearchField[] | undefined
  #written: Readonly<Partial<Record<SearchField, string>>> = {}
  #title: string | null = null

  constructor(fields: readonly SearchField[] | undefined) {
    this.fields = fields
  }

  show(state: State): void {
    if (!this.fields) return
    const changed = this.fields.flatMap((field) => {
      const value = readField(state, field)
      return value === (this.#written[field] ?? '') ? [] : [{ field, value }]
    })
    if (changed.length > 0)
      upsertSearchAttributes(
        changed.map(({ field, value }) => ({
          key: defineSearchAttributeKey(SEARCH_ATTRIBUTES[field], 'KEYWORD'),
          value: value === '' ? null : value,
        })),
      )
    for (const { field, value } of changed) this.#written = { ...this.#written, [field]: value }
    if (state.title !== this.#title) upsertMemo({ title: state.title })
    this.#title = state.title
  }
}

function readField(state: State, field: SearchField): string {
  const { phase, turn } = state
  if (field !== 'activity') return (state[field] ?? '').slice(0, CHARS_MAX)
  if (phase === 'paused' || phase === 'stopped') return phase
  return turn === null ? 'idle' : 'running'
}
