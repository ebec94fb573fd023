// Requests other than inputs: without a connection they wait for one, and after a broken one they are repeated unless
// they were done.
import type { AnswerOf, RequestType, Requests } from '@baton/protocol'
import type { ClientError } from '../client-error.ts'
import { WAITING_MAX, createFullError, createLostError } from '../client-error.ts'
import type { SessionContext } from './session-context.ts'

export interface RequestOptions {
  /** Called for a sent request without an answer: whether its purpose was achieved, or no longer applies. */
  readonly isDone?: (() => boolean) | undefined
  /** It must not be done twice, and nothing tells whether it was done: it is not repeated. */
  readonly once?: true
}

interface Waiting {
  readonly send: () => void
  readonly fail: (error: ClientError) => void
}

/** Milliseconds that a request waits for a connection and its answer. */
const WAIT_MS = 30_000

export class SessionRequests {
  readonly #session: Pick<SessionContext, 'world' | 'isLive' | 'isClosed' | 'ask'>
  readonly #waiting = new Set<Waiting>()

  constructor(session: Pick<SessionContext, 'world' | 'isLive' | 'isClosed' | 'ask'>) {
    this.#session = session
  }

  /**
   * @throws ClientError the server's error, `connection_failed` if the server is not reached in time, `session_closed`
   */
  ask<Type extends RequestType>(
    type: Type,
    given: Requests[Type]['given'],
    { isDone, once }: RequestOptions = {},
  ): Promise<AnswerOf<Type>> {
    const session = this.#session
    return new Promise((resolve, reject) => {
      if (this.#waiting.size >= WAITING_MAX) return reject(createFullError('requests'))
      let wasSent = false
      const end = (): boolean => {
        stopTimer()
        return this.#waiting.delete(waiting)
      }
      const fail = (error: ClientError): void => {
        if (end()) reject(error)
      }
      const finish = (answer: AnswerOf<Type>): void => {
        if (end()) resolve(answer)
      }
      const send = (): void => {
        // Only requests with an empty answer can be done already.
        if (wasSent && isDone?.()) return finish({} as AnswerOf<Type>)
        wasSent = true
        session.ask(type, given, (answer) => {
          if (answer.ok) finish(answer.value)
          // If the connection broke, it is repeated over the next one.
          else if (session.isLive || once || answer.error.code !== 'connection_failed') fail(answer.error)
        })
      }
      const waiting: Waiting = { send, fail }
      const stopTimer = session.world.start(WAIT_MS, () => fail(createLostError()))
      this.#waiting.add(waiting)
      // A closed session reports it at once.
      if (session.isLive || session.isClosed) send()
    })
  }

  /** Called when the connection is back. */
  resume(): void {
    for (const waiting of this.#waiting) waiting.send()
  }

  close(error: ClientError): void {
    for (const waiting of this.#waiting) waiting.fail(error)
  }
}
