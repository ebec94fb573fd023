// Writes values in the styles of parameters and forms: RFC 6570 as used by OpenAPI, and `deepObject` brackets as read
// by Rails, PHP, `qs` and Stripe.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'

export type Style =
  'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'cookie'

/** How a value is written: in a style, or as text of a media type. */
export interface Writing {
  readonly style: Style | 'json' | 'text'
  readonly explode: boolean
  /** Whether reserved characters stay unencoded, unless they would end the value. */
  readonly allowReserved: boolean
}

/** A form property. */
export interface Field {
  /** If omitted, each value is written by its media type, and list items separately. */
  readonly writing?: Writing
  /** Documented media types, best first. */
  readonly mediaTypes: readonly string[]
  /** Whether values are files. */
  readonly isFile: boolean
}

export type Fields = ReadonlyMap<string, Field>

export interface Pair {
  readonly name: string
  readonly words: readonly string[]
  /** Separates the words and is not part of them. */
  readonly separator: ',' | ' ' | '|'
  readonly allowReserved?: boolean
}

const PLAIN_FIELD: Field = { mediaTypes: [], isFile: false }

/** Name-value pairs for a value in a query, form or cookie. An empty list or object has none. */
export function listPairs(name: string, value: JsonValue, writing: Writing): readonly Pair[] {
  const { style, explode, allowReserved } = writing
  const one = (key: string, item: JsonValue): Pair => ({
    name: key,
    words: [writeWord(item)],
    separator: ',',
    allowReserved,
  })
  if (style === 'json') return [one(name, JSON.stringify(value))]
  if (style === 'deepObject') return listDeepPairs(name, value).map(([key, item]) => one(key, item))
  const separator = style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ','
  const words = listWords(value)
  if (!explode) return words.length === 0 ? [] : [{ name, words, separator, allowReserved }]
  if (isJsonObject(value)) return Object.entries(value).map(([key, item]) => one(key, item))
  return words.map((word) => one(name, word))
}

/**
 * `metadata[key]=v`, `items[0][price]=p`, `expand[]=a`: a list of scalars has empty brackets, any other list has
 * indexes, so that the parts of an item stay together.
 */
function listDeepPairs(name: string, value: JsonValue): readonly (readonly [string, JsonValue])[] {
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = value
    const isPlain = items.every((item) => item === null || typeof item !== 'object')
    return items.flatMap((item, at) => listDeepPairs(`${name}[${isPlain ? '' : at}]`, item))
  }
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, item]) => listDeepPairs(`${name}[${key}]`, item))
  return [[name, value]]
}

/** The words between separators; for an object, each name followed by its value. */
export function listWords(value: JsonValue): readonly string[] {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(writeWord)
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, item]) => [key, writeWord(item)])
  return [writeWord(value)]
}

/** Writes nested lists and objects as JSON, since no style covers them; null is empty. */
export function writeWord(value: JsonValue): string {
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** `name=value`, encoded for a query or form. */
export function encodePair({ name, words, separator, allowReserved = false }: Pair): string {
  const between = separator === ',' ? ',' : encode(separator)
  return `${encode(name)}=${words.map((word) => encode(word, allowReserved)).join(between)}`
}

/** Writes `application/x-www-form-urlencoded`. */
export function writeForm(value: JsonValue, fields: Fields): string {
  if (!isJsonObject(value)) return writeWord(value)
  return listFormPairs(value, fields).map(encodePair).join('&')
}

function listFormPairs(value: JsonObject, fields: Fields): readonly Pair[] {
  return Object.entries(value).flatMap(([name, item]) => {
    const { writing, mediaTypes } = fields.get(name) ?? PLAIN_FIELD
    if (writing) return listPairs(name, item, writing)
    const items: readonly JsonValue[] = Array.isArray(item) ? item : [item]
    const isJson = mediaTypes.some((type) => type.endsWith('json'))
    return items.map((each): Pair => ({
      name,
      words: [isJson ? JSON.stringify(each) : writeWord(each)],
      separator: ',',
    }))
  })
}

/** @throws BatonError `invalid_arguments` */
export function encode(text: string, allowReserved = false): string {
  try {
    // `encodeURIComponent` leaves these, which mean nothing in addresses but something in logs and shells.
    const encoded = encodeURIComponent(text).replaceAll(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    )
    // `#`, `[`, `]`, `&` and `+` stay encoded: in a query, they would end or change the value.
    return allowReserved
      ? encoded.replaceAll(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|3D)/g, (code) => decodeURIComponent(code))
      : encoded
  } catch (cause) {
    throw new BatonError({ code: 'invalid_arguments', message: 'a string contains half of a surrogate pair', cause })
  }
}
