// State of one version 2 connection: its writer, the session that it follows, and the requests that it has passed on to
// the peer that holds the session.
import type { Speech } from '@baton/runtime'
import type {
  ClientModel,
  EventCursor,
  EventStream,
  FrontSession,
  SessionActivity,
  SessionEvent,
  Timers,
} from '@baton/core/internal'
import type { V2Cursor, RequestType, V2ServerFrame } from '@baton/protocol'
import type { AllowedSettings } from '../shared/allowed-settings.ts'
import type { HostWithSessions } from '../shared/check-options.ts'
import { tellAppError } from '../shared/app-errors.ts'
import { CLOSE_CODES } from '../shared/socket.ts'
import type { AppConnectionOptions } from './connection-options.ts'
import type { V2Device, DeviceNames } from './v2-device.ts'
import type { V2Models } from './v2-models.ts'
import type { PeerLink } from './connect-to-peer.ts'

export interface V2ConnectionOptions extends Omit<AppConnectionOptions, 'host'> {
  readonly host: HostWithSessions
  /** Settings that an app may choose for its turns. */
  readonly allow: AllowedSettings
  /** Shared by a server's connections. */
  readonly deviceNames: DeviceNames
  /** Models that apps may run. Default: none. */
  readonly clientModels?: readonly ClientModel[]
}

export interface V2State {
  readonly init: V2ConnectionOptions
  readonly writer: V2Writer
  /** Whether the app has disconnected. */
  readonly isGone: () => boolean
  followed: Followed | undefined
  /** Set if a peer has the session: its frames are passed on. */
  link: PassedRequests | undefined
  /** Whether the peer has reported the session as closed, or has refused to open it. */
  isLinkOver: boolean
  /** Releases the device's name. */
  forgetDevice: (() => void) | undefined
  /** Stops watching the list of sessions. */
  stopWatching: (() => void) | undefined
}

/** The session that a connection follows. */
export interface Followed {
  readonly session: FrontSession
  readonly events: EventStream
  activity: SessionActivity
  device: V2Device | undefined
  /** Models run by the device. */
  models: V2Models | undefined
  /** Present if the app asked for sentences. */
  readonly spoken: Spoken | undefined
}

/** The speech of a followed session. */
export interface Spoken {
  readonly speech: Speech
  /** Whether the app gets no `text` events. */
  readonly isOnly: boolean
  /** The position after the last event that was read. */
  cursor: EventCursor
}

/** An event, and the cursor that continues after it. */
export interface ToldEvent {
  readonly event: SessionEvent
  readonly next: V2Cursor
}

type WriterOptions = Pick<V2ConnectionOptions, 'socket' | 'log' | 'limits' | 'connection'>

export class V2Writer {
  readonly #init: WriterOptions
  #isTooSlow = false

  constructor(init: WriterOptions) {
    this.#init = init
  }

  write(frame: Exclude<V2ServerFrame, { readonly type: 'events' }>): void {
    this.writeText(JSON.stringify(frame))
  }

  get isTooSlow(): boolean {
    return this.#isTooSlow
  }

  /** A long past is split into several frames, so that none is too large for a reader. */
  writeEvents(told: readonly ToldEvent[]): void {
    let texts: string[] = []
    let chars = 0
    for (const [index, { event, next }] of told.entries()) {
      const text = JSON.stringify(event)
      texts.push(text)
      chars += text.length
      if (index < told.length - 1 && chars < FRAME_CHARS) continue
      this.writeText(`{"type":"events","events":[${texts.join(',')}],"next":${JSON.stringify(next)}}`)
      texts = []
      chars = 0
    }
  }

  fail(cause: unknown, re?: string): void {
    this.write({ type: 'error', ...(re !== undefined && { re }), ...tellAppError(cause, this.#init.log) })
  }

  writeText(text: string): void {
    const { socket, log, limits, connection } = this.#init
    if (this.#isTooSlow) return
    // Limits unsent frames to the bound plus one answer: events wait for room before they are written.
    if (socket.bufferedBytes() <= limits.outgoingBytes) {
      socket.send(text)
      return
    }
    this.#isTooSlow = true
    log.warn('a connection was closed because it reads too slowly', { connection, limitBytes: limits.outgoingBytes })
    socket.close(CLOSE_CODES.tooSlow, 'the connection reads too slowly')
  }
}

/** UTF-16 units of events before a frame ends. */
const FRAME_CHARS = 256 * 1024

/** Requests that refer to the session the connection follows. */
export const OF_SESSION: ReadonlySet<RequestType> = new Set<RequestType>([
  'session.close',
  'session.info',
  'session.messages',
  'session.configure',
  'session.control',
  'session.fork',
  'input.send',
  'input.hear',
  'input.notify',
  'input.withdraw',
  'input.rewind',
  'turn.interrupt',
  'speech.played',
  'approval.decide',
  'question.answer',
  'device.attach',
  'device.release',
  'call.claim',
  'call.result',
  'model.pieces',
  'model.result',
])

/** Milliseconds for the peer to answer what it was asked before it is left. */
const ANSWER_MS = 30_000
const ANSWERED = /^\{"type":"(?:ok|error)","re":("(?:[^"\\]|\\.)*")/

export class PassedRequests {
  readonly #link: PeerLink
  readonly #timers: Timers
  readonly #left = Promise.withResolvers<void>()
  /** Requests without an answer, by id. An app may use an id again. */
  readonly #waiting = new Map<string, number>()
  #onRest: (() => void) | undefined

  constructor(link: PeerLink, timers: Timers) {
    this.#link = link
    this.#timers = timers
  }

  send(id: string, text: string): void {
    this.#waiting.set(id, (this.#waiting.get(id) ?? 0) + 1)
    this.#link.send(text)
  }

  /** Notes whether a frame of the peer is an answer. */
  note(text: string): void {
    const id = ANSWERED.exec(text)?.[1]
    if (id === undefined) return
    const re = JSON.parse(id) as string // matched as a string
    const times = this.#waiting.get(re) ?? 0
    if (times > 1) this.#waiting.set(re, times - 1)
    else this.#waiting.delete(re)
    if (this.#waiting.size === 0) this.#onRest?.()
  }

  isAnswered(id: string): boolean {
    return !this.#waiting.has(id)
  }

  /** Closes the link when every request has its answer, or after 30 s. */
  async leave(): Promise<void> {
    if (this.#waiting.size > 0) {
      const rest = new Promise<void>((resolve) => (this.#onRest = resolve))
      const stop = this.#timers.start(ANSWER_MS, () => this.#left.resolve())
      await Promise.race([rest, this.#left.promise])
      stop()
    }
    this.close()
  }

  /** Closes the link at once. */
  close(): void {
    this.#left.resolve()
    this.#link.close()
  }
}
