// A response with a limit on its body, counted after decompression.
import { BatonError } from '@baton/core'
import type { Response as UndiciResponse } from 'undici'

export interface AnswerBounds {
  /** `undefined`: no limit, for streams whose reader limits them. */
  readonly maxBytes: number | undefined
  /** Called once, when the body has ended, failed or been cancelled. */
  readonly onEnd: () => void
  /** Converts a network error for the reader. */
  readonly describe: (thrown: unknown) => unknown
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

/**
 * @throws BatonError `api_malformed` if the body declares more bytes than the limit; a body that exceeds it later fails
 * the same way
 */
export function boundAnswer(answer: UndiciResponse, place: string, bounds: AnswerBounds): Response {
  const { status, statusText, headers, body } = answer
  const { maxBytes = Infinity, onEnd } = bounds
  const tooLarge = (): BatonError =>
    new BatonError({ code: 'api_malformed', message: `${place} sent more than ${maxBytes} bytes` })
  let bounded: ReadableStream<Uint8Array<ArrayBuffer>> | null = null
  const length = headers.get('content-length')
  if (body && !WITHOUT_BODY.has(status) && length !== '0') {
    if (Number(length ?? 0) > maxBytes) {
      void body.cancel().catch(() => {
        // The response is abandoned; how its connection ends is irrelevant.
      })
      throw tooLarge()
    }
    bounded = readBounded(body.getReader() as ByteReader, {
      // it is a byte stream
      ...bounds,
      maxBytes,
      tooLarge,
    })
  } else onEnd()
  const made = new Response(bounded, {
    status: status > STATUS_MAX ? STATUS_MAX : status,
    statusText: REASON.test(statusText) ? statusText : '',
    headers: [...headers],
  })
  // The Response constructor does not accept these.
  if (status > STATUS_MAX) Object.defineProperty(made, 'status', { value: status })
  Object.defineProperty(made, 'url', { value: answer.url })
  return made
}

/** The largest status that can be constructed. Some sites answer programs with 999. */
const STATUS_MAX = 599
/** A reason that can be constructed. Some servers write theirs in another script. */
const REASON = /^[\t\x20-\x7e\x80-\xff]*$/

interface Reading extends AnswerBounds {
  readonly maxBytes: number
  readonly tooLarge: () => BatonError
}

type ByteReader = Pick<ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>, 'read' | 'cancel'>

function readBounded(reader: ByteReader, reading: Reading): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { maxBytes, onEnd, describe, tooLarge } = reading
  let bytes = 0
  const giveUp = (reason: unknown): Promise<void> => {
    onEnd()
    return reader.cancel(reason).catch(() => {
      // The response is abandoned; how its connection ends is irrelevant.
    })
  }
  return new ReadableStream(
    {
      pull: async (controller) => {
        let piece: Awaited<ReturnType<ByteReader['read']>>
        try {
          piece = await reader.read()
        } catch (thrown) {
          onEnd()
          throw describe(thrown)
        }
        if (piece.done) {
          onEnd()
          controller.close()
          return
        }
        bytes += piece.value.length
        if (bytes > maxBytes) {
          const error = tooLarge()
          void giveUp(error)
          throw error
        }
        controller.enqueue(piece.value)
      },
      cancel: giveUp,
    },
    { highWaterMark: 0 },
  )
}
