// Converts results of servers in Go, Rust, Java, .NET and Python into the form that the SDK's strict schemas accept, by
// requested method: null instead of absent fields, wrong types, strings instead of objects. An odd field is dropped or
// becomes text, and the rest stays. Results of calls are in `lenient-calls.ts`.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/client'
import { readCall, readContents } from './lenient-calls.ts'
import { asText, isNothing, withoutNull } from './json-fields.ts'

/** A request that waits for its result. */
export interface OpenRequest {
  readonly id: string | number
  readonly method: string
  /** The requested resource. */
  readonly uri?: string
  /** True if the request names its version itself, as in 2026-07-28. */
  readonly isModern?: boolean
}

/** @param also message of an error sent together with the result */
export function readResult(request: OpenRequest, result: JsonValue, also?: string): JsonObject {
  const read = readByMethod(request, result, also)
  if (!request.isModern) return read
  // Required in results of 2026-07-28.
  const { resultType = 'complete', ttlMs, cacheScope } = read
  if (request.method === 'tools/call') return { ...read, resultType }
  return {
    ...read,
    resultType,
    ttlMs: typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs >= 0 ? ttlMs : 0,
    cacheScope: cacheScope === 'public' ? 'public' : 'private',
  }
}

function readByMethod(request: OpenRequest, result: JsonValue, also: string | undefined): JsonObject {
  switch (request.method) {
    case 'tools/call':
    case 'tasks/result':
      return isUnfinished(result) ? readUnfinished(result) : readCall(result, also)
    case 'tasks/get':
      return isJsonObject(result) ? readTask(withoutNull(result)) : {}
    case 'initialize':
      return readWelcome(clean(result))
    case 'server/discover':
      return readDiscovery(clean(result))
    case 'tools/list':
      return { ...readPage(result, 'tools'), tools: readList(result, 'tools').map(readTool) }
    case 'resources/list':
      return { ...readPage(result, 'resources'), resources: readList(result, 'resources').flatMap(readResource) }
    case 'resources/read':
      return { ...readPage(result, 'contents'), contents: readContents(result, request.uri) }
    default:
      return clean(result)
  }
}

/** A 2026-07-28 server may ask first or answer with a task; a 2025-11-25 server with a requested task. */
function isUnfinished(result: JsonValue): result is JsonObject {
  if (!isJsonObject(result)) return false
  const { resultType, task } = result
  return resultType === 'task' || resultType === 'input_required' || (isJsonObject(task) && 'taskId' in task)
}

function readUnfinished(result: JsonObject): JsonObject {
  const given = readTask(withoutNull(result))
  const { task } = given
  return isJsonObject(task) ? { ...given, task: readTask(withoutNull(task)) } : given
}

function readTask(task: JsonObject): JsonObject {
  const { inputRequests, result, error } = task
  return {
    ...task,
    ...(isJsonObject(inputRequests) && { inputRequests: readQuestions(inputRequests) }),
    ...(result !== undefined && { result: readCall(result) }),
    ...(error !== undefined && { error: isJsonObject(error) ? withoutNull(error) : { message: asText(error) } }),
  }
}

function readQuestions(requests: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(withoutNull(requests)).map(([key, request]) => {
      if (!isJsonObject(request) || !isJsonObject(request['params'])) return [key, request]
      return [key, { ...request, params: readQuestion(request['params']) }]
    }),
  )
}

/** A server's question for a person, by itself or inside a result. */
export function readQuestion(params: JsonObject): JsonObject {
  const given = withoutNull(params)
  const { message = '', mode, requestedSchema } = given
  const isPage = mode === 'url'
  const form = readForm(isJsonObject(requestedSchema) ? withoutNull(requestedSchema) : {})
  return { ...given, message: asText(message), ...(!isPage && { requestedSchema: form }) }
}

function readForm({ properties, required, ...schema }: JsonObject): JsonObject {
  const fields = isJsonObject(properties) ? Object.entries(properties) : []
  const names = Array.isArray(required) ? (required as readonly JsonValue[]).filter(isText) : []
  return {
    type: 'object',
    ...schema,
    properties: Object.fromEntries(
      fields
        .map(([name, field]): [string, JsonObject] => [name, readFormField(field)])
        .filter(([name, field]) => names.includes(name) || canBeFilledIn(field)),
    ),
    ...(names.length > 0 && { required: names }),
  }
}

/** Forms have no objects, and only lists of given choices; an optional field of another kind is left out. */
function canBeFilledIn({ type, items }: JsonObject): boolean {
  if (type === 'array') return isJsonObject(items) && (Array.isArray(items['enum']) || Array.isArray(items['anyOf']))
  return type === 'string' || type === 'number' || type === 'integer' || type === 'boolean'
}

/**
 * A form field, reduced to what MCP can express. Parts that would make the SDK reject the whole question are dropped.
 */
function readFormField(given: JsonValue): JsonObject {
  const written = isJsonObject(given) ? withoutNull(given) : {}
  // Pydantic's way to write an optional field.
  const variants = Array.isArray(written['anyOf']) ? (written['anyOf'] as readonly JsonValue[]) : []
  const variant = variants.find((one) => isJsonObject(one) && one['type'] !== 'null')
  const { type, oneOf, default: preset, ...field } = { ...written, ...(isJsonObject(variant) && withoutNull(variant)) }
  const types = (Array.isArray(type) ? (type as readonly JsonValue[]) : [type]).filter((one) => one !== 'null')
  const kind = types.find(isText) ?? ('items' in field ? 'array' : 'string')
  const choices = Array.isArray(oneOf) ? (oneOf as readonly JsonValue[]).filter(isJsonObject) : []
  return {
    type: kind,
    ...Object.fromEntries(Object.entries(field).filter(([name, value]) => FORM_FIELDS[name]?.(value) ?? true)),
    ...(choices.length > 0 && { oneOf: choices.map((one) => ({ ...one, title: one['title'] ?? one['const'] ?? '' })) }),
    ...(preset !== undefined && isPreset(kind, preset) && { default: preset }),
  }
}

const isText = (value: JsonValue | undefined): value is string => typeof value === 'string'
const isNumber = (value: JsonValue): boolean => typeof value === 'number'
const isTexts = (value: JsonValue): boolean => Array.isArray(value) && (value as readonly JsonValue[]).every(isText)
const FORMATS: readonly JsonValue[] = ['email', 'uri', 'date', 'date-time']

/** Keywords allowed in a form field, with checks of their values. */
const FORM_FIELDS: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  title: isText,
  description: isText,
  minLength: isNumber,
  maxLength: isNumber,
  minimum: isNumber,
  maximum: isNumber,
  minItems: isNumber,
  maxItems: isNumber,
  enum: isTexts,
  enumNames: isTexts,
  format: (value) => FORMATS.includes(value),
  items: isJsonObject,
}

function isPreset(kind: string, value: JsonValue): boolean {
  if (kind === 'array') return isTexts(value)
  return kind === 'integer' ? isNumber(value) : typeof value === kind
}

function clean(result: JsonValue): JsonObject {
  if (!isJsonObject(result)) return {}
  const { _meta, ...rest } = withoutNull(result)
  return { ...rest, ...(isJsonObject(_meta) && { _meta: readMeta(_meta) }) }
}

/** Keeps only objects, as MCP itself writes. */
function readMeta(meta: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(meta).filter(([name, field]) => !name.startsWith('io.modelcontextprotocol/') || isJsonObject(field)),
  )
}

/** An unknown version is replaced by the newest one with a handshake, which Baton requests. */
function readWelcome(result: JsonObject): JsonObject {
  const { protocolVersion, capabilities, serverInfo, instructions, ...rest } = result
  return {
    ...rest,
    protocolVersion: nearestVersion(protocolVersion),
    capabilities: readCapabilities(capabilities),
    serverInfo: readName(serverInfo),
    ...(typeof instructions === 'string' && { instructions }),
  }
}

function nearestVersion(said: JsonValue | undefined): string {
  const known = SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < '2026').toSorted()
  const date = typeof said === 'string' ? /\d{4}-\d\d-\d\d/.exec(said)?.[0] : undefined
  const newest = known.at(-1) ?? ''
  return date === undefined ? newest : (known.findLast((version) => version <= date) ?? known[0] ?? newest)
}

function readDiscovery(result: JsonObject): JsonObject {
  const { capabilities, instructions, ...rest } = result
  return {
    ...rest,
    ...('supportedVersions' in rest && { capabilities: readCapabilities(capabilities) }),
    ...(typeof instructions === 'string' && { instructions }),
  }
}

/** Keeps tools even if a server declares no capabilities, or declares tools as something other than an object. */
function readCapabilities(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return { tools: {} }
  const { tools, ...others } = value
  return {
    ...readObjects(others, (name, fields) => (NESTED.includes(name) ? readNested(fields) : readFlags(fields))),
    ...('tools' in value && tools !== false && { tools: isJsonObject(tools) ? readFlags(tools) : {} }),
  }
}

/** Capabilities that contain others. */
const NESTED: readonly string[] = ['tasks', 'experimental', 'extensions']

function readNested(fields: JsonObject): JsonObject {
  return readObjects(fields, (_, nested) => readNested(nested))
}

/** Fields that are objects. PHP writes an empty object as a list; others write `true`. */
function readObjects(fields: JsonObject, read: (name: string, fields: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) =>
      isJsonObject(field) ? [[name, read(name, field)]] : field === true || Array.isArray(field) ? [[name, {}]] : [],
    ),
  )
}

const FLAGS: readonly string[] = ['listChanged', 'subscribe']

function readFlags(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(withoutNull(fields)).filter(([name, flag]) => !FLAGS.includes(name) || typeof flag === 'boolean'),
  )
}

function readName(value: JsonValue | undefined): JsonObject {
  const given: JsonObject = isJsonObject(value) ? value : typeof value === 'string' ? { name: value } : {}
  const { name, version, title } = given
  return {
    name: isNothing(name) ? 'unnamed' : asText(name),
    version: isNothing(version) ? '0' : asText(version),
    ...(typeof title === 'string' && { title }),
  }
}

/** Fields of a page other than its list. */
function readPage(result: JsonValue, list: string): JsonObject {
  const { [list]: _, nextCursor, ...rest } = clean(result)
  const cursor = typeof nextCursor === 'number' ? String(nextCursor) : nextCursor
  return { ...rest, ...(typeof cursor === 'string' && cursor !== '' && { nextCursor: cursor }) }
}

/** A list, or an object whose fields are the entries, by name: PHP writes a list with a gap as one. */
function readList(result: JsonValue, list: string): readonly JsonValue[] {
  const given = Array.isArray(result) ? result : isJsonObject(result) ? result[list] : undefined
  if (Array.isArray(given)) return given as readonly JsonValue[]
  if (!isJsonObject(given)) return []
  return Object.entries(given).map(([name, one]) => (isJsonObject(one) ? { name, ...one } : one))
}

const TASK_SUPPORT: readonly JsonValue[] = ['required', 'optional', 'forbidden']
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

/** An entry that is not a tool stays as is: the list is then read again without it, and the log names it. */
function readTool(value: JsonValue): JsonValue {
  if (!isJsonObject(value) || typeof value['name'] !== 'string') return value
  const { inputSchema, outputSchema, annotations, execution, icons: _, _meta, ...rest } = withoutNull(value)
  const output = readSchema(outputSchema)
  return {
    ...textsOnly(rest, ['description', 'title']),
    inputSchema: readSchema(inputSchema) ?? { type: 'object' },
    ...(output?.['type'] === 'object' && { outputSchema: output }),
    ...(isJsonObject(annotations) && { annotations: readHints(annotations) }),
    ...(isJsonObject(execution) && TASK_SUPPORT.includes(execution['taskSupport'] ?? null) && { execution }),
    ...(isJsonObject(_meta) && { _meta }),
  }
}

/**
 * Checks only MCP's own rules for a schema; its keywords are interpreted when arguments are checked. Some servers write
 * the schema as a text of JSON.
 */
function readSchema(given: JsonValue | undefined): JsonObject | undefined {
  const parsed = typeof given === 'string' ? parseJson(given) : undefined
  const value = parsed?.ok ? parsed.value : given
  if (!isJsonObject(value)) return undefined
  const { type, properties, required, ...rest } = withoutNull(value)
  return {
    ...textsOnly(rest, ['$schema']),
    type: isNothing(type) || isObjectType(type) ? 'object' : type,
    ...(isJsonObject(properties) && { properties }),
    ...(Array.isArray(required) && { required: required.filter((name) => typeof name === 'string') }),
  }
}

/** Google writes `OBJECT`. */
function isObjectType(type: JsonValue): boolean {
  const types = Array.isArray(type) ? (type as readonly JsonValue[]) : [type]
  return types.some((one) => typeof one === 'string' && one.trim().toLowerCase() === 'object')
}

/** Drops hints that are not booleans. */
function readHints(annotations: JsonObject): JsonObject {
  const known = textsOnly(withoutNull(annotations), ['title'])
  return Object.fromEntries(
    Object.entries(known).filter(([name, hint]) => !HINTS.some((known) => known === name) || typeof hint === 'boolean'),
  )
}

function readResource(value: JsonValue): readonly JsonObject[] {
  if (!isJsonObject(value) || typeof value['uri'] !== 'string') return []
  const { uri, name, title, description, mimeType } = value
  const texts = textsOnly(withoutNull({ title, description, mimeType } as JsonObject), [
    'title',
    'description',
    'mimeType',
  ])
  return [{ uri, name: typeof name === 'string' ? name : uri, ...texts }]
}

/** Drops the named fields that are not strings. */
function textsOnly(fields: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, field]) => !names.includes(name) || typeof field === 'string'),
  )
}
