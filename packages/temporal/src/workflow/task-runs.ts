// The `baton.task` workflows of a session: as its own activity, a tool of a week would prevent it from continuing as new for a
// week. They report by signals. A run that did not start them sends a signal to find out whether they are still running.
import {
  CancellationScope,
  getExternalWorkflowHandle,
  log,
  ParentClosePolicy,
  sleep,
  startChild,
} from '@temporalio/workflow'
import { WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/common'
import type { State } from '@baton/core/machine'
import { effectKey } from '@baton/core/machine'
import type { Identity, TaskStart, TaskTold, WorkflowInput, WorkPlan } from '../contract.ts'
import type { TaskRun } from '../task-workflow.ts'
import { nameTask, TASK_ASKED, TASK_WORKFLOW } from '../task-workflow.ts'
import { createLoss } from './invoke-work.ts'

export interface TaskRunsOptions {
  readonly identity: () => Identity
  readonly state: () => State
  readonly onEnd: (ended: { readonly key: string; readonly inputs: readonly WorkflowInput[] }) => void
}

interface OpenRun {
  readonly run: TaskRun
  /** This run has started its workflow, so the service tells its end. */
  isOwn: boolean
  /** Its end is being decided. */
  isOver: boolean
}

/** Milliseconds between questions to each workflow that an earlier run has started. */
const ASK_MS = 3_600_000

export class TaskRuns {
  readonly #init: TaskRunsOptions
  readonly #open = new Map<string, OpenRun>()
  /** Starts, signals and cancellations under way. */
  #acting = 0
  #isAsking = false
  #isHeld = false

  /** `carried`: those of the run before. */
  constructor(init: TaskRunsOptions, carried: readonly TaskRun[]) {
    this.#init = init
    this.adopt(carried)
  }

  /** Takes over what an earlier run has started. */
  adopt(runs: readonly TaskRun[]): void {
    for (const run of runs) this.#open.set(effectKey(run), { run, isOwn: false, isOver: false })
  }

  get isQuiet(): boolean {
    return this.#acting === 0
  }

  keys(): readonly string[] {
    return [...this.#open.keys()]
  }

  has(key: string): boolean {
    return this.#open.has(key)
  }

  forget(key: string): void {
    this.#open.delete(key)
  }

  carry(): readonly TaskRun[] {
    return [...this.#open.values()].map(({ run }) => run)
  }

  /** Asks nothing until `perform`, because the run may end. */
  hold(): void {
    this.#isHeld = true
  }

  /** Cancels workflows that are no longer owed, and asks those of earlier runs whether they are running. */
  perform(owed: ReadonlySet<string>): void {
    this.#isHeld = false
    this.withdraw(owed)
    this.#ask()
  }

  withdraw(owed: ReadonlySet<string>): void {
    for (const [key, { run }] of this.#open) {
      if (owed.has(key)) continue
      // It may still report its result; the machine knows how to handle that.
      this.#open.delete(key)
      this.#act(() => this.#handle(run).cancel())
    }
  }

  start(run: TaskRun, plan: WorkPlan): void {
    const open: OpenRun = { run, isOwn: true, isOver: false }
    this.#open.set(effectKey(run), open)
    this.#act(() => this.#begin(open, plan))
  }

  take({ run, waits, input }: TaskTold): void {
    if (waits) return
    const key = effectKey(run)
    const open = this.#open.get(key)
    if (open) open.isOver = true
    if (open || input) this.#init.onEnd({ key, inputs: [input ?? createLoss(run)] })
  }

  async #begin(open: OpenRun, plan: WorkPlan): Promise<void> {
    const { run } = open
    const { pos, birth } = this.#init.state()
    const start: TaskStart = { job: { identity: this.#init.identity(), effect: run, pos, records: [], birth }, plan }
    try {
      const { result } = await startChild(TASK_WORKFLOW, {
        workflowId: this.#nameOf(run),
        args: [start],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        // An attempt never begins twice, whatever became of the first one.
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      })
      // It reports before it completes.
      const ended = (): void => this.#lose(open)
      result().then(ended, ended)
    } catch (cause) {
      if (!(cause instanceof WorkflowExecutionAlreadyStartedError)) {
        this.#lose(open)
        throw cause
      }
      // By a run that was terminated before its records were stored.
      open.isOwn = false
      await this.#askOne(open)
    }
  }

  #ask(): void {
    const foreign = [...this.#open.values()].filter(({ isOwn }) => !isOwn)
    if (this.#isAsking || this.#isHeld || foreign.length === 0) return
    this.#isAsking = true
    for (const open of foreign) this.#act(() => this.#askOne(open))
    void sleep(ASK_MS).then(() => {
      this.#isAsking = false
      this.#ask()
    })
  }

  async #askOne(open: OpenRun): Promise<void> {
    await this.#handle(open.run)
      .signal(TASK_ASKED)
      .catch(() => this.#lose(open))
  }

  #lose(open: OpenRun): void {
    const key = effectKey(open.run)
    if (open.isOver || this.#open.get(key) !== open) return
    open.isOver = true
    this.#init.onEnd({ key, inputs: [createLoss(open.run)] })
  }

  #handle(run: TaskRun): ReturnType<typeof getExternalWorkflowHandle> {
    return getExternalWorkflowHandle(this.#nameOf(run))
  }

  #nameOf(run: TaskRun): string {
    return nameTask(this.#init.identity().session, run)
  }

  /** The cancellation of the session's workflow must not cancel it. Never rejects. */
  #act(act: () => Promise<void>): void {
    this.#acting += 1
    CancellationScope.nonCancellable(act)
      .catch((cause: unknown) => log.info('the workflow of a task cannot be reached', { cause: String(cause) }))
      .finally(() => (this.#acting -= 1))
  }
}
