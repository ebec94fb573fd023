// Reads the content of a request: JSON within its limit, and values from the address.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { BatonError, JSON_DEPTH_MAX, isJsonObject, parseJson } from '@baton/core/internal'
import { createInvalid } from './ui-messages.ts'

/** A request with its body. */
export interface Incoming {
  readonly request: Request
  /** Reads the body on the first call and remembers it. @throws BatonError `input_too_large`, `rate_limited` */
  readonly readBody: () => Promise<Uint8Array<ArrayBuffer>>
}

export interface BodyLimits {
  readonly bytesMax: number
  /** Called before the bytes are parsed. @throws BatonError `rate_limited` */
  readonly takeBytes: (bytes: number) => void
}

export function createIncoming(request: Request, limits: BodyLimits): Incoming {
  let read: Promise<Uint8Array<ArrayBuffer>> | undefined
  return { request, readBody: () => (read ??= readBytes(request, limits)) }
}

/** @throws BatonError `input_too_large`, `invalid_event`, `rate_limited` */
export async function readJsonBody(incoming: Incoming): Promise<JsonValue> {
  const { request, readBody } = incoming
  // A page of another origin can send text without asking first, but not JSON.
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\b/i.test(type))
    throw createInvalid(`content-type must be application/json, not ${JSON.stringify(type.slice(0, 80))}`)
  const bytes = await readBody()
  const parsed = parseJson(new TextDecoder().decode(bytes))
  if (!parsed.ok)
    throw createInvalid(
      parsed.tooDeep ? `the body is nested more than ${JSON_DEPTH_MAX} levels deep` : 'the body must be JSON',
    )
  return parsed.value
}

async function readBytes(request: Request, { bytesMax, takeBytes }: BodyLimits): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  let length = 0
  if (request.body)
    for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
      // a stream of bytes in every runtime
      length += piece.byteLength
      if (length > bytesMax)
        throw new BatonError({ code: 'input_too_large', message: `the body has more than ${bytesMax} bytes` })
      pieces.push(piece)
    }
  takeBytes(length)
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  return bytes
}

/** @throws BatonError `input_too_large`, `invalid_event`, `rate_limited` */
export async function readObjectBody(incoming: Incoming): Promise<JsonObject> {
  const body = await readJsonBody(incoming)
  if (!isJsonObject(body)) throw createInvalid('the body must be a JSON object')
  return body
}

/** Decodes a part of an address. @throws BatonError `invalid_event` */
export function decodePath(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw createInvalid('the address has invalid percent-encoding')
  }
}

/** @throws BatonError `invalid_event` */
export function readNumber(url: URL, name: string): number | undefined {
  const text = url.searchParams.get(name)
  if (text === null) return undefined
  if (!/^\d{1,15}$/.test(text))
    throw createInvalid(`${name} must be a whole number, not ${JSON.stringify(text.slice(0, 40))}`)
  return Number(text)
}

/** A time as milliseconds since 1970, or as ISO 8601: a day of UTC, or a time with an offset. */
export function readTime(url: URL, name: string): number | undefined {
  const text = url.searchParams.get(name)
  if (text === null) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  // An unencoded plus is a blank. The 30th of February would be a day of March.
  const [day, given] = [text.slice(0, 10), text.replace(' ', '+')]
  const ms = TIME.test(given) ? Date.parse(given) : NaN
  if (!Number.isNaN(ms) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)) return ms
  throw createInvalid(
    `${name} must be milliseconds since 1970, or a date such as 2026-11-30, not ${JSON.stringify(text.slice(0, 40))}`,
  )
}

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** The given ones of these parameters, as text. */
export function readWords({ searchParams }: URL, names: readonly string[]): Readonly<Record<string, string>> {
  const given = names.flatMap((name) => [[name, searchParams.get(name)]]).filter(([, text]) => text !== null)
  return Object.fromEntries(given) as Record<string, string> // null was left out
}

/** False if absent. */
export function readFlag(url: URL, name: string): boolean {
  const text = url.searchParams.get(name) ?? 'false'
  if (text === 'true' || text === 'false') return text === 'true'
  throw createInvalid(`${name} must be true or false, not ${JSON.stringify(text.slice(0, 40))}`)
}

/** Origins of pages, or `*` for all; a function decides for each page. */
export type AllowedOrigins = readonly string[] | ((origin: string, request: Request) => boolean)

/** Returns why the requesting page is refused; `undefined` if it is allowed or not a page. */
export function checkPage(
  request: Request,
  origins: AllowedOrigins,
  hosts: readonly string[] | undefined,
): { readonly message: string; readonly hint?: string } | undefined {
  const { host, hostname } = new URL(request.url)
  if (hosts && !hosts.includes(hostname))
    return {
      message: `the server does not accept requests for the host ${hostname.slice(0, 200)}`,
      hint: 'Add it to `hosts` of createHandler, or use --public-host of "baton serve".',
    }
  const origin = request.headers.get('origin')
  if (origin === null || isAllowed(origin, request, origins)) return undefined
  // Behind a proxy, the page's scheme differs from the request's.
  if (typeof origins !== 'function' && URL.parse(origin)?.host === host) return undefined
  return {
    message: `pages from the origin ${origin.slice(0, 200)} may not send requests to ${host}`,
    hint: 'Add the origin to `origins` of createHandler, or use --allow-origin of "baton serve"; a proxy must keep the Host header.',
  }
}

function isAllowed(origin: string, request: Request, origins: AllowedOrigins): boolean {
  return typeof origins === 'function' ? origins(origin, request) : origins.includes('*') || origins.includes(origin)
}

export function describeCors(request: Request, origins: AllowedOrigins): Readonly<Record<string, string>> {
  const origin = request.headers.get('origin')
  if (origin === null || !isAllowed(origin, request, origins)) return {}
  return {
    'access-control-allow-origin': origin,
    vary: 'origin',
    'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
    'access-control-allow-headers': 'content-type, authorization, last-event-id, user-agent, idempotency-key',
    'access-control-expose-headers': 'x-baton-error, retry-after, idempotency-replayed',
    'access-control-max-age': '600',
  }
}
