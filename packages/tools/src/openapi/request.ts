// Turns a call's arguments into a request: address, headers and body in the styles that the document names. It sends nothing.
import type { JsonObject, JsonValue } from '@baton/core'
import { BatonError, isJsonObject } from '@baton/core'
import type { Operation, Parameter } from './document.ts'
import type { OperationInput } from './input-schema.ts'

export interface BuiltRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * @param server without a slash at its end
 * @throws BatonError `invalid_arguments` for values that cannot be written where they belong
 */
export function buildRequest(
  server: string,
  operation: Operation,
  slots: OperationInput['slots'],
  input: JsonObject,
): BuiltRequest {
  let path = operation.path
  const query: string[] = []
  const cookies: string[] = []
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9, */*;q=0.5' }
  for (const { property, parameter } of slots) {
    const value = Object.hasOwn(input, property) ? input[property] : undefined
    if (parameter.in === 'path') path = fillPath(path, parameter, property, value)
    else if (value === undefined || value === null) continue
    else if (parameter.in === 'query') query.push(...writeQuery(parameter, property, value))
    else if (parameter.in === 'cookie') cookies.push(...writeQuery(parameter, property, value))
    else headers[parameter.name.toLowerCase()] = writeHeader(parameter, property, value)
  }
  if (cookies.length > 0) headers['cookie'] = cookies.join('; ')
  const body = operation.body && Object.hasOwn(input, 'body') ? input['body'] : undefined
  if (operation.body && body !== undefined) headers['content-type'] = operation.body.mediaType
  return {
    url: `${server}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}

function fillPath(path: string, parameter: Parameter, property: string, value: JsonValue | undefined): string {
  const words = value === undefined || value === null ? [] : listWords(parameter, property, value)
  const text = words.join(',')
  // A value must stay one segment of the path: servers and proxies resolve these, some even when they are encoded.
  if (text === '' || text.split(/[\\/]/).some((step) => step === '.' || step === '..'))
    throw wrong(
      property,
      'it stands in the path, where it may not be empty and no part between slashes may be "." or ".."',
    )
  return path.replaceAll(`{${parameter.name}}`, () => words.map(encode).join(','))
}

function writeHeader(parameter: Parameter, property: string, value: JsonValue): string {
  const text = listWords(parameter, property, value).join(',')
  if (/^[\t\x20-\x7e]*$/.test(text)) return text
  throw wrong(property, 'it is sent as a header, which has visible characters of ASCII only')
}

/** `name=value` for each pair that is written, encoded. */
function writeQuery(parameter: Parameter, property: string, value: JsonValue): readonly string[] {
  const { name, style, explode } = parameter
  const pair = (key: string, text: string): string => `${encode(key)}=${encode(text)}`
  if (style === 'deepObject' && isJsonObject(value)) return writeDeep(name, value).map(([key, text]) => pair(key, text))
  if (explode && style === 'form' && Array.isArray(value))
    return (value as readonly JsonValue[]).map((item) => pair(name, writeOne(property, item)))
  if (explode && style === 'form' && isJsonObject(value))
    return Object.entries(value).map(([key, item]) => pair(key, writeOne(property, item)))
  return [`${encode(name)}=${listWords(parameter, property, value).map(encode).join(',')}`]
}

/** `filter[color]=red`; lists repeat the name, and nested objects add brackets, as most services expect. */
function writeDeep(name: string, value: JsonValue): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap((item) => writeDeep(name, item))
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, item]) => writeDeep(`${name}[${key}]`, item))
  return value === null || typeof value === 'object' ? [] : [[name, String(value)]]
}

/** The parts between the commas. */
function listWords({ style, explode }: Parameter, property: string, value: JsonValue): readonly string[] {
  if (style === 'json') return [JSON.stringify(value)]
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((item) => writeOne(property, item))
  if (!isJsonObject(value)) return [writeOne(property, value)]
  const pairs = Object.entries(value).map(([key, item]) => [key, writeOne(property, item)])
  return explode ? pairs.map((pair) => pair.join('=')) : pairs.flat()
}

function writeOne(property: string, value: JsonValue): string {
  if (value === null) return ''
  if (typeof value !== 'object') return String(value)
  throw wrong(property, 'a list or an object inside it cannot be written there')
}

function encode(text: string): string {
  try {
    // `encodeURIComponent` leaves these characters, which have no meaning in addresses but some in logs and shells.
    return encodeURIComponent(text).replaceAll(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    )
  } catch (cause) {
    throw new BatonError({ code: 'invalid_arguments', message: 'a text holds half of a surrogate pair', cause })
  }
}

function wrong(property: string, why: string): BatonError {
  return new BatonError({ code: 'invalid_arguments', message: `"${property.slice(0, 100)}" cannot be sent: ${why}` })
}
