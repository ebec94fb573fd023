// Builds one JSON Schema for the input of an operation: a property per parameter, and `body`. Referenced schemas go
// into `$defs`, so schemas may be recursive.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import type { OpenApiDocument, Operation } from './document.ts'
import { entriesOf } from './document-parts.ts'
import type { Parameter } from './parameter.ts'

export interface OperationInput {
  readonly schema: JsonObject
  /** Maps properties to parameters. */
  readonly slots: readonly { readonly property: string; readonly parameter: Parameter }[]
}

/** Maximum parts and depth of one tool's schema; what a model can read is far smaller. */
const NODES = 20_000
const DEPTH = 256
const DESCRIPTION_CHARS = 1_000

/** @throws BatonError `invalid_option` for dangling references, `invalid_schema` for a schema over the limits */
export function createInput(document: OpenApiDocument, operation: Operation): OperationInput {
  const copier = new SchemaCopier(document, `${operation.method} ${operation.path}`)
  const taken = new Set(['__proto__', ...(operation.body ? ['body'] : [])])
  const slots = operation.parameters.map((parameter) => ({ property: chooseName(parameter, taken), parameter }))
  const properties = slots.map(({ property, parameter }) => [
    property,
    describe(copier.copy(parameter.schema), parameter),
  ])
  const { body } = operation
  if (body) properties.push(['body', describe(copier.copy(body.schema), body)])
  const required = slots.filter(({ parameter }) => parameter.isRequired).map(({ property }) => property)
  const definitions = copier.definitions()
  return {
    slots,
    schema: {
      type: 'object',
      properties: Object.fromEntries(properties) as JsonObject,
      required: body?.isRequired === true ? [...required, 'body'] : required,
      additionalProperties: false,
      ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
    },
  }
}

/** Uses the name itself; if two parameters share it, the later one is prefixed with its location. */
function chooseName(parameter: Parameter, taken: Set<string>): string {
  const longer = `${parameter.in}_${parameter.name}`
  let name = taken.has(parameter.name) ? longer : parameter.name
  for (let count = 2; taken.has(name); count += 1) name = `${longer}_${count}`
  taken.add(name)
  return name
}

function describe(schema: JsonValue, { description }: { readonly description: string | undefined }): JsonValue {
  const words = description?.slice(0, DESCRIPTION_CHARS)
  if (words === undefined || words === '' || schema === false) return schema
  return { ...(isJsonObject(schema) ? schema : {}), description: words }
}

/** Keywords whose values are schemas, or lists or maps of schemas, and keywords copied as is. */
const SCHEMA_WORDS = new Set(
  'items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
)
const LIST_WORDS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const MAP_WORDS = new Set(['properties', 'patternProperties', 'dependentSchemas'])
const PLAIN_WORDS = new Set(
  (
    'type enum const title description default examples format deprecated minimum maximum exclusiveMinimum exclusiveMaximum ' +
    'multipleOf minLength maxLength pattern minItems maxItems uniqueItems minContains maxContains minProperties maxProperties ' +
    'required dependentRequired contentEncoding contentMediaType nullable'
  ).split(' '),
)

const BESIDE_REFERENCE = new Set(['$ref', 'title', 'description', 'default', 'deprecated', 'nullable'])

class SchemaCopier {
  readonly #document: OpenApiDocument
  readonly #where: string
  readonly #names = new Map<string, string>()
  readonly #definitions = new Map<string, JsonValue>()
  #nodes = 0
  #depth = 0

  constructor(document: OpenApiDocument, where: string) {
    this.#document = document
    this.#where = where
  }

  definitions(): JsonObject {
    return Object.fromEntries(this.#definitions)
  }

  /**
   * Keeps the document's dialect, since `tool()` reads each one. Drops keywords that neither a validator nor a model
   * uses.
   */
  copy(schema: JsonValue, hidden?: ReadonlySet<string>): JsonValue {
    this.#nodes += 1
    this.#depth += 1
    if (this.#nodes > NODES || this.#depth > DEPTH) throw this.#tooLarge()
    const copied = isJsonObject(schema) ? this.#copyObject(schema, hidden) : schema !== false
    this.#depth -= 1
    return copied
  }

  /** @param outer names hidden in the enclosing schema */
  #copyObject(schema: JsonObject, outer: ReadonlySet<string> = new Set()): JsonObject {
    const own = readOnlyNames(schema, (value) => this.#document.follow(value, this.#where))
    const hidden = new Set([...outer, ...own])
    const copied: [string, JsonValue][] = []
    // In 3.0, siblings of a reference are ignored, except for descriptions.
    const isAlone = this.#document.isOlder && typeof schema['$ref'] === 'string'
    for (const [word, value] of Object.entries(schema)) {
      if (isAlone && !BESIDE_REFERENCE.has(word)) continue
      const isList = LIST_WORDS.has(word) || word === 'items'
      if (isList && Array.isArray(value))
        copied.push([
          word,
          (value as readonly JsonValue[]).map((item) => this.copy(item, word === 'allOf' ? hidden : undefined)),
        ])
      else if (SCHEMA_WORDS.has(word)) copied.push([word, this.copy(value)])
      else if (MAP_WORDS.has(word)) copied.push([word, this.#copyMap(value, hidden)])
      else if (word === '$ref' && typeof value === 'string') copied.push(['$ref', this.#refer(value)])
      else if (word === 'required' && Array.isArray(value))
        copied.push([
          word,
          (value as readonly JsonValue[]).filter((name) => typeof name === 'string' && !hidden.has(name)),
        ])
      else if (PLAIN_WORDS.has(word)) copied.push([word, value])
    }
    return Object.fromEntries(copied)
  }

  #copyMap(value: JsonValue, hidden: ReadonlySet<string>): JsonObject {
    const kept = entriesOf(value).filter(([name]) => name !== '__proto__' && !hidden.has(name))
    return Object.fromEntries(kept.map(([name, item]) => [name, this.copy(item)]))
  }

  #refer(reference: string): string {
    const known = this.#names.get(reference)
    if (known !== undefined) return `#/$defs/${known}`
    const last = (reference.split('/').at(-1) ?? '').replaceAll(/[^A-Za-z0-9_.-]/g, '_').slice(0, 64) || 'schema'
    let name = last
    for (let count = 2; this.#definitions.has(name); count += 1) name = `${last}_${count}`
    this.#names.set(reference, name)
    // Reserves its place first, because its parts may refer to it.
    this.#definitions.set(name, true)
    this.#definitions.set(name, this.copy(this.#document.find(reference, this.#where)))
    return `#/$defs/${name}`
  }

  #tooLarge(): BatonError {
    const message = `${this.#where} of the OpenAPI document has a schema with more than ${NODES} parts or ${DEPTH} levels`
    return new BatonError({ code: 'invalid_schema', message, hint: 'Leave out the operation, or shorten its schema.' })
  }
}

/** Read-only properties: by their own schema, by a referenced schema, or in a part of `allOf`. */
function readOnlyNames(
  schema: JsonObject,
  follow: (value: JsonValue) => JsonValue,
  seen = new Set<JsonObject>(),
): ReadonlySet<string> {
  const isReadOnly = (item: JsonValue): boolean =>
    [item, follow(item)].some((found) => isJsonObject(found) && found['readOnly'] === true)
  const own = entriesOf(schema['properties']).flatMap(([name, item]) => (isReadOnly(item) ? [name] : []))
  const parts = Array.isArray(schema['allOf']) && !seen.has(schema) ? (schema['allOf'] as readonly JsonValue[]) : []
  seen.add(schema) // a part may lead back to the whole
  const inherited = parts
    .map(follow)
    .flatMap((part) => (isJsonObject(part) ? [...readOnlyNames(part, follow, seen)] : []))
  return new Set([...own, ...inherited])
}
