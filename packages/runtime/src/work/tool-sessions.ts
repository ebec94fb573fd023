// Sessions that one run of a tool opens on its host. Their handles are closed when the run ends.
import type { Session, SessionOptions } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { describeThrown } from '../describe-thrown.ts'
import type { ToolJob } from './jobs.ts'
import type { WorkContext } from './work.ts'

export class ToolSessions {
  readonly #context: Pick<WorkContext, 'openSession' | 'log'>
  readonly #job: Pick<ToolJob, 'session' | 'principal' | 'callId'>
  readonly #isOver: () => boolean
  readonly #opened = new Set<Session>()

  /** `isOver`: whether the run has ended. */
  constructor(
    context: Pick<WorkContext, 'openSession' | 'log'>,
    job: Pick<ToolJob, 'session' | 'principal' | 'callId'>,
    isOver: () => boolean,
  ) {
    this.#context = context
    this.#job = job
    this.#isOver = isOver
  }

  /** @throws BatonError `illegal_input`, `cancelled`, and as `host.session` does */
  async open(id: string | undefined, options: SessionOptions | undefined): Promise<Session> {
    const { session, principal } = this.#job
    const { openSession } = this.#context
    if (this.#isOver()) throw this.#createOverError()
    if (!openSession)
      throw new BatonError({ code: 'illegal_input', message: 'this kind of host opens no sessions for its tools' })
    if (id === session)
      throw new BatonError({
        code: 'illegal_input',
        message: 'a tool cannot open the session that it runs in: its turn would wait for itself',
        hint: 'Open a session with another id, such as openSession(`helper-${idempotencyKey}`).',
      })
    const opened = await openSession(id, { ...options, principal: options?.principal ?? { id: principal } })
    if (this.#isOver()) {
      this.#close(opened)
      throw this.#createOverError()
    }
    this.#opened.add(opened)
    return opened
  }

  /** Call at the end of the run. Running turns continue. */
  end(): void {
    for (const opened of this.#opened) this.#close(opened)
  }

  #close(opened: Session): void {
    opened.close().catch((cause: unknown) => {
      const { callId } = this.#job
      this.#context.log.warn('a session of a tool was not closed', { callId, cause: describeThrown(cause) })
    })
  }

  #createOverError(): BatonError {
    return new BatonError({ code: 'cancelled', message: `call ${this.#job.callId} has ended, so it opens no session` })
  }
}
