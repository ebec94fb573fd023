// Reads one parameter of an OpenAPI document: its location and how its value is written.
import type { JsonObject, JsonValue } from '@baton/core'
import { bareType, isJsonType, isTextType } from '../shared/media-types.ts'
import { entriesOf, entryOf, textOf, wrongDocument } from './document-parts.ts'
import { readFields } from './fields.ts'
import type { Fields, Style, Writing } from './serialize.ts'

export type ParameterPlace = 'path' | 'query' | 'querystring' | 'header' | 'cookie'

export interface Parameter extends Writing {
  readonly name: string
  readonly in: ParameterPlace
  readonly isRequired: boolean
  /** Fields of a whole query written as a form. */
  readonly fields?: Fields
  readonly description: string | undefined
  readonly schema: JsonValue
}

/** Allowed styles per location, default first. */
const STYLES: Readonly<Record<string, readonly string[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form', 'cookie'],
}
/** Headers set by the connection; a document that asks a model for them is wrong or hostile. */
const OWN_HEADERS =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect|cookie|set-cookie|proxy-.*|keep-alive)$/

/** @throws BatonError `invalid_option` */
export function readParameter(parameter: JsonObject, where: string): Parameter {
  const { name, in: place, content, required, description } = parameter
  if (typeof name !== 'string' || name === '') throw wrongDocument(`${where}: a parameter has no name`)
  const what = `${where}: parameter "${name.slice(0, 100)}"`
  if (typeof place !== 'string' || (place !== 'querystring' && !Object.hasOwn(STYLES, place)))
    throw wrongDocument(
      `${what} is in ${JSON.stringify(place)?.slice(0, 50)}; only path, query, querystring, header and cookie are supported`,
    )
  if (place === 'header' && (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || OWN_HEADERS.test(name.toLowerCase())))
    throw wrongDocument(`${what} is a header that tools may not set`)
  const [media] = entriesOf(content)
  if (place === 'querystring' && !media) throw wrongDocument(`${what} is a whole query without "content"`)
  return {
    name,
    in: place as ParameterPlace, // checked above
    isRequired: place === 'path' || required === true,
    description: textOf(description),
    ...(media
      ? readContent(media, place, what)
      : { schema: parameter['schema'] ?? true, ...readStyle(parameter, place, what) }),
  }
}

function readStyle({ style, explode, allowReserved }: JsonObject, place: string, what: string): Writing {
  const legal = STYLES[place] ?? []
  const told = style ?? legal[0]
  if (typeof told !== 'string' || !legal.includes(told))
    throw wrongDocument(
      `${what} has the style ${JSON.stringify(told)?.slice(0, 50)}; in ${place}, only ${legal.join(', ')} is supported`,
    )
  return {
    style: told as Style, // one of `legal`
    explode: typeof explode === 'boolean' ? explode : told === 'form' || told === 'cookie',
    allowReserved: allowReserved === true,
  }
}

function readContent(
  [mediaType, media]: readonly [string, JsonValue],
  place: string,
  what: string,
): Writing & Pick<Parameter, 'schema' | 'fields'> {
  const schema = entryOf(media, 'schema') ?? true
  const rest = { schema, explode: false, allowReserved: false }
  const type = bareType(mediaType)
  if (isJsonType(type) || type === '*/*') return { ...rest, style: 'json' }
  if (place === 'querystring' && type === 'application/x-www-form-urlencoded')
    return { ...rest, style: 'text', fields: readFields(entryOf(media, 'encoding')) }
  if (isTextType(type) && !type.endsWith('x-www-form-urlencoded')) return { ...rest, style: 'text' }
  throw wrongDocument(`${what} is written as ${type.slice(0, 100)}; only JSON and text are supported there`)
}
