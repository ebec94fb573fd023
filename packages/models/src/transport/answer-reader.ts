// Reads one provider answer over HTTP. A stream is decoded as it arrives; any other body (an error, a complete answer)
// is collected first. The adapter interprets the bytes.
import type { HttpHead, JsonValue, ModelAnswer, ModelEvent, ModelPart } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import type { ToolNames } from '../tool-names.ts'
import { listPieces } from './body-pieces.ts'
import { cleanAnswer, cleanError } from './clean-answer.ts'
import type { HttpFailure } from './http-errors.ts'
import { readErrorBody } from './http-errors.ts'
import { redact } from './redact.ts'
import type { ReadAhead, SseEvent } from './sse.ts'
import { createSseReader } from './sse.ts'
import type { AnswerProgress, Heard } from './whole-answer.ts'
import { parseWireJson } from './wire-json.ts'

export interface AnswerReader extends Heard {
  /** @throws BatonError if the answer can no longer be completed */
  push(bytes: Uint8Array, head: HttpHead): void
  /** @throws BatonError */
  end(head: HttpHead): ModelAnswer
}

/** Data that every decoder gets about its answer. */
export interface Answering {
  /** The requested model. Provider state is bound to it. */
  readonly model: string
  readonly names: Pick<ToolNames, 'decode'>
  readonly sink: (event: ModelEvent) => void
  readonly secrets: readonly string[]
  /** From the response headers. */
  readonly requestId?: string
  readonly answerLengthMax?: number | undefined
}

export interface StreamDecoder extends Heard {
  /** Reports what was held back, once the stream has ended. */
  finish?(): void
  /** Set as soon as the stream cannot become a valid answer. */
  readonly failure: BatonError | undefined
  /** The complete answer if the stream ended properly, otherwise the error so far. */
  end(): ModelAnswer | BatonError
}

export interface BodyReader extends StreamDecoder {
  /** @throws BatonError if the bytes do not have this framing */
  push(bytes: Uint8Array): void
}

export interface AnswerReaderOptions {
  /** Display name: `Anthropic`. */
  readonly label: string
  readonly secrets: readonly string[]
  readonly createReader: (head: HttpHead) => BodyReader
  /** Decodes a JSON body. Without it, such a body goes to the reader. */
  readonly decodeWhole?: ((value: JsonValue, head: HttpHead) => ModelAnswer | BatonError) | undefined
  readonly readError: (failure: HttpFailure) => BatonError
  /** Wall-clock time, for retry advice given as a date. */
  readonly readNowMs: () => number
}

/** Maximum characters of a non-streamed answer. */
const BODY_LENGTH_MAX = 16 * 1024 * 1024
/** Maximum characters of an error or a page; the rest is not read. */
const ERROR_LENGTH_MAX = 64 * 1024
const PAGE_SHOWN = 120

/** Creates a reader for the answer to one request. */
export function createAnswerReader(init: AnswerReaderOptions): AnswerReader {
  return new HttpAnswerReader(init)
}

// A class, because each object literal with accessors gets its own hidden class, and V8 retains everything it
// references.
class HttpAnswerReader implements AnswerReader {
  readonly #init: AnswerReaderOptions
  #reader: BodyReader | undefined
  /** Text of a body that is not an event stream. */
  #body = ''
  /** White space counts as a keep-alive. */
  #heard = 0
  #text: InstanceType<typeof TextDecoder> | undefined
  readonly #start = new BodyStart()

  constructor(init: AnswerReaderOptions) {
    this.#init = init
  }

  get progress(): AnswerProgress {
    return this.#reader?.progress ?? 'open'
  }

  get heard(): number {
    return this.#reader?.heard ?? this.#heard
  }

  push(bytes: Uint8Array, head: HttpHead): void {
    try {
      if (this.#start.take(bytes) === 'json') this.#reader = undefined // only white space so far
      if (this.#reader || this.#isStream(head)) this.#pushToReader(bytes, head)
      else this.#collect(bytes, head)
    } catch (thrown) {
      throw this.#clean(thrown)
    }
  }

  end(head: HttpHead): ModelAnswer {
    const { label, secrets } = this.#init
    try {
      if (this.#isRefusal(head)) throw this.#readRefusal(head)
      const answer = this.#isStream(head) ? this.#openReader(head).end() : this.#decodeWhole(head)
      if (isBatonError(answer) && this.#start.isCompressed) throw answeredCompressed(label, head)
      if (isBatonError(answer) && this.#reader?.heard === 0 && this.#start.saysWords)
        throw answeredText(label, head, redact(this.#start.words, secrets))
      if (isBatonError(answer)) throw answer
      return cleanAnswer(withoutNameless(answer, label), secrets)
    } catch (thrown) {
      throw this.#clean(thrown)
    }
  }

  #pushToReader(bytes: Uint8Array, head: HttpHead): void {
    const reader = this.#openReader(head)
    reader.push(bytes)
    if (reader.heard === 0) this.#start.keep(bytes)
    // The answer cannot be completed, and the provider would keep writing.
    if (reader.failure) throw reader.failure
  }

  #collect(bytes: Uint8Array, head: HttpHead): void {
    this.#text ??= new TextDecoder()
    const text = this.#text.decode(bytes, { stream: true })
    this.#body += text
    if (text.trim() !== '') this.#heard += text.length
    if (this.#isRefusal(head) && this.#isEnough()) throw this.#readRefusal(head)
    // Half an answer is useless.
    if (this.#body.length > BODY_LENGTH_MAX) throw answerTooLong(this.#init.label, BODY_LENGTH_MAX)
  }

  #openReader(head: HttpHead): BodyReader {
    return (this.#reader ??= this.#init.createReader(head))
  }

  #isRefusal(head: HttpHead): boolean {
    return !isSuccess(head) || (this.#start.isMarkup && isPage(head))
  }

  #isStream(head: HttpHead): boolean {
    return !this.#isRefusal(head) && !(this.#init.decodeWhole && this.#start.isWhole(head))
  }

  /** In a truncated body, the last secret may be truncated too. */
  #measureSecret(): number {
    return Math.max(0, ...this.#init.secrets.map((secret) => encodeURIComponent(secret).length))
  }

  #isEnough(): boolean {
    return this.#body.length >= ERROR_LENGTH_MAX + this.#measureSecret()
  }

  #readRefusal(head: HttpHead): BatonError {
    const { label, secrets, readError, readNowMs } = this.#init
    const body = this.#isEnough()
      ? redact(this.#body, secrets).slice(0, -this.#measureSecret() || undefined)
      : this.#body
    if (isSuccess(head)) return answeredPage(label, head, readErrorBody(body, secrets).message)
    const failure = { provider: label, head, nowMs: readNowMs(), secrets }
    try {
      return readError({ ...failure, body })
    } catch {
      // Nested too deeply to parse; the status is enough.
      return readError({ ...failure, body: '' })
    }
  }

  #decodeWhole(head: HttpHead): ModelAnswer | BatonError {
    const { label, secrets, decodeWhole } = this.#init
    const parsed = parseWireJson(this.#body)
    const pieces = listPieces(this.#body, parsed.ok ? parsed.value : undefined, label)
    if (pieces.length > 1) return readPieces(this.#openReader(head), pieces)
    if (parsed.ok && decodeWhole) return decodeWhole(parsed.value, head)
    const message = `${label}’s answer is not JSON: ${redact(this.#body, secrets).slice(0, 80)}`
    const isCut = !parsed.ok && parsed.cutOff
    return new BatonError({ code: isCut ? 'model_cut_off' : 'model_malformed_answer', message })
  }

  /** Turns anything thrown inside into a clean BatonError. */
  #clean(thrown: unknown): BatonError {
    return cleanError(thrown, this.#init.label, this.#init.secrets)
  }
}

/**
 * A call without a name can neither run nor go back to the provider. It is dropped if there are other calls, which
 * record this.
 * @throws BatonError `model_malformed_answer` if there are no other calls
 */
function withoutNameless(answer: ModelAnswer, label: string): ModelAnswer {
  const isNameless = (part: ModelPart): boolean =>
    part.type === 'call' && part.name === '' && part.unreadable === undefined
  if (!answer.parts.some(isNameless)) return answer
  const rest = answer.parts.filter((part) => !isNameless(part))
  const first = rest.find((part) => part.type === 'call')
  if (first)
    return {
      ...answer,
      parts: rest.map((part) =>
        part === first ? { ...first, repairs: [...(first.repairs ?? []), 'nameless-call-left-out'] } : part,
      ),
    }
  throw new BatonError({
    code: 'model_malformed_answer',
    message: `${label}’s answer is malformed: it has a call without a name`,
  })
}

function readPieces(reader: BodyReader, pieces: readonly string[]): ModelAnswer | BatonError {
  const encoder = new TextEncoder()
  for (const piece of pieces) reader.push(encoder.encode(`data: ${piece}\n\n`))
  return reader.end()
}

/** A page from a proxy or login, or the wrong address: retrying would not help. */
function answeredPage(label: string, head: HttpHead, words: string): BatonError {
  const type = head.headers['content-type'] ?? ''
  return new BatonError({
    code: 'model_malformed_answer',
    message: `${label} responded ${head.status} with ${type.slice(0, PAGE_SHOWN)} instead of an answer: ${words.slice(0, PAGE_SHOWN)}`,
    hint: 'Check the base address, and any proxy between here and the server.',
    retryable: false,
  })
}

/** Text from a program that is neither JSON nor events; it may still be starting. */
function answeredText(label: string, head: HttpHead, words: string): BatonError {
  const message = `${label} responded ${head.status} without an answer: ${words.trim().slice(0, PAGE_SHOWN)}`
  return new BatonError({ code: 'model_malformed_answer', message })
}

/** A proxy that removes the header also removes it from the next answer. */
function answeredCompressed(label: string, head: HttpHead): BatonError {
  return new BatonError({
    code: 'model_malformed_answer',
    message: `${label} responded ${head.status} with compressed bytes that its headers do not announce`,
    hint: 'Turn compression off in the proxy between here and the server, or let it keep the content-encoding header.',
    retryable: false,
  })
}

interface Framing extends Pick<BodyReader, 'push'> {
  /** Passes on whatever is complete at the end of the body. */
  end?(): void
}

/** Passes bytes through a framing to the decoder. */
export function joinReader(framing: Framing, decoder: StreamDecoder): BodyReader {
  return new JoinedReader(framing, decoder)
}

/** A class, because an object with its own accessor costs more than the rest of the reader. */
class JoinedReader implements BodyReader {
  readonly #framing: Framing
  readonly #decoder: StreamDecoder

  constructor(framing: Framing, decoder: StreamDecoder) {
    this.#framing = framing
    this.#decoder = decoder
  }

  get failure(): BatonError | undefined {
    return this.#decoder.failure
  }

  get progress(): AnswerProgress {
    return this.#decoder.progress
  }

  get heard(): number {
    return this.#decoder.heard
  }

  push(bytes: Uint8Array): void {
    this.#framing.push(bytes)
  }

  end(): ModelAnswer | BatonError {
    this.#framing.end?.()
    this.#decoder.finish?.()
    return this.#decoder.end()
  }
}

interface SseDecoder extends StreamDecoder {
  push(event: SseEvent): void
  readonly readAhead?: ReadAhead
}

/** For decoders of server-sent events. */
export function readSseInto(decoder: SseDecoder): BodyReader {
  return joinReader(
    createSseReader((event) => decoder.push(event), undefined, decoder.readAhead),
    decoder,
  )
}

/** Retrying would have the same result. */
export function answerTooLong(label: string, lengthMax: number): BatonError {
  return new BatonError({
    code: 'model_malformed_answer',
    message: `${label}’s answer is longer than ${lengthMax} characters`,
    hint: 'Ask for less output, or raise answerLengthMax.',
    retryable: false,
  })
}

export function isJson(head: HttpHead): boolean {
  return (head.headers['content-type'] ?? '').includes('application/json')
}

function isPage(head: HttpHead): boolean {
  return /^\s*text\/html\b/i.test(head.headers['content-type'] ?? '')
}

const BYTE_ORDER_MARK: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf])
const LESS_THAN = 0x3c
/** First byte of a gzip file (RFC 1952), which no text begins with. */
const GZIP = 0x1f
type BodyShape = 'json' | 'events'
/** Bytes that JSON and events start with: `data`, `event`, `id`, `retry` and comments. */
const SHAPES: ReadonlyMap<number, BodyShape> = new Map([
  ...Array.from('{[', (character) => [character.charCodeAt(0), 'json'] as const),
  ...Array.from('deir:', (character) => [character.charCodeAt(0), 'events'] as const),
])
/** Maximum characters of the beginning. */
const OPENING_LENGTH = 300

/**
 * Detects the kind of a body by its beginning, because content types are unreliable: JSON may be labelled as an event
 * stream and vice versa.
 */
class BodyStart {
  /** Whether it starts like a page: some programs label everything as HTML. */
  isMarkup = false
  /** Whether it starts like a gzip file. */
  isCompressed = false
  /** The beginning of a stream that has not sent anything meaningful yet. */
  words = ''
  #decoder: InstanceType<typeof TextDecoder> | undefined
  #first: number | undefined
  #shape: BodyShape | undefined

  /** Returns the shape once, at the first meaningful byte. */
  take(bytes: Uint8Array): BodyShape | undefined {
    if (this.#first !== undefined) return undefined
    this.#first = findFirst(bytes)
    this.isMarkup = this.#first === LESS_THAN
    this.isCompressed = this.#first === GZIP
    this.#shape = this.#first === undefined ? undefined : SHAPES.get(this.#first)
    return this.#shape
  }

  isWhole(head: HttpHead): boolean {
    return this.#shape === undefined ? isJson(head) : this.#shape === 'json'
  }

  keep(bytes: Uint8Array): void {
    if (this.words.length >= OPENING_LENGTH) return
    this.#decoder ??= new TextDecoder()
    this.words += this.#decoder.decode(bytes, { stream: true })
  }

  /** Whether it is text rather than JSON, events or binary frames. */
  get saysWords(): boolean {
    if (this.#shape === 'json') return false
    const isText = Array.from(this.words).every((character) => character >= '\t')
    return isText && this.words.trim() !== '' && !/^\s*(?:data|event|id|retry|error)?:/.test(this.words)
  }
}

/** Shape of a body by its beginning: `blank` without a meaningful byte, `undefined` if the byte says nothing. */
export function findShape(bytes: Uint8Array): BodyShape | 'blank' | undefined {
  const first = findFirst(bytes)
  return first === undefined ? 'blank' : SHAPES.get(first)
}

/** The first byte after a byte order mark and white space. */
function findFirst(bytes: Uint8Array): number | undefined {
  return bytes.find((byte) => byte !== 0x20 && (byte < 0x09 || byte > 0x0d) && !BYTE_ORDER_MARK.has(byte))
}

function isSuccess({ status }: HttpHead): boolean {
  return status >= 200 && status < 300
}
