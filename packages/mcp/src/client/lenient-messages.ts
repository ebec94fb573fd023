// Messages of servers as they are, in the form that the SDK's strict schemas take. An answer is found by its id, whatever else is
// wrong with it, so that no call waits for its time-out. `docs/mcp.md` has the table of what is read.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'
import type { Transport } from '@modelcontextprotocol/client'
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client'
import { asText, isNothing, withoutNull } from './json-fields.ts'
import { readQuestion, readResult } from './lenient-results.ts'

export type Message = Parameters<NonNullable<Transport['onmessage']>>[0]

/** Marks the error that stands for an answer that nobody can read; `failure.ts` recognises it by this. */
export const UNREADABLE = 'baton/unreadable'

/** Requests that may wait; a stream that breaks leaves one behind. */
const OPEN_MAX = 10_000
/** Notifications that an answer without an id may belong to. */
const NOTICES_MAX = 100

/** Says in a log what was odd. */
export type TellOdd = (what: string, text: string) => void

export interface OpenRequest {
  readonly id: string | number
  readonly method: string
  /** The resource that it asks for. */
  readonly uri?: string
  /** It names its version itself, as requests of 2026-07-28 do. */
  readonly isModern?: boolean
}

/** The requests of one connection that wait for an answer. */
export class OpenRequests {
  readonly #open = new Map<string, { readonly request: OpenRequest; readonly place: number }>()
  /** Places of notifications that a server may yet answer, though nobody asked. */
  #notices: number[] = []
  #sent = 0

  /** Takes note of what is sent: a request, or that one is cancelled. Returns the request. */
  note(message: unknown): OpenRequest | undefined {
    if (!isJsonObject(message) || typeof message['method'] !== 'string') return undefined
    const { id, method, params } = message
    const fields = isJsonObject(params) ? params : {}
    const place = (this.#sent += 1)
    if (method === 'notifications/cancelled') this.#open.delete(asText(fields['requestId'] ?? ''))
    if (typeof id !== 'string' && typeof id !== 'number') {
      this.#notices = [...this.#notices, place].slice(-NOTICES_MAX)
      return undefined
    }
    const { uri, _meta } = fields
    const isModern = isJsonObject(_meta) && PROTOCOL_VERSION_META_KEY in _meta
    const request = { id, method, ...(typeof uri === 'string' && { uri }), ...(isModern && { isModern }) }
    this.#open.set(String(id), { request, place })
    const [oldest] = this.#open.keys()
    if (this.#open.size > OPEN_MAX && oldest !== undefined) this.#open.delete(oldest)
    return request
  }

  /** By its id, also where a number came back as a text. */
  find(id: JsonValue | undefined): OpenRequest | undefined {
    return typeof id === 'string' || typeof id === 'number' ? this.#open.get(String(id).trim())?.request : undefined
  }

  /** The only request, for an answer without an id; undefined where that answers a notification that was sent before. */
  takeOnly(): OpenRequest | undefined {
    const [only, ...others] = this.#open.values()
    const [notice] = this.#notices
    if (notice !== undefined && (!only || notice < only.place)) {
      this.#notices = this.#notices.slice(1)
      return undefined
    }
    return others.length === 0 ? only?.request : undefined
  }

  /** A server that has answered what came later answers no earlier notification. */
  settle({ id }: OpenRequest): void {
    const place = this.#open.get(String(id))?.place ?? 0
    this.#open.delete(String(id))
    this.#notices = this.#notices.filter((notice) => notice > place)
  }
}

export interface ExchangeInit {
  readonly open: OpenRequests
  /** Over HTTP: the request that the answer is for. */
  readonly own?: OpenRequest | undefined
  readonly tell: TellOdd
}

/** Reads a server's messages: all that a program writes, or over HTTP one answer. Its methods never throw. */
export class Exchange {
  readonly #init: ExchangeInit
  /** An answer with an id that nobody used, which may be that of the exchange's own request. */
  #stray: JsonObject | undefined
  #isBroken = false

  constructor(init: ExchangeInit) {
    this.#init = init
  }

  /** The messages of one JSON value: one, or those of a batch. */
  read(value: JsonValue): readonly Message[] {
    const values = Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
    return values.flatMap((one) => {
      try {
        return this.#readOne(one)
      } catch {
        // It nests too deeply for the platform's JSON.
        const id = isJsonObject(one) ? one['id'] : undefined
        return this.readBroken(`"id":${typeof id === 'string' || typeof id === 'number' ? id : ''}`)
      }
    })
  }

  /** A text that is no JSON. If it was meant as an answer, its request is told at once. */
  readBroken(text: string): readonly Message[] {
    const { open, tell } = this.#init
    tell('an MCP server wrote something that is not a message', text)
    const [, id] = /["']id["']\s*:\s*["']?([^"',}\s]+)/.exec(text) ?? []
    const request = id === undefined ? undefined : open.find(id)
    this.#isBroken ||= /^\s*[[{]/.test(text)
    return request ? [this.#settleUnread(request)] : []
  }

  /** The server says no more here: its own request gets what was nearest to an answer. */
  end(): readonly Message[] {
    const { own, open, tell } = this.#init
    if (!own || open.find(own.id) !== own) return []
    if (this.#stray) return [this.#settle(this.#stray, own)]
    if (!this.#isBroken) return []
    tell('an MCP server answered with something that is not a message', own.method)
    return [this.#settleUnread(own)]
  }

  #readOne(value: JsonValue): readonly Message[] {
    const { open, own, tell } = this.#init
    const isAnswer = isJsonObject(value) && (!isNothing(value['result']) || !isNothing(value['error']))
    if (isJsonObject(value) && typeof value['method'] === 'string' && !isAnswer)
      return [readRequest(value, value['method'])]
    if (!isJsonObject(value) || (!isAnswer && !('id' in value) && !('result' in value))) {
      tell('an MCP server wrote something that is not a message', asText(value))
      return []
    }
    const request = isNothing(value['id']) ? (own ?? open.takeOnly()) : open.find(value['id'])
    if (request) return [this.#settle(value, request)]
    if (own) this.#stray = value
    tell('an MCP server answered a request that nobody waits for', asText(value))
    return []
  }

  #settle(value: JsonObject, request: OpenRequest): Message {
    const { open, tell } = this.#init
    const answer = readAnswer(value, request, tell)
    open.settle(request)
    return answer
  }

  #settleUnread(request: OpenRequest): Message {
    this.#init.open.settle(request)
    return makeUnreadable(request)
  }
}

export function makeUnreadable({ id }: OpenRequest, message = 'its answer is no JSON'): Message {
  return { jsonrpc: '2.0', id, error: { code: -32_700, message, data: UNREADABLE } }
}

/** A request, or a notification where no id is to answer to. */
function readRequest({ id, params }: JsonObject, method: string): Message {
  const fields = isJsonObject(params) ? readParams(method, withoutNull(params)) : undefined
  const given = { jsonrpc: '2.0', method, ...(fields && { params: fields }) } as const
  const hasId = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id))
  // The SDK checks its fields for its method.
  return (hasId ? { ...given, id } : given) as Message
}

function readParams(method: string, { _meta, ...params }: JsonObject): JsonObject {
  const given = { ...params, ...(isJsonObject(_meta) && { _meta }) }
  switch (method) {
    case 'elicitation/create':
      return readQuestion(given)
    case 'notifications/progress': {
      const { total, message, progress } = given as JsonObject
      const ends = Number(total)
      return {
        ...omit(given, ['total', 'message']),
        progress: Number(progress) || 0,
        ...(total !== undefined && Number.isFinite(ends) && { total: ends }),
        ...(message !== undefined && { message: asText(message) }),
      }
    }
    default:
      return given
  }
}

function omit(given: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)))
}

/** With a result and an error, whichever says something counts; a result that was given is never dropped for an error. */
function readAnswer(value: JsonObject, request: OpenRequest, tell: TellOdd): Message {
  const { id: _, jsonrpc: __, method: ___, result: given, error, ...rest } = value
  const { id } = request
  const isBare = !('result' in value) && isNothing(error) && Object.keys(rest).length > 0
  const result = isBare ? rest : given
  if (isError(error) && isEmpty(result)) return { jsonrpc: '2.0', id, error: readError(error) }
  if (isError(error)) tell('an MCP server sent a result and an error', asText(error))
  const also = isError(error) ? readError(error).message : undefined
  // The SDK checks the result for its method.
  return { jsonrpc: '2.0', id, result: readResult(request, result ?? null, also) } as Message
}

/** Some languages write the fields of an error that there is not. */
function isError(error: JsonValue | undefined): error is JsonValue {
  if (isNothing(error) || error === false || error === '') return false
  if (!isJsonObject(error) || Object.keys(error).length === 0) return true
  return Object.values(error).some((field) => !isEmpty(field) && field !== 0)
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (isNothing(value) || value === '') return true
  return typeof value === 'object' && Object.keys(value as object).length === 0
}

/** A code from the range that JSON-RPC leaves to servers, for an error without a code of its own. */
const SERVER_ERROR = -32_000

function readError(error: JsonValue): { code: number; message: string; data?: JsonValue } {
  if (!isJsonObject(error)) return { code: SERVER_ERROR, message: asText(error) }
  const { code, message, data } = error
  const number = typeof code === 'string' && /^-?\d+$/.test(code) ? Number(code) : code
  const isNumber = typeof number === 'number' && Number.isSafeInteger(number)
  const said = isEmpty(message) ? '' : asText(message ?? '')
  const more = said === '' ? asText(isNothing(data) ? omit(error, ['code', 'message', 'data']) : data) : said
  const reason = more === '{}' || more === '' ? 'it does not say why' : more
  return {
    code: isNumber ? number : SERVER_ERROR,
    message: isNumber || isEmpty(code) ? reason : `${asText(code ?? '')}: ${reason}`,
    ...(!isNothing(data) && { data }),
  }
}
