// Requests with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a repeated request gets the first
// answer, and is not performed again. Within this process only, and within limits.
import type { Clock } from '@baton/core/internal'
import { BatonError, readMonotonicMs } from '@baton/core/internal'
import type { Incoming } from './requests.ts'
import { createInvalid } from './ui-messages.ts'

interface KeptAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  /** `undefined` if it was too long to keep. */
  readonly body: ArrayBuffer | undefined
}

interface Entry {
  readonly fingerprint: string
  readonly atMs: number
  /** `undefined` while the first request runs. */
  answer?: KeptAnswer
}

/** Milliseconds to keep an answer. */
const KEPT_MS = 86_400_000
const ENTRIES_MAX = 10_000
/** Maximum bytes of one answer, and of all of them. */
const ANSWER_BYTES_MAX = 256 * 1024
const BYTES_MAX = 16 * 1024 * 1024
const KEY_CHARS_MAX = 255
const METHODS: ReadonlySet<string> = new Set(['POST', 'PATCH', 'DELETE'])

export class RepeatedRequests {
  readonly #clock: Clock
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Returns the answer of `run`, or the earlier one.
   * @throws BatonError `invalid_event`, `input_too_large`, `rate_limited`, `idempotency_key_reused`,
   * `request_in_flight`
   */
  async answer(incoming: Incoming, principal: string, run: () => Promise<Response>): Promise<Response> {
    const { request, readBody } = incoming
    const header = request.headers.get('idempotency-key')
    if (header === null || !METHODS.has(request.method)) return await run()
    const key = `${principal}\n${readKey(header)}`
    const body = await readBody()
    const fingerprint = await describeRequest(request, body)
    const known = this.#find(key)
    if (known) return repeat(known, fingerprint)
    const entry: Entry = { fingerprint, atMs: readMonotonicMs(this.#clock) }
    this.#entries.set(key, entry)
    this.#trim()
    try {
      return await this.#keep(key, entry, await run())
    } catch (cause) {
      this.#drop(key, entry)
      throw cause
    }
  }

  #find(key: string): Entry | undefined {
    const nowMs = readMonotonicMs(this.#clock)
    for (const [oldest, entry] of this.#entries) {
      if (nowMs - entry.atMs <= KEPT_MS) break
      this.#forget(oldest, entry)
    }
    return this.#entries.get(key)
  }

  /** Answers that may differ on another try are not kept. */
  async #keep(key: string, entry: Entry, response: Response): Promise<Response> {
    const { status, headers } = response
    if (status >= 500 || status === 409 || status === 429) {
      this.#drop(key, entry)
      return response
    }
    const body = await response.arrayBuffer()
    const isKept = body.byteLength <= ANSWER_BYTES_MAX && this.#entries.get(key) === entry
    entry.answer = { status, headers: [...headers], body: isKept ? body : undefined }
    this.#bytes += isKept ? body.byteLength : 0
    this.#trim()
    return new Response(body.byteLength > 0 ? body : null, { status, headers })
  }

  /** Makes room for another try, unless a later request has the key. */
  #drop(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
  }

  #trim(): void {
    for (const [oldest, one] of this.#entries) {
      if (this.#bytes <= BYTES_MAX && this.#entries.size <= ENTRIES_MAX) return
      this.#forget(oldest, one)
    }
  }

  #forget(key: string, { answer }: Entry): void {
    this.#entries.delete(key)
    this.#bytes -= answer?.body?.byteLength ?? 0
  }
}

/** Reads a quoted string of RFC 8941, or the same text without quotes. */
export function readKey(header: string): string {
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header
  if (key.length > 0 && key.length <= KEY_CHARS_MAX && /^[\x21-\x7e]+$/.test(key)) return key
  throw createInvalid(`Idempotency-Key must be 1 to ${KEY_CHARS_MAX} visible characters, such as a UUID in quotes`)
}

async function describeRequest({ method, url }: Request, body: Uint8Array<ArrayBuffer>): Promise<string> {
  const { pathname, search } = new URL(url)
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', body))
  return `${method} ${pathname}${search} ${[...hash].join()}`
}

function repeat({ fingerprint, answer }: Entry, asked: string): Response {
  if (fingerprint !== asked)
    throw new BatonError({
      code: 'idempotency_key_reused',
      message: 'this Idempotency-Key was already used for a different request',
    })
  if (!answer)
    throw new BatonError({
      code: 'request_in_flight',
      message: 'the first request with this Idempotency-Key is still running',
      data: { retryAfterMs: 1000 },
    })
  if (!answer.body)
    throw new BatonError({
      code: 'request_in_flight',
      message: 'the first request with this Idempotency-Key has finished, but its answer was too long to keep',
      retryable: false,
    })
  const headers = new Headers(answer.headers.map(([name, value]): [string, string] => [name, value]))
  headers.set('idempotency-replayed', 'true')
  return new Response(answer.body.byteLength > 0 ? answer.body : null, { status: answer.status, headers })
}
