// The activities of a session: started when the machine owes their effect, cancelled when it no longer does, and turned
// into inputs however they end.
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  log,
  patched,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow'
import type { AwaitedEffect, State } from '@baton/core/machine'
import { effectKey } from '@baton/core/machine'
import type { Identity, WorkEffectData, WorkflowInput, WorkJob, WorkPlan } from '../contract.ts'
import type { TaskRun } from '../task-workflow.ts'
import { AGAIN_MS } from '../contract.ts'
import { createLoss, invokeWork, isForeign, isNotBegun } from './invoke-work.ts'
import type { Publishing } from './publishing.ts'
import { TaskRuns } from './task-runs.ts'

export interface Ended {
  readonly key: string
  readonly inputs: readonly WorkflowInput[]
}

export interface WorkUnderWayOptions {
  readonly publishing: Publishing
  readonly identity: () => Identity
  readonly state: () => State
  readonly onEnd: (ended: Ended) => void
}

interface Running {
  readonly effect: WorkEffectData
  readonly scope: CancellationScope
  /** Never rejects. */
  readonly ended: Promise<void>
}

/** Milliseconds that the next model call waits for a cancelled one to end. */
const ABORT_MS = 5000
/** Histories of earlier versions do not contain this wait. */
const ONE_AT_A_TIME = 'one-model-call-at-a-time'
/** Histories of earlier versions do not tell that a model call was interrupted before it began. */
const STOPS_UNBEGUN = 'baton-stops-unbegun'

export class WorkUnderWay {
  readonly #init: WorkUnderWayOptions
  readonly #running = new Map<string, Running>()
  /** Cancelled but not ended. */
  readonly #ending = new Map<string, Running>()
  readonly tasks: TaskRuns

  constructor(init: WorkUnderWayOptions, tasks: readonly TaskRun[] = []) {
    this.#init = init
    this.tasks = new TaskRuns(init, tasks)
  }

  /** Whether nothing runs that ends with this run of the workflow. */
  get isEmpty(): boolean {
    return this.#running.size === 0
  }

  keys(): readonly string[] {
    return [...this.#running.keys(), ...this.tasks.keys()]
  }

  /** Whether it is running, or has yet to report its result. */
  isAwaited(key: string): boolean {
    return this.#running.has(key) || this.#ending.has(key)
  }

  forget(key: string): void {
    this.#running.delete(key)
    this.tasks.forget(key)
  }

  perform(owed: readonly AwaitedEffect[], plans: Readonly<Record<string, WorkPlan>>): void {
    const keys = new Set(owed.map(effectKey))
    for (const [key, running] of this.#running)
      if (!keys.has(key)) {
        // It may still report its result; the machine knows how to handle that.
        this.#running.delete(key)
        this.#ending.set(key, running)
        running.scope.cancel()
      }
    this.tasks.perform(keys)
    for (const effect of owed) {
      const key = effectKey(effect)
      const plan = plans[key]
      if (!plan || !isWork(effect) || this.#running.has(key) || this.tasks.has(key)) continue
      if (plan.outlives && effect.type === 'run-tool') this.tasks.start(effect, plan)
      else this.#start(key, effect, plan)
    }
  }

  #start(key: string, effect: WorkEffectData, plan: WorkPlan): void {
    const scope = new CancellationScope()
    const before = effect.type === 'run-tool' ? undefined : this.#waitForModels(scope)
    const invoke = before
      ? () => scope.run(() => before.then(() => this.#invoke(effect, plan)))
      : () => scope.run(() => this.#invoke(effect, plan))
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    this.#running.set(key, { effect, scope, ended })
    void this.#follow(key, effect, invoke).finally(() => {
      this.#ending.delete(key)
      resolve()
    })
  }

  /**
   * Waits for cancelled model calls to end: a cancelled activity runs until its model notices. Rejects when the scope of
   * the waiting call is cancelled.
   */
  #waitForModels({ cancelRequested }: CancellationScope): Promise<void> | undefined {
    const ending = [...this.#ending.values()].filter(({ effect }) => effect.type !== 'run-tool')
    if (ending.length === 0 || !patched(ONE_AT_A_TIME)) return undefined
    const patience = new CancellationScope()
    const abandoned = patience
      .run(() => sleep(ABORT_MS))
      .then(
        () => log.warn('a model call that was aborted has not ended, and is abandoned', { waitedMs: ABORT_MS }),
        () => {}, // all have ended, or the workflow is cancelled
      )
    const ended = Promise.all(ending.map((running) => running.ended)).then(() => patience.cancel())
    return Promise.race(patched(STOPS_UNBEGUN) ? [ended, abandoned, cancelRequested] : [ended, abandoned])
  }

  async #follow(key: string, effect: WorkEffectData, invoke: () => Promise<WorkflowInput | undefined>): Promise<void> {
    for (;;) {
      try {
        const report = await invoke()
        this.#init.onEnd({ key, inputs: [report ?? createLoss(effect)] })
        return
      } catch (cause) {
        if (isConflict(cause) && this.#init.publishing.noteConflict(cause)) return
        const pauses = isNotBegun(cause) && this.#running.has(key)
        if (pauses) await sleep(AGAIN_MS)
        const isOwed = this.#running.has(key)
        if (pauses && isOwed) continue
        if (pauses && !patched(STOPS_UNBEGUN)) return
        const inputs = this.#describeEnd(effect, cause, isOwed)
        if (inputs.length > 0 || isOwed) this.#init.onEnd({ key, inputs })
        return
      }
    }
  }

  async #invoke(effect: WorkEffectData, plan: WorkPlan): Promise<WorkflowInput | undefined> {
    const { publishing } = this.#init
    const records = isForeign(plan) ? [] : publishing.takeAlong()
    const { pos, birth } = this.#init.state()
    const job: WorkJob = { identity: this.#init.identity(), effect, pos, records, birth }
    try {
      const report = await invokeWork(job, plan)
      if (records.length > 0) publishing.confirm(pos)
      return report
    } catch (cause) {
      if (records.length > 0) publishing.release()
      throw cause
    }
  }

  #describeEnd(effect: WorkEffectData, cause: unknown, isOwed: boolean): readonly WorkflowInput[] {
    const { interrupting, attempt } = this.#init.state()
    const isStopped = effect.type === 'call-model' && interrupting !== null && attempt?.attempt === effect.attempt
    const said = effect.type === 'call-model' ? readHeartbeat(cause) : ''
    // An interrupt waits for the text so far.
    if (isStopped) return [{ type: 'model-stopped', attempt: effect.attempt, text: said }]
    if (!isOwed) return []
    const loss = createLoss(effect)
    if (said === '' || effect.type !== 'call-model') return [loss]
    return [{ type: 'attempt-progress', attempt: effect.attempt, offset: 0, text: said }, loss]
  }
}

function isWork(effect: AwaitedEffect): effect is WorkEffectData {
  return effect.type === 'call-model' || effect.type === 'summarise' || effect.type === 'run-tool'
}

function isConflict(cause: unknown): boolean {
  const why = cause instanceof ActivityFailure ? cause.cause : undefined
  return why instanceof ApplicationFailure && why.type === 'store_conflict'
}

/** The text of a model, from the last heartbeat of its activity. */
function readHeartbeat(cause: unknown): string {
  const timeout = cause instanceof ActivityFailure ? cause.cause : undefined
  if (!(timeout instanceof TimeoutFailure)) return ''
  const details = timeout.lastHeartbeatDetails as { readonly said?: unknown } | undefined
  return typeof details?.said === 'string' ? details.said : ''
}
