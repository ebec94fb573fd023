// Operations of an OpenAPI document as tools. The document is data: the program says which operations to offer, where the API is, and
// whose login to use.
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
} from '@baton/core'
import { BatonError, checkFields, checkKinds, describeValue, isBatonError, tool } from '@baton/core'
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

export interface OpenApiOptions<Services = unknown> {
  /** The operations to offer: by `operationId`, or as `GET /orders/{id}`. The program must name each one. */
  readonly operations: readonly string[]
  /**
   * The API's address, such as `https://api.example.com/v1`. Naming it allows it: it may be on this machine or in your network. By
   * default it is the first server that the document names, which must then be public and have `https:`.
   */
  readonly server?: string
  /** Sent with each request, and stronger than a model's headers: logins, by the call's principal. */
  readonly headers?: (
    context: ToolContext<Services>,
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  /** Names of tools by operation, as `operations` has it; else the `operationId`, or one made of method and path. */
  readonly names?: Readonly<Record<string, string>>
  /** Effects by operation; else GET, HEAD and QUERY are `pure`, PUT and DELETE `idempotent`, all others `once`. */
  readonly effects?: Readonly<Record<string, EffectClass>>
  /**
   * The header by which the API recognises a repeated request, such as `Idempotency-Key`. With it, POST and PATCH are
   * `idempotent`; its value is a digest of the call's `idempotencyKey`.
   */
  readonly idempotencyHeader?: string
  /** True, or operations: a person must approve each call. False by default. */
  readonly approval?: boolean | readonly string[]
  /** `untrusted` by default: policies learn that results come from outside. */
  readonly trust?: Trust
  /**
   * How to repeat an operation that may run twice (`pure` or `idempotent`) if the service is away, has failed or asks for a pause; as
   * `retry` of `tool()`. Absent: the model reads the first failure. After a refusal such as 422 Baton never repeats the request.
   */
  readonly retry?: ToolRetry
  /** Milliseconds for the whole answer to one request; 30,000 by default. */
  readonly timeoutMs?: number
  /** Bytes of an answer, and of the files of a request; 10 MiB by default. */
  readonly maxBytes?: number
  /**
   * The file that the program knows by an id which a model gave, for operations that take files; undefined: it knows none. Pictures and
   * files of the session are found without it.
   */
  readonly readFile?: ReadFile<Services>
  /** By default a guarded fetch that may also go to `server`. It also fetches files that the session holds by address only. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** For dates in `Retry-After`; the machine's by default. */
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
/** Operations that an error names with their reasons. */
const REFUSED_SHOWN = 20
/** Milliseconds that the call lasts longer than the request, so that the request's own error comes first. */
const GRACE_MS = 2_000
const TIMER_MS = 2_147_483_647

/**
 * @param document an OpenAPI document 3.0, 3.1 or 3.2, or a Swagger 2.0 document, as `JSON.parse` gives it
 * @throws BatonError `invalid_option` (an option, or the document's words on a chosen operation), `invalid_schema`, `invalid_tool`
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

/** All at once, so that a program is not corrected operation by operation. */
function refuseTogether(refused: readonly Refused[], left: number): BatonError {
  const [first] = refused
  const total = refused.length + left
  if (first && total === 1) return first.error
  const shown = refused.slice(0, REFUSED_SHOWN).map(({ chosen, error }) => `${chosen.slice(0, 100)} (${error.message})`)
  const more = refused.length > shown.length ? `; and ${refused.length - shown.length} more` : ''
  return new BatonError({
    code: first?.error.code ?? 'invalid_option',
    message: `fromOpenApi: ${refused.length} of ${total} operations cannot be offered, ${left} can: ${shown.join('; ')}${more}`,
    hint: `Leave ${refused.length === 1 ? 'it' : 'them'} out of "operations". listOperations(document) says for each operation of a document whether it can be offered.`,
  })
}

/** An operation of a document. */
export interface OpenApiOperation {
  /** As `operations` of `fromOpenApi` takes it: the `operationId`, or method and path where that is missing or not unique. */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly title?: string
  /** The media type of the body that is sent. */
  readonly mediaType?: string
  /** Why no tool can be made of it; absent if one can. */
  readonly problem?: string
}

/**
 * Lists all operations of a document, those that cannot be offered with the reason. It looks at no server, because a program may name
 * another one.
 * @throws BatonError `invalid_option` for what is no document that can be read
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
      throw wrong(`${name} must be a whole number above 0, not ${describeValue(value)}`)
  if (idempotencyHeader !== undefined && !/^[!#$%&'*+.^_`|~\w-]+$/.test(idempotencyHeader))
    throw wrong(`idempotencyHeader must be the name of a header, not ${describeValue(idempotencyHeader)}`)
  for (const field of ['names', 'effects'] as const) checkChosen(field, Object.keys(options[field] ?? {}), operations)
  if (Array.isArray(options.approval)) checkChosen('approval', options.approval as readonly string[], operations)
  const server = given === undefined ? undefined : readServerAddress('fromOpenApi: server', given)
  const allow = server === undefined ? [] : [new URL(server).origin]
  const fetch = options.fetch ?? createGuardedFetch({ allow, timeoutMs, maxBytes })
  // Its addresses come from the conversation, so `server` is not allowed to it.
  const fetcher = new DocumentFetcher(what, { timeoutMs, maxBytes, ...(options.fetch && { fetch: options.fetch }) })
  return { ...options, server, timeoutMs, maxBytes, fetch, files: { read: options.readFile, fetcher, maxBytes } }
}

/** A misspelt operation must not go without its approval. */
function checkChosen(field: string, named: readonly string[], operations: readonly string[]): void {
  const unknown = named.find((name) => !operations.includes(name))
  if (unknown !== undefined)
    throw wrong(
      `${field} names "${String(unknown).slice(0, 100)}", which is not one of "operations" as it is written there`,
    )
}

function readDocumentServer({ server, method, path }: Operation): string {
  const url = server === undefined ? null : URL.parse(server)
  if (url && /^https?:$/.test(url.protocol)) return readServerAddress('fromOpenApi: server', url.href)
  throw wrongDocument(`${method} ${path}: the document does not say where the API is`, 'Give its address as "server".')
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

/** Names of one document never collide: the later one gets its method and path. */
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

/** Milliseconds for all tries and their waits, so that each request has its full time. */
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
  const signal = context.signal as AbortSignal // a real one, as ToolContext says
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

/** The platform's own error would show a wrong value, which may be a key. @throws BatonError `invalid_option` */
function addOwnHeaders(sent: Headers, own: readonly (readonly [string, string])[]): void {
  for (const [header, value] of own) {
    const isLegal =
      typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value) && /^[!#$%&'*+.^_`|~\w-]+$/.test(header)
    if (!isLegal) throw wrong(`headers gave a value for "${header.slice(0, 100)}" that no header may have`)
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

/** A name from outside may be that of a property which every object has. */
function ownEntry<Value>(record: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined
}

function wrong(why: string, hint?: string): BatonError {
  return new BatonError({ code: 'invalid_option', message: `fromOpenApi: ${why}`, ...(hint !== undefined && { hint }) })
}
