// Answers with server-sent events. What comes in one turn of the event loop is one write. Whoever writes waits for a slow
// reader; one that reads nothing for a while is let go, and resumes.
import type { Timers } from '@baton/core'

export interface EventWriter {
  write(event: string): void
  /** Wait for it before more is written: undefined while there is room. */
  waitForRoom(): Promise<void> | undefined
  /** The reader has left, or was too slow. */
  readonly left: Promise<void>
}

export interface EventResponseInit {
  readonly timers: Timers
  readonly headers: Readonly<Record<string, string>>
  /** Bytes that may wait for the reader before `waitForRoom` waits. */
  readonly waitingBytes: number
  /** Milliseconds of silence after which a comment keeps the connection open. */
  readonly keepAliveMs: number
  /** Ends the response when it resolves. It never rejects. */
  readonly run: (writer: EventWriter) => Promise<void>
}

/** Milliseconds that a reader may read nothing while the response is full. */
const STALLED_MS = 60_000

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // nginx would collect the answer.
  'x-accel-buffering': 'no',
}

export function answerEvents({ timers, headers, waitingBytes, keepAliveMs, run }: EventResponseInit): Response {
  const encoder = new TextEncoder()
  const left = Promise.withResolvers<void>()
  let hasLeft = false
  let waiting = ''
  let [stopFlush, stopKeepAlive, stopStall]: ((() => void) | undefined)[] = []
  /** While the response is full. */
  let room: PromiseWithResolvers<void> | undefined
  const makeRoom = (): void => {
    stopStall?.()
    room?.resolve()
    room = undefined
  }
  const end = (): void => {
    hasLeft = true
    stopFlush?.()
    stopKeepAlive?.()
    makeRoom()
    left.resolve()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const flush = (): void => {
          stopFlush?.()
          stopFlush = undefined
          if (hasLeft || waiting === '') return
          keepAlive()
          controller.enqueue(encoder.encode(waiting))
          waiting = ''
        }
        const write = (event: string): void => {
          if (hasLeft) return
          waiting += event
          stopFlush ??= timers.start(0, flush)
        }
        const waitForRoom = (): Promise<void> | undefined => {
          // A burst that never leaves this turn of the event loop is written too.
          if (waiting.length > waitingBytes / 4) flush()
          if (hasLeft || (controller.desiredSize ?? 0) > 0) return undefined
          if (room) return room.promise
          room = Promise.withResolvers()
          stopStall = timers.start(STALLED_MS, () => {
            end()
            controller.error(new Error('the reader is too slow'))
          })
          return room.promise
        }
        const keepAlive = (): void => {
          stopKeepAlive?.()
          stopKeepAlive = timers.start(keepAliveMs, () => write(':\n\n'), { isBackground: true })
        }
        keepAlive()
        run({ write, waitForRoom, left: left.promise })
          .then(() => {
            if (hasLeft) return
            stopFlush?.()
            if (waiting !== '') controller.enqueue(encoder.encode(waiting))
            end()
            controller.close()
          })
          .catch(() => {}) // it never rejects
      },
      pull: makeRoom,
      cancel: end,
    },
    { highWaterMark: waitingBytes, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  return new Response(body, { status: 200, headers: { ...HEADERS, ...headers } })
}

/** One event; `id` comes back in `Last-Event-ID` when a browser connects again. */
export function encodeEvent(data: string, id?: string): string {
  return id === undefined ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`
}
