// The `baton.task` workflow: runs one tool. It has no state of its session, which continues as new while the tool runs.
import { CancellationScope, getExternalWorkflowHandle, setHandler, sleep } from '@temporalio/workflow'
import type { TaskStart, TaskTold, WorkflowInput } from '../contract.ts'
import { AGAIN_MS } from '../contract.ts'
import { TASK_TOLD } from '../task-workflow.ts'
import { taskAskedSignal } from './activities.ts'
import { invokeWork, isNotBegun } from './invoke-work.ts'

/** Maximum milliseconds between tries of a tool that could not begin. */
const AGAIN_MAX_MS = 60_000

/** Ends when its session knows the outcome, or is not running. A session that starts again has lost the tool, as after a crash. */
export async function runTask({ job, plan }: TaskStart): Promise<void> {
  const { effect, identity, birth = '' } = job
  if (effect.type !== 'run-tool') return
  setHandler(taskAskedSignal, () => {}) // a signal to a workflow that has ended fails
  for (let tries = 0; ; tries++) {
    let input: WorkflowInput | undefined
    try {
      input = await invokeWork(job, plan)
    } catch (cause) {
      if (isNotBegun(cause)) {
        if (!(await tell(identity.session, { birth, run: effect, waits: true }))) return
        await sleep(Math.min(AGAIN_MS * 2 ** tries, AGAIN_MAX_MS)).catch(() => {}) // cancelled: so is the next try
        continue
      }
    }
    await tell(identity.session, { birth, run: effect, ...(input && { input }) })
    return
  }
}

/** Returns whether the session is running. */
async function tell(session: string, told: TaskTold): Promise<boolean> {
  const signal = (): Promise<void> => getExternalWorkflowHandle(session).signal<[TaskTold]>(TASK_TOLD, told)
  return await CancellationScope.nonCancellable(signal).then(
    () => true,
    () => false,
  )
}
