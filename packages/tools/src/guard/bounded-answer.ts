// An answer with a limit on the bytes of its body, counted as the reader gets them: after decompression.
import { BatonError } from '@baton/core'
import type { Response as UndiciResponse } from 'undici'

export interface AnswerBounds {
  /** Undefined: no limit, for streams whose reader limits them. */
  readonly maxBytes: number | undefined
  /** Called once, when the body has ended, was cancelled or has failed. */
  readonly onEnd: () => void
  /** Turns an error of the network into the one that the reader gets. */
  readonly describe: (thrown: unknown) => unknown
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304])

/** @throws BatonError `api_malformed` for a body that declares more bytes than the limit; a body that exceeds it later fails so, too */
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
        // It is given up; how its connection ends does not matter.
      })
      throw tooLarge()
    }
    bounded = readBounded(body.getReader() as ByteReader, {
      // it reads bytes
      ...bounds,
      maxBytes,
      tooLarge,
    })
  } else onEnd()
  const made = new Response(bounded, { status, statusText, headers: [...headers] })
  // The constructor of a response does not take these.
  Object.defineProperty(made, 'url', { value: answer.url })
  return made
}

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
      // It is given up; how its connection ends does not matter.
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
