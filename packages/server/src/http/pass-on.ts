// Passes a request on to the peer that holds its session, at most once, over its own connection, and streams the peer's
// answer as fast as it is read. This server has already counted the request. Only answers of a Baton server are accepted.
import type { NoLink } from '../shared/peer-identity.ts'
import {
  BAD_ADDRESS,
  createPeerHeaders,
  findAtPeer,
  ANSWER_MARK,
  CONNECT_MS,
  describeRefusal,
} from '../shared/peer-identity.ts'
import type { Asker } from './chat-quotas.ts'
import type { HandlerParts } from './handler-parts.ts'
import type { JsonValue, Principal, Timers } from '@baton/core/internal'
import { BatonError, isBatonError, parseJson } from '@baton/core/internal'
import { within } from '@baton/runtime'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

export interface PassedRequest {
  readonly method: string
  /** Including its query. */
  readonly path: string
  /** Without the headers that identify the client to the peer. */
  readonly headers: Readonly<Record<string, string>>
  readonly readBody?: () => Promise<Uint8Array>
  readonly signal: AbortSignal
  readonly principal: Principal
  readonly expiresAtMs?: number | undefined
  readonly asker: Asker
  /** Whether a peer has already passed it on. */
  readonly isFromPeer?: boolean
}

/**
 * Returns the peer's answer, or `undefined` if `cause` names no peer or it cannot be reached; the client then tries
 * again later.
 * @throws BatonError `quota_exceeded`, `server_draining`, or an error of `readBody`
 */
export async function passOn(
  { world, limits, quotas, peers }: HandlerParts,
  request: PassedRequest,
  cause: unknown,
): Promise<Response | undefined> {
  const address = findHolder(cause)
  if (!peers || address === undefined || request.isFromPeer || address === peers.options.address) return undefined
  const { principal, expiresAtMs, asker, signal, method } = request
  const url = findAtPeer(request.path, address)
  const body = await request.readBody?.()
  const about = { principal, client: asker.address ?? '', ...(expiresAtMs !== undefined && { expiresAtMs }) }
  const headers = { ...request.headers, ...createPeerHeaders(peers.options.secret, about) }
  const sent = { method, headers, signal, ...(body && { body }) }
  const limit = { timers: world.timers, silenceMs: SILENT_BEATS * limits.keepAliveMs }
  const answer = url ? await askPeer({ ...sent, ...limit, url, onClose: quotas.holdStream(asker) }) : BAD_ADDRESS
  if (answer instanceof Response) {
    peers.noteInfo('a request was passed on to the server that holds its session', { peer: address })
    return answer
  }
  if (!signal.aborted) peers.warnings.noteUnreachable(address, answer)
  return undefined
}

/** An answer counts as broken after this many missing keep-alive comments. */
const SILENT_BEATS = 2

/** The address of the peer that holds the session, if that is the `cause`. */
function findHolder(cause: unknown): string | undefined {
  if (!isBatonError(cause) || cause.code !== 'session_held') return undefined
  const { address } = cause.data
  return typeof address === 'string' ? address : undefined
}

interface PeerQuestion {
  /** `ws:` or `wss:`, as peers publish it. */
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Aborts when the client leaves. A GET ends at once, any other request only after the peer has begun to answer. */
  readonly signal: AbortSignal
  readonly timers: Timers
  /** Milliseconds of silence until a started answer counts as broken. */
  readonly silenceMs: number
  /** Called once, when the connection has ended. */
  readonly onClose: () => void
}

/** Milliseconds from the connection to the beginning of the peer's answer. */
const ANSWER_MS = 30_000

/** Response headers written by this front; only these are passed on. */
const PASSED_HEADERS = [
  'content-type',
  'cache-control',
  'retry-after',
  'allow',
  'content-security-policy',
  'x-content-type-options',
  'x-accel-buffering',
  'x-vercel-ai-ui-message-stream',
  'x-baton-error',
]

/**
 * Resolves with the reason if the peer does not accept the connection within 3 s or begin its answer within 30 s. Never
 * rejects.
 */
function askPeer(question: PeerQuestion): Promise<Response | NoLink> {
  return new Promise((resolve) => {
    const fail = (why: string): void => resolve({ why, problem: 'address' })
    const outgoing = send(question, fail)
    if (!outgoing) return
    const { timers, onClose } = question
    const limit = (timeoutMs: number, why: string): (() => void) =>
      timers.start(timeoutMs, () => {
        fail(why)
        outgoing.destroy()
      })
    let stop = limit(CONNECT_MS, `it did not accept a connection within ${CONNECT_MS} ms`)
    outgoing.once('socket', (socket) => {
      socket.once(question.url.protocol === 'wss:' ? 'secureConnect' : 'connect', () => {
        stop()
        stop = limit(ANSWER_MS, `it did not answer within ${ANSWER_MS} ms`)
      })
    })
    outgoing.on('error', (cause) => fail(cause.message))
    outgoing.once('close', () => {
      stop()
      fail('it closed the connection')
      onClose()
    })
    outgoing.once('response', (answer) => {
      stop()
      // Without a listener, a connection that breaks while unread would crash the process.
      answer.on('error', () => {})
      resolve(readAnswer(answer, question))
    })
  })
}

/** Returns `undefined` if the request cannot be sent at all; `fail` and `onClose` were called. */
function send(
  { url, method, headers, body, signal, onClose }: PeerQuestion,
  fail: (why: string) => void,
): ClientRequest | undefined {
  const target = new URL(url)
  target.protocol = url.protocol === 'wss:' ? 'https:' : 'http:'
  const request = url.protocol === 'wss:' ? requestHttps : requestHttp
  try {
    // Node sends no content-length for the body of a DELETE, and the peer would read that body as another request.
    const length = body && { 'content-length': `${body.byteLength}` }
    const sent = { method, headers: { ...headers, ...length }, agent: false }
    const outgoing = request(target, method === 'GET' ? { ...sent, signal } : sent)
    if (method !== 'GET') outgoing.once('response', () => whenAborted(signal, () => outgoing.destroy()))
    outgoing.end(body)
    return outgoing
  } catch (cause) {
    fail(cause instanceof Error ? cause.message : String(cause))
    onClose()
    return undefined
  }
}

function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', act, { once: true })
}

function readAnswer(answer: IncomingMessage, question: PeerQuestion): Response | NoLink {
  const { statusCode: status = 0, headers } = answer
  // This front never redirects. A `Response` cannot have the status 205.
  const isKnown = (status >= 200 && status < 300 && status !== 205) || (status >= 400 && status < 600)
  if (headers[ANSWER_MARK] === undefined || !isKnown) {
    answer.destroy()
    const refusal = describeRefusal(status)
    return refusal.problem === 'address' ? { ...refusal, why: `${refusal.why}, but not like a Baton server` } : refusal
  }
  const told = new Headers()
  for (const name of PASSED_HEADERS) {
    const value = headers[name]
    if (value !== undefined) told.set(name, String(value))
  }
  const isEmpty = status === 204
  if (isEmpty) answer.resume()
  const isLong = status < 400 && (question.method === 'GET' || told.get('content-type') === 'text/event-stream')
  const body = (): ReadableStream => readBody(answer, question, isLong ? Infinity : SHORT_BYTES_MAX)
  return new Response(isEmpty ? null : body(), { status, headers: told })
}

/** Maximum bytes of a refusal, or of the answer to a change; both are read whole before they are passed on. */
const SHORT_BYTES_MAX = 1024 * 1024

/**
 * Pulls from the peer only as fast as it is read. Errors if the peer's answer breaks off, falls silent or exceeds
 * `bytesMax`, so it never looks complete.
 */
function readBody(
  answer: IncomingMessage,
  { timers, silenceMs }: PeerQuestion,
  bytesMax: number,
): ReadableStream<Uint8Array> {
  let bytes = 0
  const pieces: AsyncIterator<Uint8Array, undefined> = answer.iterator() // no encoding was set
  const createBroken = (message: string, cause?: unknown): BatonError =>
    new BatonError({ code: 'session_held', message: `the server that holds the session ${message}`, cause })
  const error = (): BatonError => createBroken(`was silent for ${silenceMs} ms`)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await within(timers, { timeoutMs: silenceMs, error }, pieces.next())
          bytes += piece.value?.byteLength ?? 0
          if (bytes > bytesMax) throw createBroken(`answered with more than ${bytesMax} bytes`)
          if (piece.done === true) controller.close()
          else controller.enqueue(piece.value)
        } catch (cause) {
          answer.destroy()
          throw isBatonError(cause) ? cause : createBroken('ended its answer early', cause)
        }
      },
      cancel() {
        answer.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}

/**
 * Passes each chunk to `write`, and awaits any promise it returns. Resolves with true at the end of a complete answer,
 * or false if the stream ended early.
 * @throws BatonError `session_held` for an event that is not JSON or has more than `eventCharsMax` UTF-16 units; errors
 * of the body
 */
export async function readPassedChunks(
  body: ReadableStream<Uint8Array>,
  eventCharsMax: number,
  write: (chunk: JsonValue) => Promise<void> | undefined,
): Promise<boolean> {
  const decoder = new TextDecoder()
  const splitter = new EventSplitter()
  // The type may lack the iterator, which every server runtime has. Leaving the loop cancels the stream.
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    const events = splitter.split(decoder.decode(piece, { stream: true }))
    if (splitter.restChars > eventCharsMax) throw createGarbled(`an event has more than ${eventCharsMax} characters`)
    for (const event of events) {
      if (event.startsWith(':')) continue // a keep-alive comment
      if (event === 'data: [DONE]') return true
      const parsed = event.startsWith('data: ') ? parseJson(event.slice('data: '.length)) : undefined
      if (!parsed?.ok) throw createGarbled('an event is not JSON')
      const room = write(parsed.value)
      if (room) await room
    }
  }
  return false
}

/** Splits a stream into events. An event of n characters costs n log n steps, however small its pieces are. */
class EventSplitter {
  /** The unfinished event. Each part is longer than the next, so there are few. */
  #parts: string[] = []
  /** UTF-16 units of the unfinished event. */
  restChars = 0
  /** A line end may be the first half of the end of an event. */
  #lineEnd = ''

  /** Returns the events completed by this text. */
  split(text: string): readonly string[] {
    const events = (this.#lineEnd + text).split('\n\n')
    const rest = events.pop() ?? ''
    if (events.length > 0) events[0] = this.#take() + (events[0] ?? '')
    this.#lineEnd = rest.endsWith('\n') ? '\n' : ''
    this.#add(rest.slice(0, rest.length - this.#lineEnd.length))
    return events
  }

  #add(text: string): void {
    let last = text
    this.restChars += text.length
    for (let before = this.#parts.pop(); before !== undefined; before = this.#parts.pop()) {
      if (before.length > last.length) {
        this.#parts.push(before)
        break
      }
      last = [before, last].join('') // copied at once: `+` would retain every piece
    }
    this.#parts.push(last)
  }

  #take(): string {
    const text = this.#parts.join('')
    this.#parts = []
    this.restChars = 0
    return text
  }
}

function createGarbled(message: string): BatonError {
  return new BatonError({
    code: 'session_held',
    message: `the answer of the server that holds the session cannot be read: ${message}`,
  })
}
