// Reads one answer of a provider over HTTP: a stream is decoded as it comes, any other body (an error, a whole answer) is
// collected first. What the bytes mean, the adapter knows.
import type { HttpHead, JsonValue, ModelAnswer } from '@baton/core'
import { BatonError, isBatonError, parseJson } from '@baton/core'
import { redact } from './redact.ts'

export interface AnswerReader {
  /** @throws BatonError when nothing more can come of it */
  readonly push: (bytes: Uint8Array, head: HttpHead) => void
  /** @throws BatonError */
  readonly end: (head: HttpHead, nowMs: number) => ModelAnswer
}

export interface StreamDecoder {
  readonly failure: BatonError | undefined
  end(): ModelAnswer | BatonError
}

export interface AnswerReaderInit<Decoder extends StreamDecoder> {
  /** As the user knows it: `Anthropic`. */
  readonly label: string
  readonly secrets: readonly string[]
  readonly createDecoder: (head: HttpHead) => Decoder
  /** From the bytes of the stream to the decoder. */
  readonly readInto: (decoder: Decoder) => (bytes: Uint8Array) => void
  readonly decodeBody: (value: JsonValue, head: HttpHead) => ModelAnswer | BatonError
  readonly describeError: (failure: {
    readonly head: HttpHead
    readonly body: string
    readonly nowMs: number
  }) => BatonError
  readonly answerTooLong: (lengthMax: number) => BatonError
}

/** Characters of a body that is not a stream: an error page, or a whole answer. */
const BODY_LENGTH_MAX = 16 * 1024 * 1024

export function createAnswerReader<Decoder extends StreamDecoder>(init: AnswerReaderInit<Decoder>): AnswerReader {
  let decoder: Decoder | undefined
  let readBytes: ((bytes: Uint8Array) => void) | undefined
  let body = ''
  const text = new TextDecoder()
  const pushStream = (bytes: Uint8Array, head: HttpHead): void => {
    decoder ??= init.createDecoder(head)
    readBytes ??= init.readInto(decoder)
    readBytes(bytes)
    // Nothing more can come of it, and the provider would go on writing.
    if (decoder.failure) throw decoder.failure
  }
  return {
    push: (bytes, head) => {
      if (isStream(head)) pushStream(bytes, head)
      else if (body.length < BODY_LENGTH_MAX) body += text.decode(bytes, { stream: true })
      // Of an error its beginning is enough; half an answer is none.
      else if (isSuccess(head)) throw init.answerTooLong(BODY_LENGTH_MAX)
    },
    end: (head, nowMs) => {
      if (!isSuccess(head)) throw init.describeError({ head, body, nowMs })
      const answer = isStream(head) ? (decoder ?? init.createDecoder(head)).end() : wholeAnswer(init, body, head)
      if (isBatonError(answer)) throw answer
      return answer
    },
  }
}

function wholeAnswer<Decoder extends StreamDecoder>(
  { label, secrets, decodeBody }: AnswerReaderInit<Decoder>,
  body: string,
  head: HttpHead,
): ModelAnswer | BatonError {
  const parsed = parseJson(body)
  if (parsed.ok) return decodeBody(parsed.value, head)
  const message = `${label}’s answer is not JSON: ${redact(body, secrets).slice(0, 80)}`
  return new BatonError({ code: parsed.cutOff ? 'model_cut_off' : 'model_malformed_answer', message })
}

function isSuccess({ status }: HttpHead): boolean {
  return status >= 200 && status < 300
}

function isStream(head: HttpHead): boolean {
  return isSuccess(head) && !(head.headers['content-type'] ?? '').includes('application/json')
}
