// Turns a call's arguments into a request: address and headers in the document's styles. Writes no body and sends
// nothing.
import { isJsonType } from '../shared/media-types.ts'
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import type { Operation } from './document.ts'
import type { OperationInput } from './input-schema.ts'
import type { Parameter } from './parameter.ts'
import { encode, encodePair, listPairs, listWords, writeForm, writeWord } from './serialize.ts'

export interface RequestHead {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * @param server address without a trailing slash
 * @throws BatonError `invalid_arguments` for values that cannot be written in their location
 */
export function buildRequestHead(
  server: string,
  operation: Operation,
  slots: OperationInput['slots'],
  input: JsonObject,
): RequestHead {
  let path = operation.path
  const query: string[] = []
  const cookies: string[] = []
  const headers: Record<string, string> = { accept: writeAccept(operation.answerTypes) }
  for (const { property, parameter } of slots) {
    const value = Object.hasOwn(input, property) ? input[property] : undefined
    if (parameter.in === 'path') path = fillPath(path, parameter, property, value)
    else if (value === undefined || value === null) continue
    else if (parameter.in === 'query') query.push(...listPairs(parameter.name, value, parameter).map(encodePair))
    else if (parameter.in === 'querystring') query.push(writeQueryString(parameter, value))
    else if (parameter.in === 'cookie') cookies.push(...writeCookies(parameter, property, value))
    else headers[parameter.name.toLowerCase()] = writeHeader(parameter, property, value)
  }
  if (cookies.length > 0) headers['cookie'] = cookies.join('; ')
  const text = query.filter((pair) => pair !== '').join('&')
  return { url: `${server}${path}${text === '' ? '' : `?${text}`}`, headers }
}

/** Prefers JSON if the service offers it, otherwise the documented media types. */
function writeAccept(types: readonly string[]): string {
  const named = types.filter((type) => /^[\w.+*-]+\/[\w.+*-]+$/.test(type))
  if (named.length === 0 || named.includes('application/json')) return 'application/json, text/*;q=0.9, */*;q=0.5'
  const [json, rest] = [named.filter(isJsonType), named.filter((type) => !isJsonType(type))]
  return [...new Set([...json, ...rest]), '*/*;q=0.5'].join(', ')
}

function fillPath(path: string, parameter: Parameter, property: string, value: JsonValue | undefined): string {
  const words =
    value === undefined || value === null ? [] : parameter.style === 'json' ? [JSON.stringify(value)] : listWords(value)
  // A value must stay a single path segment: servers and proxies resolve these, some even when encoded.
  const text = words.join(',')
  const written = writePathValue(parameter, value ?? null, words)
  if (text === '' || [text, decodeURIComponent(written)].some(climbs))
    throw wrong(
      property,
      'it is part of the path, where it must not be empty and must not contain "." or ".." between slashes',
    )
  return path.replaceAll(`{${parameter.name}}`, () => written)
}

function climbs(text: string): boolean {
  return text.split(/[\\/]/).some((step) => step === '.' || step === '..')
}

/** https://spec.openapis.org/oas/v3.2.0#style-examples */
function writePathValue({ name, style, explode }: Parameter, value: JsonValue, words: readonly string[]): string {
  const isNamed = explode && style !== 'json' && isJsonObject(value)
  const parts = isNamed
    ? Object.entries(value).map(([key, item]) => `${encode(key)}=${encode(writeWord(item))}`)
    : words.map((word) => encode(word))
  if (style === 'label') return `.${parts.join(explode ? '.' : ',')}`
  if (style !== 'matrix') return parts.join(',')
  if (!explode) return `;${encode(name)}=${parts.join(',')}`
  return parts.map((part) => (isNamed ? `;${part}` : `;${encode(name)}=${part}`)).join('')
}

/** The whole query is one value: a form, or text of another media type. */
function writeQueryString({ style, fields }: Parameter, value: JsonValue): string {
  if (fields) return writeForm(value, fields)
  return encode(style === 'json' ? JSON.stringify(value) : writeWord(value))
}

function writeHeader({ style, explode }: Parameter, property: string, value: JsonValue): string {
  const text =
    style === 'json'
      ? JSON.stringify(value)
      : explode && isJsonObject(value)
        ? Object.entries(value)
            .map(([key, item]) => `${key}=${writeWord(item)}`)
            .join(',')
        : listWords(value).join(',')
  if (/^[\t\x20-\x7e]*$/.test(text)) return text
  throw wrong(property, 'it is sent as a header, which allows only visible ASCII characters')
}

function writeCookies(parameter: Parameter, property: string, value: JsonValue): readonly string[] {
  const pairs = listPairs(parameter.name, value, parameter)
  if (parameter.style !== 'cookie') return pairs.map(encodePair)
  return pairs.map(({ name, words }) => {
    const text = words.join(',')
    if (/^[\x21\x23-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(text) && /^[!#$%&'*+.^_`|~\w-]+$/.test(name))
      return `${name}=${text}`
    throw wrong(
      property,
      'it is sent as a cookie, which allows no spaces, quotes, semicolons, backslashes or non-ASCII letters',
    )
  })
}

function wrong(property: string, why: string): BatonError {
  return new BatonError({ code: 'invalid_arguments', message: `"${property.slice(0, 100)}" cannot be sent: ${why}` })
}
