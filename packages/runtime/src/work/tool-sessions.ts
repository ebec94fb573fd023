// Sessions that a running tool opens: others of its host, and its own for reminders. They are closed when its run ends.
import type { Session, SessionOptions } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { describeThrown } from '../describe-thrown.ts'
import type { ToolJob } from './jobs.ts'
import type { WorkContext } from './work.ts'

type Reminders = Pick<Session, 'at' | 'every' | 'reminders' | 'cancelReminder'>

/** `isTainted`: the model that calls the tool may repeat a stranger's words. */
export function remindersOf(session: Session, isTainted: boolean): Reminders {
  const { at, every, reminders, cancelReminder } = session
  if (!isTainted) return { at, every, reminders, cancelReminder }
  const trust = 'untrusted' as const
  return {
    at: (time, input, options) => at(time, input, { ...options, trust }),
    every: (rule, input, options) => every(rule, input, { ...options, trust }),
    reminders,
    cancelReminder,
  }
}

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
    return this.#hold(await openSession(id, { ...options, principal: options?.principal ?? { id: principal } }))
  }

  /** The session of the call. @throws BatonError as `open` */
  async own(): Promise<Session> {
    const { session, principal } = this.#job
    const { openSession } = this.#context
    if (this.#isOver()) throw this.#createOverError()
    if (!openSession)
      throw new BatonError({ code: 'illegal_input', message: 'this kind of host has no reminders for its tools' })
    return this.#hold(await openSession(session, { principal: { id: principal }, existing: true }))
  }

  #hold(opened: Session): Session {
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
