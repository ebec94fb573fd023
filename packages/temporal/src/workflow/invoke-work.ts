// One piece of work in a workflow: an activity of Baton's workers, or a custom activity or workflow.
import {
  ActivityFailure,
  ApplicationFailure,
  executeChild,
  isCancellation,
  scheduleActivity,
  TimeoutFailure,
} from '@temporalio/workflow'
import { ActivityCancellationType } from '@temporalio/common'
import type { JsonValue } from '@baton/core'
import type { HostReport } from '@baton/core/machine'
import type { WorkEffectData, WorkflowInput, WorkJob, WorkPlan } from '../contract.ts'
import { NOT_BEGUN } from '../contract.ts'

/** Returns `undefined` if there is nothing to report. @throws ActivityFailure */
export async function invokeWork(job: WorkJob, plan: WorkPlan): Promise<WorkflowInput | undefined> {
  if (isForeign(plan)) return await invokeForeign(job.effect, plan)
  const report = await scheduleActivity<HostReport | null | undefined>(`baton.${plan.runs}`, [job], {
    ...(plan.taskQueue !== undefined && { taskQueue: plan.taskQueue }),
    startToCloseTimeout: plan.startToCloseMs,
    ...(plan.heartbeatMs !== undefined && { heartbeatTimeout: plan.heartbeatMs }),
    // The machine repeats what may be repeated, and counts attempts.
    retry: { maximumAttempts: 1 },
    // Waits for everything said and done until the end.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  })
  return report ?? undefined
}

export function createLoss(effect: WorkEffectData): HostReport {
  const { attempt } = effect
  if (effect.type !== 'run-tool') return { type: 'work-lost', work: { type: 'model', attempt } }
  return { type: 'work-lost', work: { type: 'tool', callId: effect.callId, attempt } }
}

export function isNotBegun(cause: unknown): boolean {
  return cause instanceof ActivityFailure && cause.cause instanceof ApplicationFailure && cause.cause.type === NOT_BEGUN
}

type ForeignPlan = Extract<WorkPlan, { readonly runs: 'activity' | 'workflow' }>

/** Custom work takes no records along. */
export function isForeign(plan: WorkPlan): plan is ForeignPlan {
  return plan.runs === 'activity' || plan.runs === 'workflow'
}

/** Runs a custom activity or workflow; its value becomes a result where decisions are made. */
async function invokeForeign(effect: WorkEffectData, plan: ForeignPlan): Promise<WorkflowInput | undefined> {
  if (effect.type !== 'run-tool') return undefined
  const { callId, attempt } = effect
  const about = { type: 'foreign-finished', callId, attempt, name: plan.name } as const
  const taskQueue = plan.taskQueue === undefined ? {} : { taskQueue: plan.taskQueue }
  const retry = { maximumAttempts: plan.attempts }
  try {
    const value: JsonValue | undefined =
      plan.runs === 'activity'
        ? await scheduleActivity<JsonValue | undefined>(plan.type, [...plan.args], {
            ...taskQueue,
            startToCloseTimeout: plan.startToCloseMs,
            ...(plan.heartbeatMs !== undefined && { heartbeatTimeout: plan.heartbeatMs }),
            retry,
          })
        : ((await executeChild(plan.type, {
            ...taskQueue,
            args: [...plan.args],
            workflowId: `${callId}/${attempt}`,
            workflowExecutionTimeout: plan.startToCloseMs,
            retry,
          })) as JsonValue | undefined)
    return { ...about, value: value ?? null }
  } catch (cause) {
    // After a time-out it is unknown whether the work was done, as after the death of a tool's process.
    if (isCancellation(cause) || (cause instanceof Error && cause.cause instanceof TimeoutFailure)) throw cause
    const why =
      cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause)
    return { ...about, failure: why }
  }
}
