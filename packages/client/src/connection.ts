// One session's connection to a server. It reconnects when it breaks; frames queued meanwhile are sent afterwards.
import type { ClientFrame, ServerFrame } from '@baton/protocol'
import { decodeServerFrame, encodeFrame } from '@baton/protocol'
import { createBoundedMap } from './bounded-map.ts'
import { ClientError } from './client-error.ts'
import type { WebSocketLike, World } from './world.ts'

export type ConnectionState = 'connecting' | 'open' | 'waiting' | 'closed'

export interface ReconnectOptions {
  /** Milliseconds before the first retry; each further pause is twice as long, minus a random part. 250 by default. */
  readonly baseMs?: number
  /** Maximum pause between two tries, in milliseconds. 10,000 by default. */
  readonly mostMs?: number
}

export interface ConnectionOptions {
  readonly url: string
  readonly session: string
  readonly world: World
  readonly reconnect: ReconnectOptions
  readonly onState: (state: ConnectionState) => void
  /** Receives each frame once, in order, even over several connections. */
  readonly onFrame: (frame: ServerFrame) => void
  /** The session is started, for the first time or again. */
  readonly onStarted: () => void
  /** The server permanently refuses this client: the connection stays closed. */
  readonly onRefused: (refusal: Refusal) => void
}

export interface Refusal {
  readonly code: string
  readonly message: string
}

export type Outgoing = ClientFrame extends infer Frame
  ? Frame extends ClientFrame
    ? Pick<Frame, 'type' | 'payload'>
    : never
  : never

export interface Connection {
  /** Returns false if there is no connection and nothing was sent. A resent frame must keep its id. */
  send(id: string, frame: Outgoing): boolean
  close(): void
}

/** Frame ids to remember, to ignore repeats. */
const SEEN_MAX = 10_000
/** Milliseconds for a new connection to start the session. */
const START_MS = 10_000
/**
 * Milliseconds that a session must stay connected before pauses start from the shortest again, so that a server that
 * accepts and drops at once does not count.
 */
const STABLE_MS = 10_000
/** Responses that a retry would not change. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'it wants a valid token',
  403: 'this origin may not connect',
}

/** Opens a connection and connects at once. */
export function openConnection(init: ConnectionOptions): Connection {
  const connection = new SessionConnection(init)
  connection.connect()
  return { send: (id, frame) => connection.send(id, frame), close: () => connection.close() }
}

class SessionConnection implements Connection {
  readonly #init: ConnectionOptions
  readonly #seen = createBoundedMap<string, true>(SEEN_MAX)
  #socket: WebSocketLike | undefined
  #started = false
  #startedMs = 0
  #tries = 0
  #closed = false
  #stopTimer: (() => void) | undefined

  constructor(init: ConnectionOptions) {
    this.#init = init
  }

  connect(): void {
    const { world, url, session, onState } = this.#init
    onState('connecting')
    if (this.#closed) return // already reported when it closed
    let opened: WebSocketLike
    try {
      opened = world.openSocket(url)
    } catch (cause) {
      throw new ClientError({ code: 'invalid_option', message: `url: ${String(cause)}` }) // thrown by the first connection
    }
    this.#socket = opened
    let isOpen = false
    opened.onopen = () => {
      isOpen = true
      this.#write(world.newId(), { type: 'session.start', payload: { sessionId: session } })
    }
    opened.onmessage = (event: { readonly data: unknown }) => {
      if (this.#socket === opened) this.#take(event.data)
    }
    opened.onclose = () => this.#lose(opened, isOpen)
    opened.onerror = () => {} // the close event follows and has all information
    this.#stopTimer = world.start(START_MS, () => {
      opened.close()
      this.#lose(opened, isOpen)
    })
  }

  send(id: string, frame: Outgoing): boolean {
    return this.#started && this.#write(id, frame)
  }

  close(): void {
    this.#closed = true
    this.#stopTimer?.()
    const open = this.#socket
    this.#socket = undefined
    open?.close(1000, 'the app is done')
    this.#init.onState('closed')
  }

  #write(id: string, frame: Outgoing): boolean {
    if (!this.#socket) return false
    this.#socket.send(readText(this.#init, id, frame))
    return true
  }

  #take(text: unknown): void {
    const { world, onState, onStarted, onFrame } = this.#init
    const frame = frameIn(text)
    if (!frame || this.#seen.has(frame.id)) return
    this.#seen.set(frame.id, true)
    if (frame.type === 'session.started' && !this.#started) {
      this.#started = true
      this.#startedMs = world.nowMs()
      this.#stopTimer?.()
      onState('open')
      onStarted()
    }
    onFrame(frame)
  }

  #lose(lost: WebSocketLike, wasOpen: boolean): void {
    const { world, onState } = this.#init
    if (this.#socket !== lost) return
    if (this.#started && world.nowMs() - this.#startedMs >= STABLE_MS) this.#tries = 0
    this.#socket = undefined
    this.#started = false
    this.#stopTimer?.()
    onState('waiting')
    this.#stopTimer = world.start(delayMs(this.#init, this.#tries), () => this.connect())
    this.#tries += 1
    if (!wasOpen) void this.#askWhy()
  }

  async #askWhy(): Promise<void> {
    const { world, url } = this.#init
    const refusal = describeRefusal((await world.probe?.(url)) ?? 0)
    if (refusal === undefined || this.#closed || this.#socket) return
    this.close()
    this.#init.onRefused({ code: 'unauthorized', message: refusal })
  }
}

/**
 * Why the server will never accept this client, by the HTTP status of a plain request: a refused WebSocket gives no
 * reason.
 */
export function describeRefusal(status: number): string | undefined {
  const why = REFUSALS[status]
  return why && `the server refused the connection: ${why}`
}

function readText({ session, world }: ConnectionOptions, id: string, frame: Outgoing): string {
  const timestamp = new Date(world.nowMs()).toISOString()
  // Type and payload belong together, so they form one of the frames.
  return encodeFrame({ id, sessionId: session, timestamp, ...frame } as ClientFrame)
}

/** Ignores text that is not a frame of this version. */
function frameIn(text: unknown): ServerFrame | undefined {
  const decoded = typeof text === 'string' ? decodeServerFrame(text) : undefined
  return decoded?.ok ? decoded.frame : undefined
}

/** Half of the pause is random, so that apps that lost their server together do not all reconnect at the same time. */
export function delayMs(
  { reconnect = {}, world }: { readonly reconnect?: ReconnectOptions; readonly world: World },
  tries: number,
): number {
  const longest = Math.min(reconnect.mostMs ?? 10_000, (reconnect.baseMs ?? 250) * 2 ** Math.min(tries, 20))
  return longest / 2 + (longest / 2) * world.random()
}
