// The workflow's access to its activities, and its Update, signals and Query.
import { defineQuery, defineSignal, defineUpdate, scheduleActivity, scheduleLocalActivity } from '@temporalio/workflow'
import type { SessionRecord } from '@baton/core/machine'
import type {
  Answers,
  BatonActivities,
  PublishedUnder,
  PublishJob,
  Reported,
  ResultJob,
  Submission,
  TaskTold,
  Told,
} from '../contract.ts'
import type { SessionStateView } from '../state-view.ts'
import { REPORTED, STATE, SUBMIT, TOLD } from '../contract.ts'
import { TASK_ASKED, TASK_TOLD } from '../task-workflow.ts'

export const submitUpdate = defineUpdate<Answers, [Submission]>(SUBMIT)
export const toldSignal = defineSignal<[Told]>(TOLD)
export const reportedSignal = defineSignal<[Reported]>(REPORTED)
export const taskToldSignal = defineSignal<[TaskTold]>(TASK_TOLD)
export const taskAskedSignal = defineSignal(TASK_ASKED)
export const stateQuery = defineQuery<SessionStateView>(STATE)

/** Milliseconds for one attempt at a decision, and for all attempts before it fails. */
const DECIDE_MS = 10_000
const DECIDE_ALL_MS = 30_000
/**
 * Milliseconds for publishing and reading, which are retried until they succeed; the heartbeat detects a dead worker
 * before an attempt times out.
 */
const STORE_TIMES = {
  startToCloseTimeout: 30_000,
  heartbeatTimeout: 10_000,
  retry: { initialInterval: 200, backoffCoefficient: 2, maximumInterval: 10_000 },
}

type LocalType = 'baton.open' | 'baton.decide' | 'baton.tell' | 'baton.report'

export async function callLocally<Type extends LocalType>(
  type: Type,
  job: Parameters<BatonActivities[Type]>[0],
): Promise<Awaited<ReturnType<BatonActivities[Type]>>> {
  return await scheduleLocalActivity<Awaited<ReturnType<BatonActivities[Type]>>>(type, [job], {
    startToCloseTimeout: DECIDE_MS,
    scheduleToCloseTimeout: DECIDE_ALL_MS,
    retry: { initialInterval: 100, maximumInterval: 5000 },
  })
}

export async function publishRecords(
  session: string,
  records: readonly SessionRecord[],
  under: PublishedUnder | undefined,
): Promise<void> {
  const job: PublishJob = { session, records, ...(under && { under }) }
  await scheduleActivity('baton.publish', [job], STORE_TIMES)
}

export async function readResult(job: ResultJob): Promise<Awaited<ReturnType<BatonActivities['baton.result']>>> {
  return await scheduleActivity('baton.result', [job], STORE_TIMES)
}
