// Client of one HTTP service that speaks JSON: limits, a deadline, no redirects, and errors with a code. Independent of
// any particular service.
import type { Clock, ErrorCode, JsonValue, ToolContext } from '@baton/core/internal'
import { BatonError, describeValue } from '@baton/core/internal'
import type * as z from 'zod'
import { createGuardedFetch } from '@baton/tools/guard'
import { readServerAddress } from '@baton/tools/internal'
import type { Reading } from '@baton/tools/internal'
import { describeNetworkFailure, readBody, readJson } from '@baton/tools/internal'

/** Errors of `ask` and `check`, for the `errors` of tools that call a service. */
export const SERVICE_ERRORS: readonly ErrorCode[] = [
  'api_unauthorized',
  'api_refused',
  'api_rate_limited',
  'api_failed',
  'api_unavailable',
  'api_malformed',
  'url_refused',
]

/** Options shared by all kits that call a service. */
export interface ServiceOptions {
  /** Timeout for the whole response to one request in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number
  /** Maximum bytes of a response; 10 MiB by default. */
  readonly maxBytes?: number
  /** Defaults to a guarded fetch that may also access the service's own address. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Clock for dates in `Retry-After`; the system clock by default. */
  readonly clock?: Pick<Clock, 'nowMs'>
}

export interface ServiceClientOptions extends ServiceOptions {
  /** Prefix of errors: `Cursor`. */
  readonly name: string
  /** For example `https://api.cursor.com/v1`. */
  readonly server: string
  /** Name of the option that sets `server`, for its error. */
  readonly option: string
  /** Headers sent with each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Set to false if errors must not quote the service's text, because it may contain keys. True by default. */
  readonly showsWords?: boolean
}

export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Starts with a slash; its segments are percent-encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** A JSON body. */
  readonly json?: JsonValue
  /** A form body. */
  readonly form?: Readonly<Record<string, string>>
  /** Override those of the service. */
  readonly headers?: Readonly<Record<string, string>>
  /** Strings that no error may show, such as the key of this request. */
  readonly secrets?: readonly string[]
  /** Whether an error must say that the request may have taken effect; by default true for all methods except GET. */
  readonly mayChange?: boolean
  readonly signal: ToolContext['signal']
}

export interface ServiceAnswer {
  readonly status: number
  readonly headers: Headers
  /** The body; null if empty. It is untrusted: check it before use. */
  readonly value: JsonValue
}

const TIMEOUT_MS = 30_000
const MAX_BYTES = 10 * 1024 * 1024
const NUMBER_MAX = 2_147_483_647
/** Shorter secrets would blank out ordinary text. */
const SECRET_CHARS = 8

export class ServiceClient {
  readonly server: string
  readonly timeoutMs: number
  readonly #init: ServiceClientOptions
  readonly #maxBytes: number
  readonly #fetch: NonNullable<ServiceOptions['fetch']>

  /** @throws BatonError `invalid_option` */
  constructor(init: ServiceClientOptions) {
    const { name, timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES } = init
    for (const [field, value] of Object.entries({ timeoutMs, maxBytes }))
      if (!Number.isSafeInteger(value) || value < 1 || value > NUMBER_MAX)
        throw new BatonError({
          code: 'invalid_option',
          message: `${name}: ${field} must be a whole number from 1 to ${NUMBER_MAX}, not ${describeValue(value)}`,
        })
    this.#init = init
    this.server = readServerAddress(init.option, init.server)
    this.timeoutMs = timeoutMs
    this.#maxBytes = maxBytes
    this.#fetch = init.fetch ?? createGuardedFetch({ allow: [new URL(this.server).origin], timeoutMs, maxBytes })
  }

  /**
   * Rejects redirects, because they would take the key elsewhere.
   * @throws BatonError `api_unauthorized` (401), `api_refused` (another 4xx), `api_rate_limited` (429;
   * `data.retryAfterMs` if the service sends it), `api_failed` (5xx), `api_unavailable` (502 to 504, no connection, too
   * slow, cut off), `api_malformed` (not JSON, too large), `url_refused` (a redirect); the reason of an aborted signal.
   * `data.status` has the status.
   */
  async ask(request: ServiceRequest): Promise<ServiceAnswer> {
    const reading = this.#reading(request)
    const signal = request.signal as AbortSignal // a real one, as ToolContext declares
    signal.throwIfAborted()
    try {
      const response = await this.#fetch(this.#url(request), { ...this.#request(request), signal })
      const bytes = await readBody(response, reading)
      return {
        status: response.status,
        headers: response.headers,
        value: bytes.length === 0 ? null : readJson(bytes, reading),
      }
    } catch (thrown) {
      throw signal.aborted ? signal.reason : describeNetworkFailure(reading, thrown)
    }
  }

  /**
   * Returns the target of the service's redirect without following it; `undefined` if it does not redirect.
   * @throws BatonError as `ask` does
   */
  async findRedirect(request: ServiceRequest): Promise<string | undefined> {
    const reading = this.#reading(request)
    const signal = request.signal as AbortSignal // a real one, as ToolContext declares
    signal.throwIfAborted()
    try {
      const init = { ...this.#request(request), redirect: 'manual', signal } as const
      const response = await this.#fetch(this.#url(request), init)
      const location = response.headers.get('location')
      if (response.status >= 300 && response.status < 400 && location !== null) {
        await response.body?.cancel()
        return URL.parse(location, this.server)?.href
      }
      await readBody(response, reading)
      return undefined
    } catch (thrown) {
      throw signal.aborted ? signal.reason : describeNetworkFailure(reading, thrown)
    }
  }

  /**
   * Parses the value with the schema.
   * @throws BatonError `api_malformed`, with the place of the error but without its text
   */
  check<Value>(schema: z.ZodType<Value>, value: JsonValue): Value {
    const read = schema.safeParse(value)
    if (read.success) return read.data
    const { path = [], message = '' } = read.error.issues[0] ?? {}
    const place = path.length === 0 ? 'answer' : path.join('.').slice(0, 100)
    throw new BatonError({
      code: 'api_malformed',
      message: `${this.#init.name} responded with an invalid ${place}: ${message.slice(0, 200)}`,
    })
  }

  #reading({ method, mayChange = method !== 'GET', secrets = [] }: ServiceRequest): Reading {
    const { name, showsWords, clock } = this.#init
    return {
      what: name,
      mayChange,
      maxBytes: this.#maxBytes,
      secrets: secrets.filter((secret) => secret.length >= SECRET_CHARS),
      ...(showsWords !== undefined && { showsWords }),
      nowMs: () => (clock ? clock.nowMs() : Date.now()),
    }
  }

  #url({ path, query = {} }: ServiceRequest): string {
    const url = new URL(this.server + path)
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value))
    return url.href
  }

  #request({ method, json, form, headers }: ServiceRequest): RequestInit {
    const body = json === undefined ? form && new URLSearchParams(form).toString() : JSON.stringify(json)
    const type = json === undefined ? 'application/x-www-form-urlencoded' : 'application/json'
    const sent = new Headers({ accept: 'application/json', ...this.#init.headers })
    if (body !== undefined) sent.set('content-type', type)
    for (const [name, value] of Object.entries(headers ?? {})) this.#setHeader(sent, name, value)
    return { method, headers: sent, redirect: 'error', ...(body !== undefined && { body }) }
  }

  /** The platform's own error would show an invalid value, which may be a key. */
  #setHeader(sent: Headers, name: string, value: string): void {
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new BatonError({
        code: 'invalid_option',
        message: `${this.#init.name}: the value for the header "${name}" contains characters that headers do not allow`,
      })
    sent.set(name, value)
  }
}
