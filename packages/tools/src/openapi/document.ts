// Reads an OpenAPI document, 3.0 or 3.1: its references, and its operations one by one. It makes no schemas and no requests.
import type { JsonObject, JsonValue } from '@baton/core'
import { BatonError, describeValue, isJsonObject } from '@baton/core'
import { bareType, isJsonType } from '../shared/media-types.ts'

export type ParameterPlace = 'path' | 'query' | 'header' | 'cookie'
export type ParameterStyle = 'simple' | 'form' | 'deepObject'

export interface Parameter {
  readonly name: string
  readonly in: ParameterPlace
  readonly isRequired: boolean
  /** How its value is written; `json` if the document describes it by `content`. */
  readonly style: ParameterStyle | 'json'
  readonly explode: boolean
  readonly description: string | undefined
  readonly schema: JsonValue
}

export interface RequestBody {
  readonly mediaType: string
  readonly isRequired: boolean
  readonly description: string | undefined
  readonly schema: JsonValue
}

export interface Operation {
  readonly id: string | undefined
  /** In upper case. */
  readonly method: string
  /** With its templates: `/pets/{id}`. */
  readonly path: string
  readonly title: string | undefined
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly body: RequestBody | undefined
  /** The server that the document names; undefined if it names none. */
  readonly server: string | undefined
  /** Media types of successful answers, if the document names any. */
  readonly answerTypes: readonly string[]
}

export interface OperationPlace {
  readonly id: string | undefined
  readonly method: string
  readonly path: string
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch']
/** The longest chain of references to references. */
const CHAIN = 32
/** The specification gives these to other fields of an operation. */
const OTHERS_HEADERS = ['accept', 'content-type', 'authorization']
/** The connection sets these; a document that asks a model for them is wrong or hostile. */
const OWN_HEADERS =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|cookie|set-cookie|proxy-.*|keep-alive)$/

export class OpenApiDocument {
  readonly #root: JsonObject
  /** Schemas of 3.0 have keywords of their own. */
  readonly isOlder: boolean

  /** @throws BatonError `invalid_option` */
  constructor(document: unknown) {
    if (!isJsonObject(document) || typeof document['then'] === 'function')
      throw wrongDocument(`it must be an object, as JSON.parse gives it, not ${describeValue(document)}`, GIVE_PARSED)
    const version = document['openapi']
    if (typeof version !== 'string' || !/^3\.[01](\.|$)/.test(version)) {
      const found = typeof version === 'string' ? `openapi ${version.slice(0, 20)}` : 'no field "openapi"'
      throw wrongDocument(
        `it has ${found}; versions 3.0 and 3.1 are read`,
        'Convert the document to version 3.0 or 3.1.',
      )
    }
    if (!isJsonObject(document['paths'])) throw wrongDocument('it has no "paths"')
    this.#root = document
    this.isOlder = version.startsWith('3.0')
  }

  /** Where every operation stands, in the order of the document. */
  list(): readonly OperationPlace[] {
    return entriesOf(this.#root['paths']).flatMap(([path, item]) =>
      entriesOf(this.follow(item, path)).flatMap(([method, operation]) => {
        if (!METHODS.includes(method) || !isJsonObject(operation)) return []
        return [{ id: textOf(operation['operationId']), method: method.toUpperCase(), path }]
      }),
    )
  }

  /** @throws BatonError `invalid_option` if Baton cannot use what the document says of the operation */
  read({ method, path, id }: OperationPlace): Operation {
    const where = `${method} ${path}`
    const item = this.#object(entryOf(this.#root['paths'], path), where)
    const operation = this.#object(item[method.toLowerCase()], where)
    const own = this.#readParameters(operation['parameters'], where)
    const shared = this.#readParameters(item['parameters'], where).filter(
      (outer) => !own.some((inner) => inner.name === outer.name && inner.in === outer.in),
    )
    return {
      id,
      method,
      path,
      title: textOf(operation['summary']),
      description: ['summary', 'description']
        .map((field) => textOf(operation[field] ?? item[field]) ?? '')
        .filter((text) => text.trim() !== '')
        .join('\n\n'),
      parameters: [...shared, ...own],
      body: this.#readBody(operation['requestBody'], where),
      server: readServer(operation['servers'] ?? item['servers'] ?? this.#root['servers']),
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
   * What a reference names, or the value itself.
   * @throws BatonError `invalid_option` for one that leads out of the document, nowhere, or in a circle
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
    if (!reference.startsWith('#'))
      throw wrongDocument(`${where}: "${shown}" leads out of the document`, 'Put all parts into one document first.')
    let current: JsonValue | undefined = this.#root
    for (const part of decodePointer(reference.slice(1)).split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
      current = Array.isArray(current) ? (current as readonly JsonValue[])[Number(name)] : entryOf(current, name)
    }
    if (current === undefined) throw wrongDocument(`${where}: there is nothing at "${shown}"`)
    return current
  }

  #object(value: JsonValue | undefined, where: string): JsonObject {
    const found = this.follow(value, where)
    if (isJsonObject(found)) return found
    throw wrongDocument(`${where}: where an object must be, there is ${found === null ? 'nothing' : typeof found}`)
  }

  #readParameters(list: JsonValue | undefined, where: string): readonly Parameter[] {
    return (Array.isArray(list) ? (list as readonly JsonValue[]) : []).flatMap((item) => {
      const parameter = readParameter(this.#object(item, where), where)
      const isOthers = parameter.in === 'header' && OTHERS_HEADERS.includes(parameter.name.toLowerCase())
      return isOthers ? [] : [parameter]
    })
  }

  #readBody(value: JsonValue | undefined, where: string): RequestBody | undefined {
    if (value === undefined) return undefined
    const body = this.#object(value, where)
    const offered = entriesOf(body['content'])
    const json = offered.find(([type]) => isJsonType(type) || bareType(type) === '*/*')
    if (!json) {
      const types = offered.map(([type]) => type).join(', ') || 'no media type'
      throw wrongDocument(`${where}: its body takes ${types.slice(0, 200)}; only JSON bodies are sent`)
    }
    return {
      mediaType: isJsonType(json[0]) ? bareType(json[0]) : 'application/json',
      isRequired: body['required'] === true,
      description: textOf(body['description']),
      schema: entryOf(json[1], 'schema') ?? true,
    }
  }
}

function readParameter(parameter: JsonObject, where: string): Parameter {
  const { name, in: place, content, required, style, explode, description } = parameter
  if (typeof name !== 'string' || name === '') throw wrongDocument(`${where}: a parameter has no name`)
  const what = `${where}: parameter "${name.slice(0, 100)}"`
  if (place !== 'path' && place !== 'query' && place !== 'header' && place !== 'cookie')
    throw wrongDocument(
      `${what} stands in ${JSON.stringify(place)?.slice(0, 50)}; that is path, query, header or cookie`,
    )
  if (place === 'header' && (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || OWN_HEADERS.test(name.toLowerCase())))
    throw wrongDocument(`${what} is a header that a tool may not set`)
  const usual = place === 'query' || place === 'cookie' ? 'form' : 'simple'
  const told = style ?? usual
  const legal = place === 'query' ? ['form', 'deepObject'] : [usual]
  if (typeof told !== 'string' || !legal.includes(told))
    throw wrongDocument(
      `${what} has the style ${JSON.stringify(told).slice(0, 50)}; in ${place}, ${legal.join(' and ')} are written`,
    )
  const [media] = entriesOf(content)
  if (media && !isJsonType(media[0]))
    throw wrongDocument(`${what} is written as ${media[0].slice(0, 100)}, not as JSON`)
  return {
    name,
    in: place,
    isRequired: place === 'path' || required === true,
    style: media ? 'json' : (told as ParameterStyle), // one of `legal`
    explode: typeof explode === 'boolean' ? explode : told === 'form',
    description: textOf(description),
    schema: (media ? entryOf(media[1], 'schema') : parameter['schema']) ?? true,
  }
}

/** The first one, with the defaults of its variables. */
function readServer(servers: JsonValue | undefined): string | undefined {
  const first = Array.isArray(servers) ? (servers as readonly JsonValue[])[0] : undefined
  const url = entryOf(first, 'url')
  if (typeof url !== 'string') return undefined
  const variables = entryOf(first, 'variables')
  return url.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const value = entryOf(entryOf(variables, name), 'default')
    return typeof value === 'string' ? value : ''
  })
}

export function entryOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

export function entriesOf(value: JsonValue | undefined): readonly [string, JsonValue][] {
  return isJsonObject(value) ? Object.entries(value) : []
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function decodePointer(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const GIVE_PARSED =
  'Read the file or the answer first: JSON.parse(await readFile(path, "utf8")), or await response.json().'

export function wrongDocument(why: string, hint?: string): BatonError {
  const message = `the OpenAPI document: ${why}`
  return new BatonError({
    code: 'invalid_option',
    message,
    hint: hint ?? 'Correct the document, or leave the operation out.',
  })
}
