// The time of a workflow that a test moves. Temporal's development server skips time for each workflow by itself: nothing else
// of the service notices. What a worker does takes its real time: while an activity runs, the workflow's clock does not jump.
import { randomUUID } from 'node:crypto'

/** The used part of the SDK's `WorkflowService`. */
export interface SkippingService {
  updateWorkflowExecutionOptions(request: FastForwardRequest): Promise<unknown>
  pollWorkflowExecutionTimeSkipping(
    request: About & { readonly fastForwardId: string },
  ): Promise<{ readonly fastForwardPollingResult?: number | null; readonly failedReason?: string | null }>
}

interface About {
  readonly namespace: string
  readonly workflowExecution: { readonly workflowId: string }
}

interface FastForwardRequest extends About {
  readonly workflowExecutionOptions: {
    readonly timeSkippingConfig: {
      readonly enabled: boolean
      readonly maxSessionSkipCount: number
      readonly fastForwardConfig: {
        readonly id: string
        readonly duration: { readonly seconds: never; readonly nanos: number }
      }
    }
  }
  readonly updateMask: { readonly paths: string[] }
}

/** `FastForwardPollingResult` */
const POLL_TIMEOUT = 1
const COMPLETED = 2
/** Jumps from timer to timer in one call. */
const JUMPS_MAX = 10_000
/** Milliseconds for which work that runs is waited for. */
const PATIENCE_MS = 60_000

/**
 * Lets so many milliseconds pass for a workflow and for the runs that it continues as. Timers fire at their time. It waits for
 * activities that run, and their time-outs are those of the real clock.
 * @throws Error when the workflow ends before, activities run for longer than a minute, or the service cannot skip time
 */
export async function skipTime(service: SkippingService, workflowId: string, ms: number): Promise<void> {
  const about: About = { namespace: 'default', workflowExecution: { workflowId } }
  const id = randomUUID()
  // The SDK's type is a 64-bit integer of a library; it encodes a number as well.
  const seconds = Math.floor(ms / 1000) as never
  const fastForwardConfig = { id, duration: { seconds, nanos: Math.round((ms % 1000) * 1e6) } }
  await service.updateWorkflowExecutionOptions({
    ...about,
    workflowExecutionOptions: {
      timeSkippingConfig: { enabled: true, maxSessionSkipCount: JUMPS_MAX, fastForwardConfig },
    },
    updateMask: { paths: ['time_skipping_config'] },
  })
  const untilMs = performance.now() + PATIENCE_MS
  for (;;) {
    const polled = await service.pollWorkflowExecutionTimeSkipping({ ...about, fastForwardId: id })
    if (polled.fastForwardPollingResult === COMPLETED) return
    if (polled.fastForwardPollingResult === POLL_TIMEOUT && performance.now() < untilMs) continue
    const why = polled.failedReason || 'its activities do not end'
    throw new Error(`${ms} ms of workflow ${workflowId} were not skipped: ${why}`)
  }
}
