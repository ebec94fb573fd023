// Turns operations of an OpenAPI document into tools. The document is data: the program decides which operations to
// offer, where the API is, and whose login to use.
import { createHash } from 'node:crypto'
import type {
  Clock,
  EffectClass,
  JsonObject,
  ServerRunTool,
  ToolContext,
  ToolKind,
  ToolRetry,
  Trust,
} from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue, isBatonError, tool } from '@baton/core/internal'
import { createGuardedFetch } from '../guard/index.ts'
import { DocumentFetcher } from '../shared/pages/fetch-document.ts'
import { readServerAddress } from '../shared/server-address.ts'
import type { Reading } from '../shared/service-answer.ts'
import { describeNetworkFailure } from '../shared/service-answer.ts'
import { readAnswer } from './answer.ts'
import { writeBody } from './body.ts'
import type { Operation, OperationPlace } from './document.ts'
import { OpenApiDocument, isSafeMethod } from './document.ts'
import { wrongDocument } from './document-parts.ts'
import type { ReadFile } from './find-file.ts'
import { createFileFinder } from './find-file.ts'
import type { OperationInput } from './input-schema.ts'
import { createInput } from './input-schema.ts'
import { buildRequestHead } from './request.ts'

/** Options of `fromOpenApi`: `{ operations: ['GET /orders/{id}'] }`. */
export interface OpenApiOptions<Services = unknown> {
  /** Operations to offer, by `operationId` or as `GET /orders/{id}`. Each one must be listed explicitly. */
  readonly operations: readonly string[]
  /**
   * Address of the API, such as `https://api.example.com/v1`. Setting it also allows it, even on this machine or in
   * your network. Defaults to the first server in the document, which must then be public and use `https:`.
   */
  readonly server?: string
  /** Headers sent with each request, which override a model's: logins, by the call's principal. */
  readonly headers?: (
    context: ToolContext<Services>,
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  /**
   * Tool names by operation, as listed in `operations`; otherwise the `operationId`, or a name built from method and
   * path.
   */
  readonly names?: Readonly<Record<string, string>>
  /** Effects by operation; otherwise GET, HEAD and QUERY are `pure`, PUT and DELETE `idempotent`, all others `once`. */
  readonly effects?: Readonly<Record<string, EffectClass>>
  /**
   * Header that lets the API recognize a repeated request, such as `Idempotency-Key`. With it, POST and PATCH are
   * `idempotent`; its value is a digest of the call's `idempotencyKey`.
   */
  readonly idempotencyHeader?: string
  /** Whether the user must approve each call: `true`, or a list of operations. Defaults to `false`. */
  readonly approval?: boolean | readonly string[]
  /** `untrusted` by default, so that policies know that results come from outside. */
  readonly trust?: Trust
  /**
   * Retries of repeatable operations (`pure` or `idempotent`) if the service is unavailable, failed or asks for a
   * pause; same as `retry` of `tool()`. If omitted, the model sees the first failure. After a rejection such as 422,
   * Baton never retries.
   */
  readonly retry?: ToolRetry
  /** Timeout for the whole response to one request in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number
  /** Maximum bytes of a response, and of a request's files; 10 MiB by default. */
  readonly maxBytes?: number
  /**
   * Returns the program's file for an id given by a model, for operations that take files; `undefined` if it is
   * unknown. Pictures and files of the session are found without it.
   */
  readonly readFile?: ReadFile<Services>
  /**
   * Defaults to a guarded fetch that may also access `server`. It also fetches files that the session holds by address
   * only.
   */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Clock for dates in `Retry-After`; the system clock by default. */
  readonly clock?: Pick<Clock, 'nowMs'>
}

const FIELDS =
  'operations server headers names effects idempotencyHeader approval trust retry timeoutMs maxBytes readFile fetch clock'.split(
    ' ',
  )
const KINDS = {
  operations: 'an array',
  headers: 'a function',
  readFile: 'a function',
  fetch: 'a function',
  names: 'an object',
  effects: 'an object',
  retry: 'an object',
} as const
const DESCRIPTION_CHARS = 4_000
/** Maximum operations listed with their reasons in an error. */
const REFUSED_SHOWN = 20
/** Milliseconds that a call may exceed its request, so that the request's own error is reported first. */
const GRACE_MS = 2_000
const TIMER_MS = 2_147_483_647

/**
 * @param document an OpenAPI document 3.0, 3.1 or 3.2, or a Swagger 2.0 document, as returned by `JSON.parse`
 * @throws BatonError `invalid_option` (an option, or the document's description of a chosen operation),
 * `invalid_schema`, `invalid_tool`
 */
export function fromOpenApi<Services = unknown>(
  document: unknown,
  options: OpenApiOptions<Services>,
): readonly ServerRunTool<JsonObject, unknown, Services>[] {
  const settings = readSettings(options)
  const read = new OpenApiDocument(document)
  const places = read.list()
  const taken = new Set<string>()
  const refused: Refused[] = []
  const tools = options.operations.flatMap((chosen) => {
    const place = choose(places, chosen)
    const name = chooseName(place, ownEntry(options.names, chosen), taken)
    try {
      const operation = read.read(place)
      const server = settings.server ?? readDocumentServer(operation)
      return [createTool({ ...settings, name, chosen, operation, server, input: createInput(read, operation) })]
    } catch (thrown) {
      if (!isBatonError(thrown)) throw thrown
      refused.push({ chosen, error: thrown })
      return []
    }
  })
  if (refused.length > 0) throw refuseTogether(refused, tools.length)
  return tools
}

interface Refused {
  readonly chosen: string
  readonly error: BatonError
}

/** Reports all at once, so that a program need not be fixed one operation at a time. */
function refuseTogether(refused: readonly Refused[], left: number): BatonError {
  const [first] = refused
  const total = refused.length + left
  if (first && total === 1) return first.error
  const shown = refused.slice(0, REFUSED_SHOWN).map(({ chosen, error }) => `${chosen.slice(0, 100)} (${error.message})`)
  const more = refused.length > shown.length ? `; and ${refused.length - shown.length} more` : ''
  return new BatonError({
    code: first?.error.code ?? 'invalid_option',
    message: `fromOpenApi: ${refused.length} of ${total} operations cannot be offered, ${left} can: ${shown.join('; ')}${more}`,
    hint: `Remove ${refused.length === 1 ? 'it' : 'them'} from "operations". listOperations(document) reports for each operation of a document whether it can be offered.`,
  })
}

/** An operation of a document. */
export interface OpenApiOperation {
  /**
   * The operation's name for `operations` of `fromOpenApi`: its `operationId`, or method and path if that is missing or
   * not unique.
   */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly title?: string
  /** Media type of the body that is sent. */
  readonly mediaType?: string
  /** Why it cannot become a tool; absent if it can. */
  readonly problem?: string
}

/**
 * Lists all operations of a document, even unsupported ones, which have the reason. Ignores servers, because a program
 * may set another one.
 * @throws BatonError `invalid_option` if the document cannot be read
 */
export function listOperations(document: unknown): readonly OpenApiOperation[] {
  const read = new OpenApiDocument(document)
  const places = read.list()
  const settings = readSettings({ operations: ['any'], server: 'https://example.com' })
  return places.map((place): OpenApiOperation => {
    const { id, method, path } = place
    const isUnique = id !== undefined && places.filter((other) => other.id === id).length === 1
    const chosen = isUnique ? id : `${method} ${path}`
    const about = { operation: chosen, method, path }
    try {
      const operation = read.read(place)
      const { title, body } = operation
      const name = chooseName(place, undefined, new Set())
      createTool({
        ...settings,
        name,
        chosen,
        operation,
        server: 'https://example.com',
        input: createInput(read, operation),
      })
      return { ...about, ...(title !== undefined && { title }), ...(body && { mediaType: body.mediaType }) }
    } catch (thrown) {
      if (isBatonError(thrown)) return { ...about, problem: thrown.message }
      throw thrown
    }
  })
}

interface Settings<Services> extends Omit<OpenApiOptions<Services>, 'server'> {
  readonly server: string | undefined
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly fetch: NonNullable<OpenApiOptions['fetch']>
  readonly files: Parameters<typeof createFileFinder<Services>>[0]
}

function readSettings<Services>(options: OpenApiOptions<Services>): Settings<Services> {
  const what = 'fromOpenApi'
  checkFields(options, { what, code: 'invalid_option', fields: new Set(FIELDS) })
  checkKinds(options, { what, code: 'invalid_option', kinds: KINDS })
  const { operations, server: given, timeoutMs = 30_000, maxBytes = 10 * 1024 * 1024, idempotencyHeader } = options
  if (!Array.isArray(operations) || operations.length === 0)
    throw wrong('operations must name at least one operation', 'Write operations: ["getOrder", "POST /orders"].')
  for (const [name, value] of Object.entries({ timeoutMs, maxBytes }))
    if (!Number.isSafeInteger(value) || value < 1 || value > TIMER_MS - GRACE_MS)
      throw wrong(`${name} must be a whole number greater than 0, not ${describeValue(value)}`)
  if (idempotencyHeader !== undefined && !/^[!#$%&'*+.^_`|~\w-]+$/.test(idempotencyHeader))
    throw wrong(`idempotencyHeader must be a header name, not ${describeValue(idempotencyHeader)}`)
  for (const field of ['names', 'effects'] as const) checkChosen(field, Object.keys(options[field] ?? {}), operations)
  if (Array.isArray(options.approval)) checkChosen('approval', options.approval as readonly string[], operations)
  const server = given === undefined ? undefined : readServerAddress('fromOpenApi: server', given)
  const allow = server === undefined ? [] : [new URL(server).origin]
  const fetch = options.fetch ?? createGuardedFetch({ allow, timeoutMs, maxBytes })
  // Its addresses come from the conversation, so it may not access `server`.
  const fetcher = new DocumentFetcher(what, { timeoutMs, maxBytes, ...(options.fetch && { fetch: options.fetch }) })
  return { ...options, server, timeoutMs, maxBytes, fetch, files: { read: options.readFile, fetcher, maxBytes } }
}

/** A misspelled operation must not lose its approval. */
function checkChosen(field: string, named: readonly string[], operations: readonly string[]): void {
  const unknown = named.find((name) => !operations.includes(name))
  if (unknown !== undefined)
    throw wrong(
      `${field} names "${String(unknown).slice(0, 100)}", which is not listed in "operations" in the same form`,
    )
}

function readDocumentServer({ server, method, path }: Operation): string {
  const url = server === undefined ? null : URL.parse(server)
  if (url && /^https?:$/.test(url.protocol)) return readServerAddress('fromOpenApi: server', url.href)
  throw wrongDocument(`${method} ${path}: the document does not say where the API is`, 'Set its address as "server".')
}

function choose(places: readonly OperationPlace[], chosen: string): OperationPlace {
  const found = places.filter(({ id, method, path }) => id === chosen || `${method} ${path}` === chosen)
  const [place] = found
  if (place && found.length === 1) return place
  const shown = String(chosen).slice(0, 100)
  if (place)
    throw wrongDocument(
      `it has ${found.length} operations "${shown}"`,
      'Name it by method and path, such as GET /orders.',
    )
  const ids = places.map(({ id, method, path }) => id ?? `${method} ${path}`)
  throw wrongDocument(
    `it has no operation "${shown}"`,
    `It has ${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ' and more' : ''}.`,
  )
}

/** Keeps names within one document unique: the later one becomes method and path. */
function chooseName({ id, method, path }: OperationPlace, given: string | undefined, taken: Set<string>): string {
  const plain = `${method.toLowerCase()}_${path.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_|_$/g, '')}`
  if (given !== undefined && taken.has(given))
    throw wrong(`names gives two operations the name "${given.slice(0, 100)}"`)
  let name = given ?? id?.trim().slice(0, 200) ?? plain
  if (name === '' || taken.has(name)) name = plain.slice(0, 200)
  for (let count = 2; taken.has(name); count += 1) name = `${plain.slice(0, 200)}_${count}`
  taken.add(name)
  return name
}

interface ToolParts<Services> extends Settings<Services> {
  readonly name: string
  readonly chosen: string
  readonly operation: Operation
  readonly server: string
  readonly input: OperationInput
}

function createTool<Services>(parts: ToolParts<Services>): ServerRunTool<JsonObject, unknown, Services> {
  const { name, chosen, operation, input, approval = false, trust = 'untrusted' } = parts
  const { method, path, title, description } = operation
  const words = description === '' ? `${method} ${path}` : description
  const effect = ownEntry(parts.effects, chosen) ?? effectOf(method, parts.idempotencyHeader)
  const retry = effect === 'once' ? undefined : parts.retry
  return tool({
    name,
    description: words.slice(0, DESCRIPTION_CHARS),
    input: input.schema,
    effect,
    ...(retry && { retry }),
    kind: kindOf(method),
    trust,
    timeoutMs: wholeTimeMs(parts.timeoutMs, retry),
    approval: typeof approval === 'boolean' ? approval : approval.includes(chosen),
    describe: () => ({ title: `${method} ${path}`.slice(0, 200) }),
    ...(title !== undefined && title.trim() !== '' && { title: title.slice(0, 200) }),
    execute: (given: JsonObject, context: ToolContext<Services>): Promise<unknown> => call(parts, given, context),
  })
}

/** Milliseconds for all attempts and pauses, so that each request has its full timeout. */
function wholeTimeMs(timeoutMs: number, { attempts, maxMs = 10_000 }: ToolRetry = { attempts: 1 }): number {
  return Math.min(attempts * timeoutMs + (attempts - 1) * maxMs + GRACE_MS, TIMER_MS)
}

async function call<Services>(
  parts: ToolParts<Services>,
  given: JsonObject,
  context: ToolContext<Services>,
): Promise<unknown> {
  const { name, operation, server, input, idempotencyHeader, maxBytes, fetch, clock } = parts
  const { url, headers } = buildRequestHead(server, operation, input.slots, given)
  const sent = new Headers(headers)
  const body =
    operation.body && Object.hasOwn(given, 'body')
      ? await writeBody(operation.body, given['body'] ?? null, createFileFinder(parts.files, context))
      : undefined
  if (body) sent.set('content-type', body.contentType)
  if (idempotencyHeader !== undefined && !isSafeMethod(operation.method))
    sent.set(idempotencyHeader, createHash('sha256').update(context.idempotencyKey).digest('hex'))
  const own = Object.entries((await parts.headers?.(context)) ?? {})
  addOwnHeaders(sent, own)
  const reading: Reading = {
    what: `${name}: ${operation.method} ${new URL(server).origin}`,
    mayChange: !isSafeMethod(operation.method),
    maxBytes,
    secrets: own.flatMap(([, value]) => [value, ...value.split(/\s+/)]).filter((text) => text.length >= 8),
    nowMs: () => (clock ? clock.nowMs() : Date.now()),
  }
  const signal = context.signal as AbortSignal // a real one, as ToolContext declares
  let response: Response
  try {
    response = await fetch(url, {
      method: operation.method,
      headers: sent,
      signal,
      ...(body && { body: body.data }),
    })
  } catch (thrown) {
    throw signal.aborted ? thrown : describeNetworkFailure(reading, thrown)
  }
  return readAnswer(response, reading, operation.answerTypes)
}

/** The platform's own error would show an invalid value, which may be a key. @throws BatonError `invalid_option` */
function addOwnHeaders(sent: Headers, own: readonly (readonly [string, string])[]): void {
  for (const [header, value] of own) {
    const isLegal =
      typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value) && /^[!#$%&'*+.^_`|~\w-]+$/.test(header)
    if (!isLegal) throw wrong(`headers returned a value for "${header.slice(0, 100)}" that headers do not allow`)
    const cookies = header.toLowerCase() === 'cookie' ? sent.get('cookie') : null
    sent.set(header, cookies === null ? value : `${value}; ${cookies}`)
  }
}

function effectOf(method: string, idempotencyHeader: string | undefined): EffectClass {
  if (isSafeMethod(method)) return 'pure'
  return method === 'PUT' || method === 'DELETE' || idempotencyHeader !== undefined ? 'idempotent' : 'once'
}

function kindOf(method: string): ToolKind {
  if (isSafeMethod(method)) return 'read'
  return method === 'DELETE' ? 'delete' : method === 'PUT' || method === 'PATCH' ? 'edit' : 'other'
}

/** An external name may equal a property that every object has. */
function ownEntry<Value>(record: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined
}

function wrong(why: string, hint?: string): BatonError {
  return new BatonError({ code: 'invalid_option', message: `fromOpenApi: ${why}`, ...(hint !== undefined && { hint }) })
}
