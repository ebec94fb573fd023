// Reads an OpenAPI document, 3.0 to 3.2, or Swagger 2.0: its references, and its operations one by one. Creates no
// schemas and no requests.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { describeValue, isJsonObject } from '@baton/core/internal'
import { bareType } from '../shared/media-types.ts'
import type { RequestBody } from './body.ts'
import { readRequestBody } from './body.ts'
import { convertSwagger } from './convert-swagger.ts'
import { entriesOf, entryOf, textOf, wrongDocument } from './document-parts.ts'
import type { Parameter } from './parameter.ts'
import { readParameter } from './parameter.ts'

export interface Operation {
  readonly id: string | undefined
  /** Uppercase. */
  readonly method: string
  /** Includes templates: `/pets/{id}`. */
  readonly path: string
  readonly title: string | undefined
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly body: RequestBody | undefined
  /** The document's server, or `undefined` if it has none. */
  readonly server: string | undefined
  /** Media types of successful responses, if documented. */
  readonly answerTypes: readonly string[]
}

export interface OperationPlace {
  readonly id: string | undefined
  /** The method as sent; `*` stands for the operations of an unreadable path. */
  readonly method: string
  readonly path: string
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']
/** `fetch` cannot send these: https://fetch.spec.whatwg.org/#forbidden-method */
const UNSENT_METHODS = /^(trace|track|connect)$/i
const SAFE_METHODS = /^(GET|HEAD|QUERY)$/
/** Maximum length of a chain of references. */
const CHAIN = 32
/** The specification reserves these for other fields of an operation. */
const OTHERS_HEADERS = ['accept', 'content-type', 'authorization']
const VERSIONS = /^3\.[012](\.|$)/

/** Whether the method changes nothing: GET, HEAD, and QUERY of OpenAPI 3.2. */
export function isSafeMethod(method: string): boolean {
  return SAFE_METHODS.test(method)
}

export class OpenApiDocument {
  readonly #root: JsonObject
  /** Whether schemas use the 3.0 dialect. */
  readonly isOlder: boolean

  /** The document's own address without a fragment, if it declares one. */
  readonly #self: string | undefined

  /** @throws BatonError `invalid_option` */
  constructor(document: unknown) {
    if (!isJsonObject(document) || typeof document['then'] === 'function')
      throw wrongDocument(
        `it must be an object, as returned by JSON.parse, not ${describeValue(document)}`,
        GIVE_PARSED,
      )
    const isSwagger =
      document['openapi'] === undefined && [2, '2', '2.0'].some((version) => document['swagger'] === version)
    const root = isSwagger ? convertSwagger(document) : document
    const version = readVersion(root['openapi'])
    if (!isJsonObject(root['paths'])) throw wrongDocument('it has no "paths"')
    this.#root = root
    this.isOlder = version.startsWith('3.0')
    const self = textOf(root['$self'])
    this.#self = self === undefined ? undefined : URL.parse(self)?.href.split('#')[0]
  }

  /** Locations of all operations, in document order. */
  list(): readonly OperationPlace[] {
    return entriesOf(this.#root['paths']).flatMap(([path]) => {
      // Extensions are listed among the paths.
      if (!path.startsWith('/')) return []
      let item: JsonObject
      try {
        item = this.#readItem(path)
      } catch {
        return [{ id: undefined, method: '*', path }] // `read` reports why
      }
      const usual = Object.entries(item)
        .filter(([method]) => METHODS.includes(method))
        .map(([method, operation]): [string, JsonValue] => [method.toUpperCase(), operation])
      return [...usual, ...entriesOf(item['additionalOperations'])].flatMap(([method, operation]) =>
        isJsonObject(operation) ? [{ id: textOf(operation['operationId']), method, path }] : [],
      )
    })
  }

  /** Fields of a path, including siblings of its reference. */
  #readItem(path: string): JsonObject {
    const item = entryOf(this.#root['paths'], path)
    const { $ref: _, ...own } = isJsonObject(item) ? item : {}
    return { ...this.#object(item, path), ...own }
  }

  /** @throws BatonError `invalid_option` if Baton does not support the operation as documented */
  read({ method, path, id }: OperationPlace): Operation {
    const where = `${method} ${path}`
    const item = this.#readItem(path)
    const operation = this.#object(item[method.toLowerCase()] ?? entryOf(item['additionalOperations'], method), where)
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(method) || UNSENT_METHODS.test(method))
      throw wrongDocument(`${where}: requests with the method ${method.slice(0, 50)} cannot be sent`)
    const own = this.#readParameters(operation['parameters'], where)
    const shared = this.#readParameters(item['parameters'], where).filter(
      (outer) => !own.some((inner) => inner.name === outer.name && inner.in === outer.in),
    )
    const parameters = [...shared, ...own]
    if (parameters.some((one) => one.in === 'querystring') && parameters.some((one) => one.in === 'query'))
      throw wrongDocument(`${where}: it has parameters in "query" and in "querystring", which exclude each other`)
    return {
      id,
      method,
      path,
      title: textOf(operation['summary']),
      description: ['summary', 'description']
        .map((field) => textOf(operation[field] ?? item[field]) ?? '')
        .filter((text) => text.trim() !== '')
        .join('\n\n'),
      parameters,
      body: this.#readBody(operation['requestBody'], method, where),
      server: readServer(operation['servers'] ?? item['servers'] ?? this.#root['servers'], this.#self),
      answerTypes: this.#listAnswerTypes(operation['responses'], where),
    }
  }

  #listAnswerTypes(responses: JsonValue | undefined, where: string): readonly string[] {
    const all = entriesOf(responses)
    const good = all.filter(([status]) => status.startsWith('2'))
    const told = good.length > 0 ? good : all.filter(([status]) => status === 'default')
    return told.flatMap(([, response]) =>
      entriesOf(this.#object(response, where)['content']).map(([type]) => bareType(type)),
    )
  }

  /**
   * Resolves a reference, or returns the value itself.
   * @throws BatonError `invalid_option` if the reference is external, dangling or circular
   */
  follow(value: JsonValue | undefined, where: string): JsonValue {
    let current = value
    for (let steps = 0; steps < CHAIN; steps += 1) {
      if (!isJsonObject(current) || typeof current['$ref'] !== 'string') return current ?? null
      current = this.find(current['$ref'], where)
    }
    throw wrongDocument(`${where}: a reference leads back to itself`)
  }

  /** @throws BatonError `invalid_option` */
  find(reference: string, where: string): JsonValue {
    const shown = reference.slice(0, 100)
    const fragment = this.#readFragment(reference)
    if (fragment === undefined)
      throw wrongDocument(`${where}: "${shown}" is outside the document`, 'Bundle all parts into one document first.')
    const pointer = decodePointer(fragment)
    let current: JsonValue | undefined = pointer === '' || pointer.startsWith('/') ? this.#root : undefined
    for (const part of pointer.split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
      current = Array.isArray(current) ? (current as readonly JsonValue[])[Number(name)] : entryOf(current, name)
    }
    if (current === undefined) throw wrongDocument(`${where}: "${shown}" does not exist`)
    return current
  }

  /** The pointer after `#` in a reference to this document; `undefined` for an external one. */
  #readFragment(reference: string): string | undefined {
    const at = reference.indexOf('#')
    const [address, fragment] = at === -1 ? [reference, ''] : [reference.slice(0, at), reference.slice(at + 1)]
    if (address === '') return fragment
    return this.#self !== undefined && URL.parse(address, this.#self)?.href === this.#self ? fragment : undefined
  }

  #object(value: JsonValue | undefined, where: string): JsonObject {
    const found = this.follow(value, where)
    if (isJsonObject(found)) return found
    throw wrongDocument(`${where}: expected an object, found ${found === null ? 'nothing' : typeof found}`)
  }

  #readParameters(list: JsonValue | undefined, where: string): readonly Parameter[] {
    return (Array.isArray(list) ? (list as readonly JsonValue[]) : []).flatMap((item) => {
      const parameter = readParameter(this.#object(item, where), where)
      const isOthers = parameter.in === 'header' && OTHERS_HEADERS.includes(parameter.name.toLowerCase())
      return isOthers ? [] : [parameter]
    })
  }

  #readBody(value: JsonValue | undefined, method: string, where: string): RequestBody | undefined {
    if (value === undefined) return undefined
    const given = this.#object(value, where)
    if (method !== 'GET' && method !== 'HEAD')
      return readRequestBody(given, where, (found) => this.follow(found, where))
    if (given['required'] !== true) return undefined
    throw wrongDocument(`${where}: it requires a body, which a ${method} request cannot have`)
  }
}

/** YAML reads `3.1` as a number. */
function readVersion(told: JsonValue | undefined): string {
  const version = told === 3 ? '3.0' : typeof told === 'string' || typeof told === 'number' ? String(told) : undefined
  if (version !== undefined && VERSIONS.test(version)) return version
  const found = version === undefined ? 'no field "openapi"' : `openapi ${version.slice(0, 20)}`
  throw wrongDocument(
    `it has ${found}; only versions 3.0, 3.1 and 3.2 and Swagger 2.0 are supported`,
    'Convert the document to version 3.0, 3.1 or 3.2.',
  )
}

/** The first server with its variables' defaults; a relative one is resolved against the document's own address. */
function readServer(servers: JsonValue | undefined, self: string | undefined): string | undefined {
  const first = Array.isArray(servers) ? (servers as readonly JsonValue[])[0] : undefined
  const url = entryOf(first, 'url')
  if (typeof url !== 'string') return self === undefined ? undefined : URL.parse('/', self)?.href
  const variables = entryOf(first, 'variables')
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = entryOf(variables, name)
    const choices = entryOf(variable, 'enum')
    const value =
      entryOf(variable, 'default') ?? (Array.isArray(choices) ? (choices as readonly JsonValue[])[0] : undefined)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  })
  return self === undefined ? filled : URL.parse(filled, self)?.href
}

function decodePointer(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const GIVE_PARSED =
  'Parse the file or response first: JSON.parse(await readFile(path, "utf8")), or await response.json().'
