// Converts messages from real servers into the form that the SDK's strict schemas accept. An answer is matched by its
// id, whatever else is wrong with it, so no call waits for its time-out. `docs/mcp.md` lists what is accepted.
import type { OpenRequest } from './lenient-results.ts'
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { Transport } from '@modelcontextprotocol/client'
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client'
import { asText, isNothing, withoutNull } from './json-fields.ts'
import { readQuestion, readResult } from './lenient-results.ts'

export type Message = Parameters<NonNullable<Transport['onmessage']>>[0]

/** Marks the error that replaces an unreadable answer; `failure.ts` recognizes it. */
export const UNREADABLE = 'baton/unreadable'

/** Maximum open requests; a broken stream leaves one behind. */
const OPEN_MAX = 10_000
/** Maximum notifications that an answer without an id may belong to. */
const NOTICES_MAX = 100

/** Logs an odd message. */
export type TellOdd = (what: string, text: string) => void

/** The requests of one connection that wait for an answer. */
export class OpenRequests {
  readonly #open = new Map<string, { readonly request: OpenRequest; readonly place: number }>()
  /** Positions of notifications that a server may answer, although notifications have no answers. */
  #notices: number[] = []
  #sent = 0

  /** Records a sent message: a request, or the cancellation of one. Returns the request. */
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

  /** Finds a request by its id, even if a number was returned as a string. */
  find(id: JsonValue | undefined): OpenRequest | undefined {
    return typeof id === 'string' || typeof id === 'number' ? this.#open.get(String(id).trim())?.request : undefined
  }

  /**
   * Returns the only open request, for an answer without an id; `undefined` if that answers an earlier notification.
   */
  takeOnly(): OpenRequest | undefined {
    const [only, ...others] = this.#open.values()
    const [notice] = this.#notices
    if (notice !== undefined && (!only || notice < only.place)) {
      this.#notices = this.#notices.slice(1)
      return undefined
    }
    return others.length === 0 ? only?.request : undefined
  }

  /** After the answer to a request, no earlier notification is answered. */
  settle({ id }: OpenRequest): void {
    const place = this.#open.get(String(id))?.place ?? 0
    this.#open.delete(String(id))
    this.#notices = this.#notices.filter((notice) => notice > place)
  }
}

export interface ExchangeOptions {
  readonly open: OpenRequests
  /** Over HTTP: the request that the response is for. */
  readonly own?: OpenRequest | undefined
  readonly tell: TellOdd
}

/** Reads a server's messages: a program's whole output, or one response over HTTP. Its methods never throw. */
export class Exchange {
  readonly #init: ExchangeOptions
  /** An answer with an unknown id, which may belong to the exchange's own request. */
  #stray: JsonObject | undefined
  #isBroken = false

  constructor(init: ExchangeOptions) {
    this.#init = init
  }

  /** Returns the messages of one JSON value: one, or those of a batch. */
  read(value: JsonValue): readonly Message[] {
    const values = Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
    return values.flatMap((one) => {
      try {
        return this.#readOne(one)
      } catch {
        // Nested too deeply for the platform's JSON.
        const id = isJsonObject(one) ? one['id'] : undefined
        return this.readBroken(`"id":${typeof id === 'string' || typeof id === 'number' ? id : ''}`)
      }
    })
  }

  /** Handles text that is not JSON. If it was meant as an answer, its request fails at once. */
  readBroken(text: string): readonly Message[] {
    const { open, tell } = this.#init
    tell('an MCP server sent something that is not a message', text)
    const [, id] = /["']id["']\s*:\s*["']?([^"',}\s]+)/.exec(text) ?? []
    const request = id === undefined ? undefined : open.find(id)
    this.#isBroken ||= /^\s*[[{]/.test(text)
    return request ? [this.#settleUnread(request)] : []
  }

  /** Nothing more will follow: the exchange's own request gets the closest match to an answer. */
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
      tell('an MCP server sent something that is not a message', asText(value))
      return []
    }
    const request = isNothing(value['id']) ? (own ?? open.takeOnly()) : open.find(value['id'])
    if (request) return [this.#settle(value, request)]
    if (own) this.#stray = value
    tell('an MCP server answered a request that is not open', asText(value))
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

export function makeUnreadable({ id }: OpenRequest, message = 'its response is not JSON'): Message {
  return { jsonrpc: '2.0', id, error: { code: -32_700, message, data: UNREADABLE } }
}

/** A request, or a notification if it has no id to answer. */
function readRequest({ id, params }: JsonObject, method: string): Message {
  const fields = isJsonObject(params) ? readParams(method, withoutNull(params)) : undefined
  const given = { jsonrpc: '2.0', method, ...(fields && { params: fields }) } as const
  const hasId = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id))
  // The SDK checks the fields of each method.
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

/** Given both a result and an error, the one with content counts; a non-empty result is never dropped for an error. */
function readAnswer(value: JsonObject, request: OpenRequest, tell: TellOdd): Message {
  const { id: _, jsonrpc: __, method: ___, result: given, error, ...rest } = value
  const { id } = request
  const isBare = !('result' in value) && isNothing(error) && Object.keys(rest).length > 0
  const result = isBare ? rest : given
  if (isError(error) && isEmpty(result)) return { jsonrpc: '2.0', id, error: readError(error) }
  if (isError(error)) tell('an MCP server sent a result and an error', asText(error))
  const also = isError(error) ? readError(error).message : undefined
  // The SDK checks the result of each method.
  return { jsonrpc: '2.0', id, result: readResult(request, result ?? null, also) } as Message
}

/** Some languages write the fields of an absent error. */
function isError(error: JsonValue | undefined): error is JsonValue {
  if (isNothing(error) || error === false || error === '') return false
  if (!isJsonObject(error) || Object.keys(error).length === 0) return true
  return Object.values(error).some((field) => !isEmpty(field) && field !== 0)
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (isNothing(value) || value === '') return true
  return typeof value === 'object' && Object.keys(value as object).length === 0
}

/** A code from JSON-RPC's range for servers, for an error without a code. */
const SERVER_ERROR = -32_000

function readError(error: JsonValue): { code: number; message: string; data?: JsonValue } {
  if (!isJsonObject(error)) return { code: SERVER_ERROR, message: asText(error) }
  const { code, message, data } = error
  const number = typeof code === 'string' && /^-?\d+$/.test(code) ? Number(code) : code
  const isNumber = typeof number === 'number' && Number.isSafeInteger(number)
  const said = isEmpty(message) ? '' : asText(message ?? '')
  const more = said === '' ? asText(isNothing(data) ? omit(error, ['code', 'message', 'data']) : data) : said
  const reason = more === '{}' || more === '' ? 'no reason given' : more
  return {
    code: isNumber ? number : SERVER_ERROR,
    message: isNumber || isEmpty(code) ? reason : `${asText(code ?? '')}: ${reason}`,
    ...(!isNothing(data) && { data }),
  }
}
