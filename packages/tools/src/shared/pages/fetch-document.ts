// Fetches a page, text or JSON through the guard, decoded according to its headers, its byte order mark or the page
// itself.
import type { Clock, ToolContext } from '@baton/core/internal'
import { BatonError, describeValue } from '@baton/core/internal'
import type { GuardOptions } from '../../guard/index.ts'
import { parseDenyList } from '../../guard/deny-list.ts'
import { createGuardedFetch } from '../../guard/index.ts'
import { DENIED_PLACE, refuseUrl } from '../../guard/url-rules.ts'
import { bareType, isJsonType, isTextType } from '../media-types.ts'
import type { Reading } from '../service-answer.ts'
import { describeNetworkFailure, readBody } from '../service-answer.ts'

export interface DocumentOptions {
  /** Rules for targets outside the public web, and denied ones, as for `createGuardedFetch`. */
  readonly guard?: Pick<GuardOptions, 'allow' | 'deny' | 'onlyAllowed' | 'schemes' | 'lookup'>
  /** Timeout for one response in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number
  /** Maximum bytes of a response; 5 MiB by default. */
  readonly maxBytes?: number
  /**
   * Replaces the guarded fetch. Then only this function protects the program's network, and of `guard` only `deny`
   * applies.
   */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  readonly clock?: Pick<Clock, 'nowMs'>
}

export interface FetchedBytes {
  /** Final address after redirects. */
  readonly url: string
  readonly contentType: string
  readonly bytes: Buffer
}

export interface FetchedText {
  readonly url: string
  readonly type: 'html' | 'json' | 'text'
  readonly contentType: string
  readonly text: string
}

const TIMEOUT_MS = 30_000
const MAX_BYTES = 5 * 1024 * 1024
const NUMBER_MAX = 2_147_483_647
const URL_CHARS = 2000

export class DocumentFetcher {
  readonly timeoutMs: number
  readonly #maxBytes: number
  readonly #fetch: NonNullable<DocumentOptions['fetch']>
  readonly #clock: DocumentOptions['clock']

  /** @param what prefix of errors. @throws BatonError `invalid_option` */
  constructor(what: string, options: DocumentOptions) {
    const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, guard = {}, fetch, clock } = options
    for (const [field, value] of Object.entries({ timeoutMs, maxBytes }))
      if (!Number.isSafeInteger(value) || value < 1 || value > NUMBER_MAX)
        throw new BatonError({
          code: 'invalid_option',
          message: `${what}: ${field} must be a whole number from 1 to ${NUMBER_MAX}, not ${describeValue(value)}`,
        })
    this.timeoutMs = timeoutMs
    this.#maxBytes = maxBytes
    this.#fetch = fetch
      ? denyPlaces(what, fetch, guard)
      : createGuardedFetch({ schemes: ['https', 'http'], ...guard, timeoutMs, maxBytes })
    this.#clock = clock
  }

  /**
   * @throws BatonError `invalid_arguments` (not an address), `url_refused`, `api_unauthorized`, `api_refused`,
   * `api_rate_limited`, `api_failed`, `api_unavailable`, `api_malformed`; the reason of an aborted signal
   */
  async fetchBytes(address: string, accept: string, given: ToolContext['signal']): Promise<FetchedBytes> {
    const url = readAddress(address)
    const signal = given as AbortSignal // a real one, as ToolContext declares
    signal.throwIfAborted()
    const reading: Reading = {
      what: url.origin,
      mayChange: false,
      maxBytes: this.#maxBytes,
      secrets: [],
      showsWords: false, // written by strangers, so errors must not show it
      nowMs: () => (this.#clock ? this.#clock.nowMs() : Date.now()),
    }
    try {
      const headers = { accept, 'user-agent': 'baton-tools' }
      const response = await this.#fetch(url.href, { headers, redirect: 'follow', signal })
      const bytes = await readBody(response, reading)
      return { url: response.url || url.href, contentType: response.headers.get('content-type') ?? '', bytes }
    } catch (thrown) {
      throw signal.aborted ? signal.reason : describeNetworkFailure(reading, thrown)
    }
  }

  /** @throws BatonError as `fetchBytes` does, and `media_unsupported` if it is not text */
  async fetchText(address: string, signal: ToolContext['signal']): Promise<FetchedText> {
    const accept = 'text/html,application/xhtml+xml;q=0.9,text/plain;q=0.8,application/json;q=0.8,*/*;q=0.1'
    const { url, contentType, bytes } = await this.fetchBytes(address, accept, signal)
    const type = kindOf(contentType, bytes)
    if (type === undefined) {
      const told = bareType(contentType) || 'binary data'
      throw new BatonError({
        code: 'media_unsupported',
        message: `${new URL(url).origin} responded with ${told.slice(0, 100)} (${bytes.length} bytes): only HTML, text and JSON can be read`,
      })
    }
    return { url, type, contentType, text: decodeText(bytes, contentType, type) }
  }
}

/**
 * Wraps the program's own fetch so that it skips places that `deny` names.
 * @throws BatonError `invalid_option` for other rules, which would have no effect
 */
function denyPlaces(
  what: string,
  fetch: NonNullable<DocumentOptions['fetch']>,
  { deny = [], ...rest }: NonNullable<DocumentOptions['guard']>,
): NonNullable<DocumentOptions['fetch']> {
  const [idle] = Object.keys(rest)
  if (idle !== undefined)
    throw new BatonError({
      code: 'invalid_option',
      message: `${what}: guard.${idle} has no effect together with fetch, which replaces the guard`,
      hint: 'Remove one of them. guard.deny works with both.',
    })
  const places = parseDenyList(deny)
  const check = (address: string): void => {
    const url = URL.parse(address)
    if (url && places.deniesPlace(url)) throw refuseUrl(url, DENIED_PLACE)
  }
  return async (address, init) => {
    check(address)
    const response = await fetch(address, init)
    check(response.url)
    return response
  }
}

/** @throws BatonError `invalid_arguments` */
export function readAddress(address: string): URL {
  const url = address.length > URL_CHARS ? null : URL.parse(address)
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url
  // A login must not appear in errors and logs.
  const shown = address.includes('@') ? 'this one' : `"${address.slice(0, 100)}"`
  throw new BatonError({
    code: 'invalid_arguments',
    message: `an address must start with https:// and contain no login, unlike ${shown}`,
  })
}

function kindOf(contentType: string, bytes: Buffer): FetchedText['type'] | undefined {
  const type = bareType(contentType)
  const looks = sniff(bytes)
  if (looks === 'binary') return undefined
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html'
  if (isJsonType(type)) return 'json'
  if (type === '' || type === 'application/octet-stream') return looks
  return isTextType(type) ? 'text' : undefined
}

/**
 * Detects the type from the first bytes, whatever the sender says: https://mimesniff.spec.whatwg.org/#binary-data-byte
 */
function sniff(bytes: Buffer): 'html' | 'text' | 'binary' {
  const start = bytes.subarray(0, 1445)
  if (start.subarray(0, 5).toString('latin1') === '%PDF-') return 'binary'
  const hasMark = (start[0] === 0xfe && start[1] === 0xff) || (start[0] === 0xff && start[1] === 0xfe)
  const isBinary = start.some(
    (byte) => byte <= 8 || byte === 11 || (byte >= 14 && byte <= 26) || (byte >= 28 && byte <= 31),
  )
  if (isBinary && !hasMark) return 'binary'
  return /^<(?:!doctype html|html|head|body)\b/i.test(skipComments(start.toString('latin1'))) ? 'html' : 'text'
}

/** Skips whitespace and comments in linear time, since a stranger's page may have many. */
function skipComments(text: string): string {
  let rest = text.trimStart()
  while (rest.startsWith('<!--')) {
    const end = rest.indexOf('-->', 4)
    if (end < 0) return ''
    rest = rest.slice(end + 3).trimStart()
  }
  return rest
}

/** Encodings by their byte order marks. */
const MARKS: readonly (readonly [charset: string, start: Buffer])[] = [
  ['utf-8', Buffer.from([0xef, 0xbb, 0xbf])],
  ['utf-16be', Buffer.from([0xfe, 0xff])],
  ['utf-16le', Buffer.from([0xff, 0xfe])],
]

/**
 * Decodes by byte order mark, header, then the page: https://html.spec.whatwg.org/#determining-the-character-encoding
 */
function decodeText(bytes: Buffer, contentType: string, type: FetchedText['type']): string {
  const header = /;\s*charset\s*=\s*["']?([\w:-]{1,40})/i.exec(contentType)?.[1]
  const own = type === 'html' ? /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:-]{1,40})/i : undefined
  const declared = own?.exec(bytes.subarray(0, 1024).toString('latin1'))?.[1]
  const mark = MARKS.find(([, start]) => bytes.subarray(0, start.length).equals(start))?.[0]
  for (const charset of [mark, header, declared])
    if (charset !== undefined)
      try {
        return new TextDecoder(charset).decode(bytes)
      } catch {
        continue // an unknown charset
      }
  return new TextDecoder().decode(bytes)
}
