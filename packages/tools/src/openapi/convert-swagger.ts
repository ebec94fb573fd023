// Converts Swagger 2.0 to OpenAPI 3.0 with Scalar's converter, loaded only for such documents. Constructs that the
// converter does not read (form and body parameters by reference, or for a whole path) are rewritten first.
import { createRequire } from 'node:module'
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { entriesOf, entryOf, wrongDocument } from './document-parts.ts'

/** @throws BatonError `invalid_option` if the document cannot be converted */
export function convertSwagger(document: JsonObject): JsonObject {
  const { upgradeFromTwoToThree } = createRequire(import.meta.url)('@scalar/openapi-upgrader/2.0-to-3.0') as {
    readonly upgradeFromTwoToThree: (document: object) => unknown
  }
  // A copy, because the converter mutates its input.
  const copy = JSON.parse(JSON.stringify(prepare(document))) as JsonObject
  let converted: unknown
  try {
    converted = upgradeFromTwoToThree(copy)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.slice(0, 200) : 'its structure is invalid'
    throw wrongDocument(`it is Swagger 2.0 and could not be converted to OpenAPI 3.0: ${why}`)
  }
  if (isJsonObject(converted)) return converted
  throw wrongDocument('it is Swagger 2.0 and could not be converted to OpenAPI 3.0')
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch'])

function prepare(document: JsonObject): JsonObject {
  const { schemes, paths } = document
  const told = Array.isArray(schemes)
    ? (schemes as readonly JsonValue[]).filter((scheme) => typeof scheme === 'string')
    : []
  const resolve = (list: JsonValue | undefined): readonly JsonObject[] =>
    (Array.isArray(list) ? (list as readonly JsonValue[]) : []).map((item) => resolveParameter(document, item))
  const prepared = entriesOf(paths).map(([path, item]) => {
    if (!isJsonObject(item)) return [path, item]
    const shared = resolve(item['parameters'])
    const { parameters: _, ...rest } = item
    const operations = Object.entries(rest).map(([method, operation]) => {
      if (!METHODS.has(method) || !isJsonObject(operation)) return [method, operation]
      const own = resolve(operation['parameters'])
      const all = [...shared.filter((outer) => !own.some((inner) => isSame(inner, outer))), ...own]
      return [method, prepareOperation(operation, all, document['consumes'])]
    })
    return [path, Object.fromEntries(operations) as JsonObject]
  })
  return {
    ...document,
    swagger: '2.0',
    // Unless the program sets a server, only an https address is used.
    schemes: told.length === 0 ? ['https'] : told.toSorted((one, other) => rank(one) - rank(other)),
    ...(isJsonObject(paths) && { paths: Object.fromEntries(prepared) as JsonObject }),
  }
}

function rank(scheme: JsonValue): number {
  return scheme === 'https' ? 0 : 1
}

function isSame(one: JsonObject, other: JsonObject): boolean {
  return one['in'] === other['in'] && (one['name'] === other['name'] || one['in'] === 'body')
}

function resolveParameter(document: JsonObject, item: JsonValue): JsonObject {
  const reference = entryOf(item, '$ref')
  const name = typeof reference === 'string' ? /^#\/parameters\/(.+)$/.exec(reference)?.[1] : undefined
  const found =
    name === undefined
      ? item
      : entryOf(document['parameters'], decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'))
  if (isJsonObject(found) && typeof found['in'] === 'string') return found
  throw wrongDocument(`it is Swagger 2.0 and has an invalid parameter: ${JSON.stringify(item)?.slice(0, 100)}`)
}

/**
 * A form uses the form media type, or `multipart/form-data` if it has a file; its lists are comma-separated by default.
 */
function prepareOperation(
  operation: JsonObject,
  parameters: readonly JsonObject[],
  consumes: JsonValue | undefined,
): JsonObject {
  const inForm = parameters.filter((parameter) => parameter['in'] === 'formData')
  if (inForm.length === 0) return { ...operation, parameters }
  const told = operation['consumes'] ?? consumes
  const types = (Array.isArray(told) ? (told as readonly JsonValue[]) : []).filter((type) => FORMS.has(type))
  const hasFile = inForm.some((parameter) => parameter['type'] === 'file')
  return {
    ...operation,
    consumes: hasFile ? ['multipart/form-data'] : types.length > 0 ? types : ['application/x-www-form-urlencoded'],
    parameters: parameters.map((parameter) =>
      parameter['in'] === 'formData' && parameter['type'] === 'array'
        ? { ...parameter, collectionFormat: parameter['collectionFormat'] ?? 'csv' }
        : parameter,
    ),
  }
}

const FORMS: ReadonlySet<JsonValue> = new Set(['application/x-www-form-urlencoded', 'multipart/form-data'])
