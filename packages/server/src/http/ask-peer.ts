// Sends one request to a peer over its own connection, and streams the answer as fast as it is read. Only answers of a
// Baton server are accepted.
import type { Timers } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import { within } from '@baton/runtime'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { NoLink } from '../shared/peer-identity.ts'
import { ANSWER_MARK, CONNECT_MS, describeRefusal } from '../shared/peer-identity.ts'

export interface PeerQuestion {
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
export function askPeer(question: PeerQuestion): Promise<Response | NoLink> {
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
