// The connection to a server, in version 2: it breaks and comes back, asks, and hands on what it is told. It knows no session.
import type { AnswerOf, CLOSE_CODES_2, RequestType, Requests, ServerFrame2 } from '@baton/protocol'
import { SUBPROTOCOL, decodeServerFrame2 } from '@baton/protocol'
import { ClientError, createClosedError, createError, createLostError } from './client-error.ts'
import type { ReconnectOptions } from './connection.ts'
import { delayMs, describeRefusal } from './connection.ts'
import { countBytes } from './count-bytes.ts'
import type { WebSocketLike, World } from './world.ts'

type Hello = Extract<ServerFrame2, { readonly type: 'hello' }>
/** Frames of a server that answer no request. */
export type Notice = Exclude<ServerFrame2, { readonly type: 'hello' | 'ok' | 'error' }>

export interface WireOptions {
  /** `ws://127.0.0.1:8080/ws`; a token goes into `?token=`. */
  readonly url: string
  readonly reconnect?: ReconnectOptions
}

/** The session or directory that uses a connection and hears what happens to it. */
export interface WireUser {
  readonly world: World
  takeConnecting(): void
  /** The server said hello: requests may be sent. */
  takeHello(): void
  takeNotice(notice: Notice): void
  /**
   * The connection broke, and will come back. `isDeviceTaken`: another connection has the device's name. What was asked is
   * answered with `connection_failed` afterwards.
   */
  takeLoss(isDeviceTaken: boolean): void
  /** An error that answers no request. */
  complain(error: ClientError): void
  /** The server refuses this client for good: the connection stays closed. */
  end(error: ClientError): void
}

export type Settle<Type extends RequestType> = (
  answer: { readonly ok: true; readonly value: AnswerOf<Type> } | { readonly ok: false; readonly error: ClientError },
) => void

export interface Wire {
  /** Who asks bounds how much. `settle` is called once, in the order of the server's frames, also when the connection breaks or no answer comes. */
  ask<Type extends RequestType>(type: Type, given: Requests[Type]['given'], settle: Settle<Type>): void
  /** Breaks the connection, which comes back after a pause. */
  drop(): void
  /** For good. `error`: what every request is answered with that has no answer yet. */
  close(error: ClientError): void
}

/** Milliseconds in which a new connection must say hello, and for which one must live for the pauses to begin anew. */
const HELLO_MS = 10_000
/** Milliseconds in which a request is answered. */
const ANSWER_MS = 30_000
/** Milliseconds between two looks at whether something came: two without are followed by a ping, and three are the end. */
const LISTEN_MS = 10_000
const QUIET_LOOKS = 2
/** Numbers of their own: the whole table would be in every page. */
const UNAUTHORIZED = 4401 satisfies typeof CLOSE_CODES_2.unauthorized
const DEVICE_TAKEN = 4409 satisfies typeof CLOSE_CODES_2.deviceTaken

/** Connects at once. */
export function openWire(options: WireOptions, user: WireUser): Wire {
  return new ServerWire(options, user)
}

class ServerWire implements Wire {
  readonly #options: WireOptions
  readonly #user: WireUser
  readonly #world: World
  readonly #asked = new Map<string, Settle<never>>()
  #socket: WebSocketLike | undefined
  /** Hello of the open connection. */
  #hello: Hello | undefined
  #helloMs = 0
  #tries = 0
  #requests = 0
  #quietLooks = 0
  #closed = false
  /** Timer of the hello, of the next look, or of the pause. */
  #stopTimer: (() => void) | undefined
  readonly #stopOnline: (() => void) | undefined

  constructor(options: WireOptions, user: WireUser) {
    this.#options = options
    this.#user = user
    this.#world = user.world
    this.#stopOnline = user.world.onOnline?.(() => {
      if (!this.#socket) this.connect()
    })
    this.connect()
  }

  connect(): void {
    this.#stopTimer?.()
    this.#user.takeConnecting()
    if (this.#closed) return // by whom it was told
    let opened: WebSocketLike
    try {
      opened = this.#world.openSocket(this.#options.url, SUBPROTOCOL)
    } catch (cause) {
      this.#stopOnline?.()
      throw createError('invalid_option', `url: ${String(cause)}`) // with the first connection
    }
    this.#socket = opened
    let isOpen = false
    opened.onopen = () => {
      isOpen = true
    }
    opened.onmessage = (event: { readonly data: unknown }) => {
      if (this.#socket !== opened) return
      try {
        this.#take(event.data)
      } catch (cause) {
        // An error of the socket's listener would end a process.
        this.#user.complain(createError('internal', String(cause)))
        this.drop()
      }
    }
    opened.onclose = (event: { readonly code?: number } | undefined) => {
      if (this.#socket === opened) this.#lose(isOpen, event?.code)
    }
    opened.onerror = () => {} // the close event follows and says all there is to say
    this.#stopTimer = this.#world.start(HELLO_MS, () => {
      if (isOpen)
        this.#user.complain(
          createError(
            'connection_failed',
            `the server did not say hello in ${SUBPROTOCOL}`,
            'Use a server of the same version.',
          ),
        )
      this.drop(isOpen)
    })
  }

  ask<Type extends RequestType>(type: Type, given: Requests[Type]['given'], settle: Settle<Type>): void {
    const id = String((this.#requests += 1))
    const text = JSON.stringify({ ...given, id, type })
    const error = this.#closed ? createClosedError() : this.#findIssue(text)
    if (error) return settle({ ok: false, error })
    const stopTimer = this.#world.start(ANSWER_MS, () => this.#settle(id, { ok: false, error: createLostError() }))
    this.#asked.set(id, (answer) => {
      stopTimer()
      settle(answer)
    })
    this.#socket?.send(text)
  }

  drop(wasOpen = true): void {
    this.#socket?.close()
    if (this.#socket) this.#lose(wasOpen)
  }

  close(error: ClientError): void {
    this.#closed = true
    this.#stopTimer?.()
    this.#stopOnline?.()
    const open = this.#socket
    this.#socket = undefined
    open?.close(1000)
    this.#failAll(error)
  }

  #findIssue(text: string): ClientError | undefined {
    if (!this.#hello) return createLostError()
    const bytes = countBytes(text)
    const { frameBytes } = this.#hello.limits
    if (bytes <= frameBytes) return undefined
    return createError('input_too_large', `a frame of ${bytes} bytes; the server takes ${frameBytes}`)
  }

  #take(data: unknown): void {
    this.#quietLooks = 0
    const frame = decodeServerFrame2(data as string) // the decoder refuses everything but text
    if (!frame) return // of a newer server
    switch (frame.type) {
      case 'hello':
        if (this.#hello) throw new Error('a second hello') // the server is left
        this.#hello = frame
        this.#helloMs = this.#world.nowMs()
        this.#listen()
        this.#user.takeHello()
        break
      case 'ok':
        this.#settle(frame.re, { ok: true, value: frame as never }) // the server answers a request with what belongs to it
        break
      case 'error': {
        const error = new ClientError(frame)
        if (frame.re) this.#settle(frame.re, { ok: false, error })
        else this.#user.complain(error)
        break
      }
      default:
        this.#user.takeNotice(frame)
    }
  }

  /** Does nothing where it was answered before, or its time was over. */
  #settle(id: string, answer: Parameters<Settle<never>>[0]): void {
    const settle = this.#asked.get(id)
    this.#asked.delete(id)
    settle?.(answer)
  }

  /** Looks every while whether the server lives. */
  #listen(): void {
    this.#stopTimer?.()
    this.#stopTimer = this.#world.start(LISTEN_MS, () => {
      this.#quietLooks += 1
      if (this.#quietLooks > QUIET_LOOKS) return this.drop()
      if (this.#quietLooks === QUIET_LOOKS) this.ask('ping', {}, () => {})
      this.#listen()
    })
  }

  #lose(wasOpen: boolean, code?: number): void {
    const world = this.#world
    if (this.#hello && world.nowMs() - this.#helloMs >= HELLO_MS) this.#tries = 0
    this.#socket = undefined
    this.#hello = undefined
    this.#stopTimer?.()
    if (code === UNAUTHORIZED) return this.#refuse('the token is no longer valid')
    let pauseMs = delayMs({ ...this.#options, world }, this.#tries)
    // A server that is started again will soon be back.
    if (this.#tries === 0 && (code === 1001 || code === 1012)) pauseMs *= world.random()
    this.#stopTimer = world.start(pauseMs, () => this.connect())
    this.#tries += 1
    this.#user.takeLoss(code === DEVICE_TAKEN)
    this.#failAll(createLostError())
    if (!wasOpen) void this.#askWhy()
  }

  #failAll(error: ClientError): void {
    for (const id of this.#asked.keys()) this.#settle(id, { ok: false, error })
  }

  async #askWhy(): Promise<void> {
    const status = (await this.#world.probe?.(this.#options.url)) ?? 0
    if (this.#closed || this.#hello) return
    const refusal = describeRefusal(status)
    if (refusal) this.#refuse(refusal)
    // It may be a proxy whose server is away: the client tries on.
    if (status === 404) this.#user.complain(createError('connection_failed', 'HTTP 404: does the url end with /ws?'))
  }

  #refuse(message: string): void {
    this.#user.end(createError('unauthorized', message))
  }
}
