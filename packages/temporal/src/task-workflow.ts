// Names of `baton.task` workflows, which run the tools of calls that may outlive their turns.
import type { AwaitedEffect, State } from '@baton/core/machine'

export const TASK_WORKFLOW = 'baton.task'
/** The signal from such a workflow to its session. */
export const TASK_TOLD = 'baton.task-told'
/** The signal to such a workflow: it fails unless the workflow is running. */
export const TASK_ASKED = 'baton.task-asked'
/** Prefix of workflow ids; no session may have such a name. */
export const TASK_PREFIX = 'baton.task.'

/** One run of a tool. */
export type TaskRun = Extract<AwaitedEffect, { readonly type: 'run-tool' }>

export function nameTask(session: string, { callId, attempt }: Pick<TaskRun, 'callId' | 'attempt'>): string {
  return `${TASK_PREFIX}${session}/${callId}/${attempt}`
}

/** Returns true for calls in the background, and for those that an interrupt sends there. */
export function mayOutlive({ step, tasks }: State, callId: string): boolean {
  const call = [...(step?.calls ?? []), ...tasks].find((one) => one.callId === callId)
  if (!call) return false
  return call.background !== undefined || call.onInterrupt === 'background' || call.onInterrupt === 'detach'
}
