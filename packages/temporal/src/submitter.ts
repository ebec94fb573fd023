// Submits inputs to the workflows of sessions. One Update per session is in progress at a time; inputs that arrive
// meanwhile share the next one, as a group commit. A service accepts ten Updates at once, and 2,000 per run.
import { BatonError, isErrorCode } from '@baton/core/internal'
import type { Input } from '@baton/core/machine'
import {
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client'
import type { Client, WithStartWorkflowOperation } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Answers, Submission } from './contract.ts'
import { INPUTS_MAX, SUBMIT } from './contract.ts'
import { ServiceCalls } from './service-calls.ts'

/** Bytes of one Update's inputs: the service accepts 2 MB, and a run given more cannot complete. */
const BYTES_MAX = 1_500_000
/** Default milliseconds to keep trying an Update, and between tries. */
const TRY_MS = 60_000
const AGAIN_MS = 200
/** Submissions of one session that may wait for the Update in progress. */
const QUEUE_MAX = 10_000

interface Waiting {
  readonly inputs: readonly Input[]
  readonly resolve: (answers: Answers) => void
  readonly reject: (cause: unknown) => void
}

export interface SubmitterOptions {
  readonly client: Client
  /**
   * Tracks all calls over the same connection. Without it, closing the connection does not wait for this submitter's
   * calls.
   */
  readonly calls?: ServiceCalls
  /** Milliseconds to keep trying an Update. Default: 60,000. */
  readonly tryMs?: number
  /** Starts the workflow of a session if none is running. Without it, such a session is `session_closed`. */
  readonly start?: (session: string) => Promise<WithStartWorkflowOperation<() => Promise<void>>>
  /** Distinguishes a session from a removed one of its name; absent if that does not matter. */
  readonly findBirth?: (session: string) => string | undefined
}

export class Submitter {
  readonly #init: SubmitterOptions
  readonly #calls: ServiceCalls
  readonly #queues = new Map<string, Waiting[]>()

  constructor(init: SubmitterOptions) {
    this.#init = init
    this.#calls = init.calls ?? new ServiceCalls(init.client)
  }

  /** @throws BatonError `session_closed`, `store_failed`, `input_too_large`, `queue_full` */
  submitTo(session: string): (inputs: readonly Input[]) => Promise<Answers> {
    return (inputs) =>
      new Promise((resolve, reject) => {
        const queue = this.#queues.get(session)
        if (queue && queue.length >= QUEUE_MAX) {
          const message = `${QUEUE_MAX} inputs of session ${session} are already waiting for the service`
          reject(new BatonError({ code: 'queue_full', message }))
          return
        }
        if (queue) {
          queue.push({ inputs, resolve, reject })
          return
        }
        this.#queues.set(session, [{ inputs, resolve, reject }])
        void this.#drain(session)
      })
  }

  /** Submits a single Update, optionally with another agent. */
  async submit(session: string, submission: Submission): Promise<Answers> {
    const bytes = Buffer.byteLength(JSON.stringify(submission))
    if (bytes > BYTES_MAX) {
      const message = `the input has ${bytes} bytes as JSON; a session accepts at most ${BYTES_MAX} at once`
      throw new BatonError({ code: 'input_too_large', message })
    }
    const updateId = randomUUID()
    const { client, tryMs = TRY_MS } = this.#init
    const untilMs = performance.now() + tryMs
    for (;;) {
      try {
        // Without a worker there is no answer, and the service itself would wait forever.
        const deadlineMs = Date.now() + Math.max(1, untilMs - performance.now())
        const update = (): Promise<Answers> => this.#update(session, submission, updateId)
        return await this.#calls.run(() => client.withDeadline(deadlineMs, update))
      } catch (cause) {
        const error = describeFailure(session, cause)
        if (!error.retryable || performance.now() > untilMs || this.#calls.isEnding) throw error
        await wait(AGAIN_MS)
      }
    }
  }

  async #update(session: string, submission: Submission, updateId: string): Promise<Answers> {
    const { client, start } = this.#init
    const birth = this.#init.findBirth?.(session)
    const options = { args: [{ ...submission, ...(birth !== undefined && { birth }) }] as [Submission], updateId }
    try {
      return await client.workflow.getHandle(session).executeUpdate<Answers, [Submission]>(SUBMIT, options)
    } catch (cause) {
      if (!(cause instanceof WorkflowNotFoundError) || !start) throw cause
      return await client.workflow.executeUpdateWithStart<() => Promise<void>, Answers, [Submission]>(SUBMIT, {
        ...options,
        startWorkflowOperation: await start(session),
      })
    }
  }

  async #drain(session: string): Promise<void> {
    const queue = this.#queues.get(session) ?? []
    while (queue.length > 0) {
      // Inputs of the same tick are sent together.
      await Promise.resolve()
      const taken = takeSome(queue)
      try {
        const answers = await this.submit(session, { inputs: taken.flatMap((one) => one.inputs) })
        let next = 0
        for (const { inputs, resolve } of taken) resolve(answers.slice(next, (next += inputs.length)))
      } catch (cause) {
        for (const { reject } of taken) reject(cause)
      }
    }
    this.#queues.delete(session)
  }
}

/** Takes the submissions that fit into one Update, at least one. */
function takeSome(queue: Waiting[]): readonly Waiting[] {
  const taken: Waiting[] = []
  let count = 0
  let chars = 0
  for (const one of queue) {
    count += one.inputs.length
    chars += JSON.stringify(one.inputs).length
    if (taken.length > 0 && (count > INPUTS_MAX || chars > BYTES_MAX / 3)) break
    taken.push(one)
  }
  queue.splice(0, taken.length)
  return taken
}

/** `retryable`: the same Update may be sent again, since its id identifies it. */
function describeFailure(session: string, cause: unknown): BatonError {
  if (cause instanceof BatonError) return cause
  if (cause instanceof WorkflowUpdateFailedError) {
    const why = cause.cause
    const type = why instanceof ApplicationFailure ? (why.type ?? '') : ''
    const message = why?.message ?? cause.message
    if (isErrorCode(type)) return new BatonError({ code: type, message })
    // A run ended while it had the Update: the next one will accept it.
    if (type === 'AcceptedUpdateCompletedWorkflow')
      return new BatonError({ code: 'store_failed', message, retryable: true, cause })
    return new BatonError({ code: 'store_failed', message: `session ${session} could not decide: ${message}`, cause })
  }
  if (cause instanceof WorkflowNotFoundError)
    return new BatonError({ code: 'session_closed', message: `no workflow is running for session ${session}`, cause })
  const isPassing = cause instanceof WorkflowUpdateRPCTimeoutOrCancelledError || cause instanceof ServiceError
  const why = cause instanceof Error ? cause.message : String(cause)
  const message = `the Temporal service did not accept an input of session ${session}: ${why}`
  return new BatonError({ code: 'store_failed', message, retryable: isPassing, cause })
}
