// Answers with server-sent events. What comes in one turn of the event loop is one write; a reader that is too slow is let go,
// and resumes.
import type { Timers } from '@baton/core'

export interface EventWriter {
  /** Resolves at once while the reader keeps up; it may be called again before that. */
  write(event: string): void
  /** The reader has left, or was too slow. */
  readonly left: Promise<void>
  readonly hasLeft: boolean
}

export interface EventResponseInit {
  readonly timers: Timers
  readonly headers: Readonly<Record<string, string>>
  /** Bytes that may wait for the reader. */
  readonly waitingBytes: number
  /** Milliseconds of silence after which a comment keeps the connection open. */
  readonly keepAliveMs: number
  /** Ends the response when it resolves. It never rejects. */
  readonly run: (writer: EventWriter) => Promise<void>
}

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
  let stopFlush: (() => void) | undefined
  let stopKeepAlive: (() => void) | undefined
  const end = (): void => {
    hasLeft = true
    stopFlush?.()
    stopKeepAlive?.()
    left.resolve()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const flush = (): void => {
          stopFlush = undefined
          if (hasLeft) return
          stopKeepAlive?.()
          keepAlive()
          controller.enqueue(encoder.encode(waiting))
          waiting = ''
          if ((controller.desiredSize ?? 0) >= 0) return
          end()
          controller.error(new Error('the reader is too slow'))
        }
        const write = (event: string): void => {
          waiting += event
          stopFlush ??= timers.start(0, flush)
        }
        const keepAlive = (): void => {
          stopKeepAlive = timers.start(keepAliveMs, () => write(':\n\n'), { isBackground: true })
        }
        keepAlive()
        const writer = {
          write,
          left: left.promise,
          get hasLeft() {
            return hasLeft
          },
        }
        run(writer)
          .then(() => {
            if (hasLeft) return
            stopFlush?.()
            if (waiting !== '') controller.enqueue(encoder.encode(waiting))
            end()
            controller.close()
          })
          .catch(() => {}) // it never rejects
      },
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
