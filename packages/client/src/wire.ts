// The connection to a server, in version 2: it reconnects when it breaks, sends requests, and passes on the server's
// frames. It knows no session.
import type { AnswerOf, CLOSE_CODES_2, RequestType, Requests, V2ServerFrame } from '@baton/protocol'
import { SUBPROTOCOL, decodeV2ServerFrame } from '@baton/protocol'
import { ClientError, createClosedError, createError, createLostError } from './client-error.ts'
import type { ReconnectOptions } from './connection.ts'
import { delayMs, describeRefusal } from './connection.ts'
import type { WebSocketLike, World } from './world.ts'

type Hello = Extract<V2ServerFrame, { readonly type: 'hello' }>
/** Frames of a server that answer no request. */
export type Notice = Exclude<V2ServerFrame, { readonly type: 'hello' | 'ok' | 'error' }>

export interface WireOptions {
  /** `ws://127.0.0.1:8080/ws`; a token goes into `?token=`. */
  readonly url: string
  readonly reconnect?: ReconnectOptions
}

/** The session or directory that uses a connection and is notified about it. */
export interface WireUser {
  readonly world: World
  takeConnecting(): void
  /** The server said hello: requests may be sent. */
  takeHello(): void
  takeNotice(notice: Notice): void
  /**
   * The connection broke, and will be restored. `isDeviceTaken`: another connection has the device's name. Open
   * requests fail with `connection_failed` afterwards.
   */
  takeLoss(isDeviceTaken: boolean): void
  /** An error that answers no request. */
  complain(error: ClientError): void
  /** The server permanently refuses this client: the connection stays closed. */
  end(error: ClientError): void
}

export type Settle<Type extends RequestType> = (
  answer: { readonly ok: true; readonly value: AnswerOf<Type> } | { readonly ok: false; readonly error: ClientError },
) => void

export interface Wire {
  /**
   * Sends a request; the caller bounds their number. `settle` is called once, in the order of the server's frames, even
   * if the connection breaks or the request times out.
   */
  ask<Type extends RequestType>(type: Type, given: Requests[Type]['given'], settle: Settle<Type>): void
  /** Breaks the connection, which is restored after a pause. */
  drop(): void
  /** Closes permanently. `error`: fails every unanswered request. */
  close(error: ClientError): void
}

/**
 * Timeout in milliseconds for the hello of a new connection, and the lifetime that resets the pauses to the shortest
 * one.
 */
const HELLO_MS = 10_000
/** Milliseconds for a request to be answered. */
const ANSWER_MS = 30_000
/** Milliseconds between two checks for incoming frames: two quiet checks cause a ping, and three end the connection. */
const LISTEN_MS = 10_000
const QUIET_LOOKS = 2
/** Separate constants: importing the table would add it to every page. */
const UNAUTHORIZED = 4401 satisfies typeof CLOSE_CODES_2.unauthorized
const DEVICE_TAKEN = 4409 satisfies typeof CLOSE_CODES_2.deviceTaken

/** Opens a wire and connects at once. */
export function openWire(options: WireOptions, user: WireUser): Wire {
  return new ServerWire(options, user)
}

class ServerWire implements Wire {
  readonly #options: WireOptions
  readonly #user: WireUser
  readonly #world: World
  readonly #asked = new Map<string, Settle<never>>()
  #socket: WebSocketLike | undefined
  /** The hello of the open connection. */
  #hello: Hello | undefined
  #helloMs = 0
  #tries = 0
  #requests = 0
  #quietLooks = 0
  #closed = false
  /** Timer of the hello, of the next check, or of the pause. */
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
    if (this.#closed) return // already reported when it closed
    let opened: WebSocketLike
    try {
      opened = this.#world.openSocket(this.#options.url, SUBPROTOCOL)
    } catch (cause) {
      this.#stopOnline?.()
      throw createError('invalid_option', `url: ${String(cause)}`) // thrown by the first connection
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
        // An error in the socket's listener would end a process.
        this.#user.complain(createError('internal', String(cause)))
        this.drop()
      }
    }
    opened.onclose = (event: { readonly code?: number } | undefined) => {
      if (this.#socket === opened) this.#lose(isOpen, event?.code)
    }
    opened.onerror = () => {} // the close event follows and has all information
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
    const envelope = { id, type }
    let text = ''
    let error = this.#closed ? createClosedError() : undefined
    try {
      // The id is the first field: a server that refuses a frame unread looks for it there.
      text = JSON.stringify({ ...envelope, ...given, ...envelope })
      error ??= this.#findIssue(text)
    } catch (cause) {
      // A value that JSON cannot write must not stop the requests behind it.
      error ??= createError('invalid_event', `${type}: ${String(cause)}`)
    }
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
    return createError('input_too_large', `a frame of ${bytes} bytes; the server accepts ${frameBytes}`)
  }

  #take(data: unknown): void {
    this.#quietLooks = 0
    const frame = decodeV2ServerFrame(data as string) // the decoder refuses everything but text
    if (!frame) return // from a newer server
    switch (frame.type) {
      case 'hello':
        if (this.#hello) throw new Error('a second hello') // drops the connection to the server
        this.#hello = frame
        this.#helloMs = this.#world.nowMs()
        this.#listen()
        this.#user.takeHello()
        break
      case 'ok':
        this.#settle(frame.re, { ok: true, value: frame as never }) // the server's answer belongs to the request
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

  /** Does nothing if it was already answered or timed out. */
  #settle(id: string, answer: Parameters<Settle<never>>[0]): void {
    const settle = this.#asked.get(id)
    this.#asked.delete(id)
    settle?.(answer)
  }

  /** Checks periodically whether the server is alive. */
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
    // A restarted server will soon be back.
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
    let why = ''
    if (status === 404) why = 'HTTP 404: does the url end with /ws?'
    // Once it was there, it is away for a while, as when a phone changes its network.
    else if (!status && !this.#helloMs) why = `no server answers at ${this.#options.url.split('?')[0]}`
    // It may be a proxy whose server is down, or a server that starts: the client keeps trying.
    if (why) this.#user.complain(createError('connection_failed', why))
  }

  #refuse(message: string): void {
    this.#user.end(createError('unauthorized', message))
  }
}

/** Browsers and Node have it, but this package loads neither's types. */
declare const TextEncoder: new () => { encode(text: string): { readonly length: number } }

/** Bytes of the text in UTF-8. */
function countBytes(text: string): number {
  return new TextEncoder().encode(text).length
}
