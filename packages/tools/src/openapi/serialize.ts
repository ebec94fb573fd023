// Writes values in the styles of parameters and forms: RFC 6570 as OpenAPI uses it, and the brackets of `deepObject` as Rails, PHP,
// `qs` and Stripe read them.
import type { JsonObject, JsonValue } from '@baton/core'
import { BatonError, isJsonObject } from '@baton/core'

export type Style =
  'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'cookie'

/** How a value is written: in a style, or as the text of a media type. */
export interface Writing {
  readonly style: Style | 'json' | 'text'
  readonly explode: boolean
  /** The characters that have a meaning in addresses stay as they are, if they do not end the value. */
  readonly allowReserved: boolean
}

/** A property of a form. */
export interface Field {
  /** Absent: each value is written by its media type, and the items of a list one by one. */
  readonly writing?: Writing
  /** Media types that the document names, best first. */
  readonly mediaTypes: readonly string[]
  /** Values are files. */
  readonly isFile: boolean
}

export type Fields = ReadonlyMap<string, Field>

export interface Pair {
  readonly name: string
  readonly words: readonly string[]
  /** Between the words; it is no part of them. */
  readonly separator: ',' | ' ' | '|'
  readonly allowReserved?: boolean
}

const PLAIN_FIELD: Field = { mediaTypes: [], isFile: false }

/** The pairs that stand for a value in a query, a form or cookies. An empty list or object has none. */
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
 * `metadata[key]=v`, `items[0][price]=p`, `expand[]=a`: a list whose items are all plain has empty brackets, any other has numbers,
 * so that the parts of one item stay together.
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

/** The words between separators; of an object, each name and its value. */
export function listWords(value: JsonValue): readonly string[] {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(writeWord)
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, item]) => [key, writeWord(item)])
  return [writeWord(value)]
}

/** A list or an object where no style says how it is written is JSON; null is empty. */
export function writeWord(value: JsonValue): string {
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** `name=value`, encoded for a query or a form. */
export function encodePair({ name, words, separator, allowReserved = false }: Pair): string {
  const between = separator === ',' ? ',' : encode(separator)
  return `${encode(name)}=${words.map((word) => encode(word, allowReserved)).join(between)}`
}

/** The text of `application/x-www-form-urlencoded`. */
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
    // `encodeURIComponent` leaves these characters, which have no meaning in addresses but some in logs and shells.
    const encoded = encodeURIComponent(text).replaceAll(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    )
    // `#`, `[`, `]`, `&` and `+` stay encoded: in a query they would end the value or change it.
    return allowReserved
      ? encoded.replaceAll(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|3D)/g, (code) => decodeURIComponent(code))
      : encoded
  } catch (cause) {
    throw new BatonError({ code: 'invalid_arguments', message: 'a text holds half of a surrogate pair', cause })
  }
}
