// Moves a workflow's time in tests. Temporal's development server skips time per workflow, without affecting the rest
// of the service. Workers still take real time: while an activity runs, the workflow's clock does not jump.
import { randomUUID } from 'node:crypto'

/** The part of the SDK's `WorkflowService` that is used. */
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

/** Values of `FastForwardPollingResult`. */
const POLL_TIMEOUT = 1
const COMPLETED = 2
/** Maximum jumps from timer to timer in one call. */
const JUMPS_MAX = 10_000
/** Milliseconds to wait for running work. */
const PATIENCE_MS = 60_000

/**
 * Lets this many milliseconds pass for a workflow and the runs it continues as. Timers fire on time. Waits for running
 * activities, whose timeouts use the real clock.
 * @throws Error if the workflow ends first, activities run for longer than a minute, or the service cannot skip time
 */
export async function skipTime(service: SkippingService, workflowId: string, ms: number): Promise<void> {
  const about: About = { namespace: 'default', workflowExecution: { workflowId } }
  const id = randomUUID()
  // The SDK's type is a library's 64-bit integer, but it also encodes numbers.
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
