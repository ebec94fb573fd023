// One connection of version 2: processes the app's requests in order, and answers each once.
import { BatonError, isBatonError } from '@baton/core'
import type { V2ClientFrame, Requests, RequestType } from '@baton/protocol'
import { PROTOCOL_VERSION_2, SUBPROTOCOL } from '@baton/protocol'
import { describeThrown } from '@baton/runtime'
import { CLOSE_CODES } from '../shared/socket.ts'
import type { Message } from './app-frames.ts'
import { AppFrames } from './app-frames.ts'
import { checkRequest } from './frame-checks.ts'
import { leaveFollowed, leaveLink, openFollowed, waitForRoom } from './v2-follow.ts'
import { answerRequest, checkGiven } from './v2-requests.ts'
import type { V2ConnectionOptions, V2State } from './v2-state.ts'
import { OF_SESSION, V2Writer } from './v2-state.ts'
import type { FrontConnection, Socket } from '../shared/socket.ts'
import { passOn } from './open-held-session.ts'

export function openV2Connection(init: V2ConnectionOptions): FrontConnection {
  return new Connection(init)
}

/** Requests that only read and need not wait for others, up to READS_MAX at a time. */
const READERS: ReadonlySet<RequestType> = new Set(['ping', 'session.info', 'session.messages', 'session.list'])
const READS_MAX = 16
/** Consecutive frames refused without parsing until a connection is closed. */
const REFUSED_MAX = 500

class Connection implements FrontConnection {
  readonly #state: V2State
  readonly #frames: AppFrames
  #reads = 0
  #refused = 0
  #isPumping = false

  constructor(init: V2ConnectionOptions) {
    const { clock, limits } = init
    this.#state = {
      init,
      writer: new V2Writer(init),
      isGone: () => this.#frames.isClosed,
      followed: undefined,
      link: undefined,
      isLinkOver: false,
      forgetDevice: undefined,
      stopWatching: undefined,
    }
    this.#frames = new AppFrames({
      init,
      isBusy: () => this.isBusy() || this.#state.link !== undefined,
      fail: (code, message) => this.#fail({ code, message }),
      onFrame: () => void this.#pump(),
      onEnd: () => this.#end(),
    })
    const { socketBytes: frameBytes, resultBytes } = limits
    this.#state.writer.write({
      type: 'hello',
      protocol: PROTOCOL_VERSION_2,
      nowMs: clock.nowMs(),
      limits: { frameBytes, resultBytes },
    })
  }

  isBusy(): boolean {
    return this.#isPumping || this.#state.followed?.activity === 'running'
  }

  busySession(): string | undefined {
    const { followed } = this.#state
    return followed?.activity === 'running' ? followed.session.id : undefined
  }

  close(code: number, reason: string): void {
    this.#state.init.socket.close(code, reason)
  }

  #end(): void {
    const { stopWatching, link } = this.#state
    stopWatching?.()
    link?.close()
    void this.#pump()
  }

  /** Processes requests in order, each after the previous one was answered. Never rejects. */
  async #pump(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    try {
      for (let message = this.#frames.take(); message; message = this.#frames.take())
        if (await waitForRoom(this.#state)) await this.#take(message)
        else this.close(CLOSE_CODES.tooSlow, 'the connection reads too slowly')
    } catch (cause) {
      this.#closeFailed(cause)
    }
    this.#isPumping = false
    if (!this.#frames.isClosed) return
    await leaveFollowed(this.#state).catch((cause: unknown) => {
      const { log, connection } = this.#state.init
      log.warn('a connection could not leave its session', { connection, cause: describeThrown(cause) })
    })
  }

  async #take(message: Message): Promise<void> {
    if (this.#state.writer.isTooSlow) return // it is being closed, so the answer would not be read
    const checked = checkRequest(this.#state.init, message, this.#state.followed)
    if (!checked.ok) {
      this.#refused += checked.isUnread ? 1 : 0
      this.#fail(checked, checked.re)
      if (this.#refused > REFUSED_MAX) this.close(CLOSE_CODES.policy, 'too many frames were refused')
      return
    }
    this.#refused = 0
    const { frame, text } = checked
    const { link } = this.#state
    if (link && (OF_SESSION.has(frame.type) || isOfFollowed(frame))) {
      link.send(frame.id, text)
      if (frame.type !== 'session.close') return
      await leaveLink(this.#state)
      if (link.isAnswered(frame.id)) return
    }
    if (READERS.has(frame.type) && this.#reads < READS_MAX) {
      this.#reads += 1
      this.#answer(frame)
        .catch((cause: unknown) => this.#closeFailed(cause))
        .finally(() => {
          this.#reads -= 1
        })
    } else await this.#answer(frame)
  }

  /** Rejects if nothing can be written. */
  async #answer(frame: V2ClientFrame): Promise<void> {
    const { writer, init } = this.#state
    const { id, type, ...given } = frame
    try {
      if (type !== 'session.open') {
        writer.write({ type: 'ok', re: id, ...(await answerRequest(this.#state, type, given as never)) }) // as its type says
        return
      }
      checkGiven(type, given)
      const opened = await openFollowed(this.#state, given as Requests['session.open']['given'], frame)
      if (!opened) return
      writer.write({ type: 'ok', re: id, ...opened.answer })
      opened.start()
    } catch (cause) {
      const answered = await askHolder(init, frame, cause)
      if (answered === undefined) writer.fail(cause, id)
      else writer.writeText(answered)
    }
  }

  #closeFailed(cause: unknown): void {
    const { log, connection } = this.#state.init
    log.warn('a connection failed', { connection, cause: describeThrown(cause) })
    this.close(CLOSE_CODES.failed, 'internal error')
  }

  #fail({ code, message, retryAfterMs }: Failure, re?: string): void {
    const data = retryAfterMs === undefined ? {} : { retryAfterMs }
    this.#state.writer.fail(new BatonError({ code, message, data }), re)
  }
}

type Failure = Pick<BatonError, 'code' | 'message'> & { readonly retryAfterMs?: number }

/** `session.describe` without a session refers to the followed one. */
function isOfFollowed(frame: V2ClientFrame): boolean {
  return frame.type === 'session.describe' && frame.session === undefined
}

/** Requests that name their session. `session.open` is passed on with the connection. */
const NAMES_SESSION: ReadonlySet<RequestType> = new Set<RequestType>(['session.describe', 'session.delete'])
/** Milliseconds for the holder to answer. */
const ANSWER_MS = 30_000

/** `undefined` unless `cause` names a peer that holds the session, or if that peer does not answer within 30 s. */
async function askHolder(init: V2ConnectionOptions, frame: V2ClientFrame, cause: unknown): Promise<string | undefined> {
  if (!NAMES_SESSION.has(frame.type) || !isBatonError(cause) || cause.code !== 'session_held') return undefined
  const { address } = cause.data
  if (typeof address !== 'string') return undefined
  const answer = Promise.withResolvers<string | undefined>()
  const re = `"re":${JSON.stringify(frame.id)}`
  const isPassed = (text: string): boolean =>
    text.startsWith(`{"type":"ok",${re}`) || text.startsWith(`{"type":"error",${re}`)
  const socket = createCatcher(answer.resolve)
  const link = await passOn({ ...init, socket }, address, { protocol: SUBPROTOCOL, isPassed })
  if (!link) return undefined
  link.send(JSON.stringify(frame))
  const stop = init.timers.start(ANSWER_MS, () => answer.resolve(undefined))
  const answered = await answer.promise
  stop()
  link.close()
  return answered
}

/** A stand-in for the client's connection, which stays open when the peer's closes. */
function createCatcher(take: (text: string | undefined) => void): Socket {
  return {
    send: (text) => {
      take(text)
      return true
    },
    close: () => take(undefined),
    bufferedBytes: () => 0,
    onMessage: () => {},
    onClose: () => {},
  }
}
