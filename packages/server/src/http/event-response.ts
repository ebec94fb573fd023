// Answers with server-sent events. Everything written in one turn of the event loop is sent together. The writer waits
// for a slow reader; a reader that is stuck for a while is disconnected, and resumes.
import type { SessionEvent, Timers } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'
import type { ServerWorld } from '../shared/server-world.ts'

export interface EventWriter {
  write(event: string): void
  /** To be awaited before writing more; `undefined` while there is room. */
  waitForRoom(): Promise<void> | undefined
  /** Resolves when the reader has left or was too slow. */
  readonly left: Promise<void>
}

export interface EventResponseOptions {
  readonly timers: Timers
  readonly headers: Readonly<Record<string, string>>
  /** Unsent bytes above which `waitForRoom` waits. */
  readonly waitingBytes: number
  /** Milliseconds of silence until a comment keeps the connection open. */
  readonly keepAliveMs: number
  /** Writes the events. The response ends when it resolves; it never rejects. */
  readonly run: (writer: EventWriter) => Promise<void>
}

/** Destination of the events. */
export interface EventSink {
  write(text: string): void
  /** Calls back after this turn of the event loop, or a moment later. */
  afterTurn(callback: () => void): void
  /** Bytes not yet sent to the reader. */
  waitingBytes(): number
  close(): void
  fail(cause: Error): void
}

/** Notifications from a sink about its reader. */
export interface EventSource {
  /** The reader has read some. */
  onRoom(): void
  /** The reader has left. */
  onLeave(): void
}

type Start = (sink: EventSink) => EventSource

/** Milliseconds a reader may read nothing while the response is full, or before it starts. */
const STALLED_MS = 60_000

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Keeps nginx from buffering the answer.
  'x-accel-buffering': 'no',
}

/**
 * A response that a server may write directly, avoiding its body, which would cost more than everything else. The body
 * must then not be read.
 */
class EventsResponse extends Response {
  readonly startEvents: Start

  constructor(body: ReadableStream, init: ResponseInit, startEvents: Start) {
    super(body, init)
    this.startEvents = startEvents
  }
}

/** `undefined` for a response whose body must be read. */
export function findEventSource(response: Response): Start | undefined {
  return response instanceof EventsResponse ? response.startEvents : undefined
}

export function answerEvents(init: EventResponseOptions): Response {
  let source: EventSource | undefined
  const stopWaiting = init.timers.start(STALLED_MS, () => start(NOWHERE).onLeave(), {
    isBackground: true,
  })
  const start: Start = (sink) => {
    stopWaiting()
    return (source ??= new EventResponse(init, sink))
  }
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      // Nothing is requested before the body is read.
      pull: (controller) =>
        start({
          write: (text) => controller.enqueue(encoder.encode(text)),
          afterTurn: (callback) => void init.timers.start(0, callback),
          waitingBytes: () => -(controller.desiredSize ?? 0),
          close: () => controller.close(),
          fail: (cause) => controller.error(cause),
        }).onRoom(),
      cancel: () => start(NOWHERE).onLeave(),
    },
    { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  return new EventsResponse(body, { status: 200, headers: { ...HEADERS, ...init.headers } }, start)
}

/** The reader left before reading anything. */
const NOWHERE: EventSink = {
  write: () => {},
  afterTurn: () => {},
  waitingBytes: () => 0,
  close: () => {},
  fail: () => {},
}

class EventResponse implements EventWriter, EventSource {
  readonly #init: EventResponseOptions
  readonly #sink: EventSink
  readonly #left = Promise.withResolvers<void>()
  #hasLeft = false
  #waiting = ''
  /** Whether nothing was written since the last check. */
  #isSilent = true
  #stopKeepAlive: (() => void) | undefined
  #stopStall: (() => void) | undefined
  /** Set while the response is full. */
  #room: PromiseWithResolvers<void> | undefined

  constructor(init: EventResponseOptions, sink: EventSink) {
    this.#init = init
    this.#sink = sink
    this.#keepAlive()
    void this.#run()
  }

  get left(): Promise<void> {
    return this.#left.promise
  }

  write(event: string): void {
    if (this.#hasLeft) return
    if (this.#waiting === '') this.#sink.afterTurn(this.#flush)
    this.#waiting += event
  }

  readonly #flush = (): void => {
    if (this.#hasLeft || this.#waiting === '') return
    this.#isSilent = false
    this.#sink.write(this.#waiting)
    this.#waiting = ''
  }

  waitForRoom(): Promise<void> | undefined {
    const { waitingBytes, timers } = this.#init
    if (this.#waiting.length > waitingBytes / 4) this.#flush()
    if (this.#hasLeft || this.#sink.waitingBytes() < waitingBytes) return undefined
    if (this.#room) return this.#room.promise
    this.#room = Promise.withResolvers()
    this.#watchStall(timers, this.#sink.waitingBytes())
    return this.#room.promise
  }

  /** Continues to wait for a reader that has read some of what waits. */
  #watchStall(timers: Timers, waitingBytes: number): void {
    this.#stopStall = timers.start(STALLED_MS, () => {
      const left = this.#sink.waitingBytes()
      if (left < waitingBytes) {
        this.#watchStall(timers, left)
        return
      }
      this.onLeave()
      this.#sink.fail(new Error('the reader is too slow'))
    })
  }

  onRoom(): void {
    this.#stopStall?.()
    this.#room?.resolve()
    this.#room = undefined
  }

  onLeave(): void {
    this.#hasLeft = true
    this.#stopKeepAlive?.()
    this.onRoom()
    this.#left.resolve()
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    try {
      await this.#init.run(this)
    } catch (cause) {
      this.onLeave()
      this.#sink.fail(cause instanceof Error ? cause : new Error(String(cause)))
    }
    if (this.#hasLeft) return
    this.#flush()
    this.onLeave()
    this.#sink.close()
  }

  /**
   * A single timer checks whether anything was written, rather than one per write. It runs twice as often, so that no
   * silence lasts longer than `keepAliveMs`.
   */
  #keepAlive(): void {
    this.#isSilent = true
    const { timers, keepAliveMs } = this.#init
    this.#stopKeepAlive = timers.start(
      keepAliveMs / 2,
      () => {
        if (this.#isSilent) this.write(':\n\n')
        this.#keepAlive()
      },
      { isBackground: true },
    )
  }
}

/** Encodes one event. A browser sends `id` back in `Last-Event-ID` when it reconnects. */
export function encodeEvent(data: string, id?: string): string {
  return id === undefined ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`
}

/** Milliseconds of a screen frame. */
const JOIN_MS = 16
const PIECES: ReadonlySet<SessionEvent['type']> = new Set(['text', 'reasoning', 'call-writing'])
/** UTF-16 units up to which a piece counts as small. */
const PIECE_CHARS_MAX = 256

/**
 * Returns a function to call after each batch of events; await its result before the next batch. If small pieces arrive
 * less than two frames apart, it waits one frame, in which the session's reader joins the next pieces. It never delays
 * an answer's first two pieces, or anything after a pause, a long piece or another event.
 */
export function createPieceJoiner({
  clock,
  timers,
}: Pick<ServerWorld, 'clock' | 'timers'>): (batch: readonly SessionEvent[]) => Promise<void> | undefined {
  let lastMs = -Infinity
  return ([event, ...more]) => {
    if (!event || more.length > 0 || !PIECES.has(event.type)) return undefined
    if ('text' in event && event.text.length > PIECE_CHARS_MAX) return undefined
    const nowMs = readMonotonicMs(clock)
    const isFast = nowMs - lastMs < 2 * JOIN_MS
    lastMs = nowMs
    return isFast ? new Promise((resolve) => void timers.start(JOIN_MS, resolve)) : undefined
  }
}
