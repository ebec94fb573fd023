// Says a tool's result in a few lines, whatever the tool: lists by their most telling fields, long text as it is.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject, parseJson } from '@baton/core'
import { splitWords } from './words.ts'

const ITEMS_MAX = 20
const FIELDS_MAX = 12
const DETAILS_MAX = 3
const SHORT_CHARACTERS_MAX = 120
const TEXT_CHARACTERS_MAX = 6000
const TEXT_LINES_MAX = 120

/** The fields that name a thing, the most telling first. */
const LABELS = [
  'path',
  'name',
  'title',
  'subject',
  'file',
  'label',
  'summary',
  'text',
  'message',
  'description',
  'url',
  'id',
]
/** The fields that hold the thing itself when it is text. */
const BODIES = ['text', 'content', 'body', 'summary', 'answer', 'message', 'description', 'markdown', 'output']

/** `text` is what a tool gave to the model: JSON or plain text. */
export function summariseResult(text: string): string {
  const parsed = parseJson(text)
  if (!parsed.ok) return clipped(text)
  if (typeof parsed.value === 'string') return clipped(parsed.value)
  return summariseValue(parsed.value)
}

/** Whether a list is the main thing of a result: only of a list is more worth asking for. */
export function isListing(value: JsonValue): boolean {
  return Array.isArray(value) || (isJsonObject(value) && bodyOf(value) === undefined && mainList(value) !== undefined)
}

function summariseValue(value: JsonValue): string {
  if (Array.isArray(value)) return summariseList('result', value, '')
  if (!isJsonObject(value)) return `The result is ${plain(value)}.`
  const body = bodyOf(value)
  const rest = more(value)
  if (body !== undefined) {
    const notes = details(value, [body], FIELDS_MAX)
    return [notes === '' ? '' : `${notes}:`, asBlock(plain(value[body] ?? '')), rest]
      .filter((part) => part !== '')
      .join('\n')
  }
  const list = mainList(value)
  if (list === undefined) return [fields(value), rest].filter((part) => part !== '').join('\n')
  const items = value[list]
  return [summariseList(list, Array.isArray(items) ? items : [], details(value, [list], DETAILS_MAX)), rest]
    .filter((part) => part !== '')
    .join('\n')
}

function summariseList(name: string, items: readonly JsonValue[], notes: string): string {
  const noun = splitWords(name).join(' ')
  const behind = notes === '' ? '' : ` (${notes})`
  if (items.length === 0) return `Nothing was found: no ${noun}${behind}.`
  const count = items.length === 1 ? `1 ${singular(noun)}` : `${items.length} ${plural(noun)}`
  const lines = items.slice(0, ITEMS_MAX).map((item) => `- ${isJsonObject(item) ? itemLine(item) : short(plain(item))}`)
  if (items.length > ITEMS_MAX) lines.push(`- and ${items.length - ITEMS_MAX} more`)
  return `${count}${behind}:\n${lines.join('\n')}`
}

function itemLine(item: JsonObject): string {
  const label = LABELS.find((name) => isSayable(item[name])) ?? Object.keys(item).find((name) => isSayable(item[name]))
  if (label === undefined) return short(JSON.stringify(item))
  const rest = details(item, [label], DETAILS_MAX)
  return `${short(plain(item[label] ?? null))}${rest === '' ? '' : ` (${rest})`}`
}

/** Short values beside the main one. What is empty, zero or false says little and is left out. */
function details(value: JsonObject, without: readonly string[], most: number): string {
  return Object.entries(value)
    .filter(
      ([name, field]) =>
        !without.includes(name) && isSayable(field) && field !== 0 && field !== false && name !== 'truncated',
    )
    .filter(([, field]) => plain(field).length <= SHORT_CHARACTERS_MAX)
    .slice(0, most)
    .map(([name, field]) => (typeof field === 'string' ? field : `${splitWords(name).join(' ')} ${plain(field)}`))
    .join(', ')
}

function fields(value: JsonObject): string {
  const lines = Object.entries(value)
    .filter(([name, field]) => name !== 'truncated' && field !== null)
    .slice(0, FIELDS_MAX)
    .map(([name, field]) => `- ${splitWords(name).join(' ')}: ${short(plain(field))}`)
  return lines.length === 0 ? 'The result is empty.' : lines.join('\n')
}

function more(value: JsonObject): string {
  return value['truncated'] === true ? 'There is more than this: the result was cut at its limit.' : ''
}

/** The field with the object's long text, if it has one and no list beside it. */
function bodyOf(value: JsonObject): string | undefined {
  if (mainList(value) !== undefined) return undefined
  return BODIES.find((name) => {
    const field = value[name]
    return (
      typeof field === 'string' &&
      (field.includes('\n') || field.length > SHORT_CHARACTERS_MAX || name === 'text' || name === 'content')
    )
  })
}

/** The list that an object is about: of objects before any other, the longest first. */
function mainList(value: JsonObject): string | undefined {
  const lists = Object.entries(value).filter((entry): entry is [string, readonly JsonValue[]] =>
    Array.isArray(entry[1]),
  )
  const ofObjects = lists.filter(([, items]) => items.length === 0 || isJsonObject(items[0]))
  const most = (entries: typeof lists): string | undefined =>
    entries.toSorted((left, right) => right[1].length - left[1].length)[0]?.[0]
  return most(ofObjects) ?? (lists.length === 1 ? most(lists) : undefined)
}

function isSayable(value: JsonValue | undefined): boolean {
  return (typeof value === 'string' && value.trim() !== '') || typeof value === 'number' || typeof value === 'boolean'
}

function plain(value: JsonValue): string {
  return typeof value === 'string'
    ? value
    : Array.isArray(value) && value.every((item) => typeof item === 'string')
      ? value.join(', ')
      : JSON.stringify(value)
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > SHORT_CHARACTERS_MAX ? `${line.slice(0, SHORT_CHARACTERS_MAX)}…` : line
}

function asBlock(text: string): string {
  if (text === '') return '(empty)'
  // A fence longer than any inside, as Markdown asks.
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return text.includes('\n') ? `${fence}\n${clipped(text)}\n${fence}` : clipped(text)
}

function clipped(text: string): string {
  const lines = text.split('\n')
  const kept = lines.slice(0, TEXT_LINES_MAX).join('\n').slice(0, TEXT_CHARACTERS_MAX)
  return kept.length < text.trimEnd().length ? `${kept}\n… (${lines.length} lines in all)` : kept.trimEnd()
}

function singular(noun: string): string {
  if (noun.endsWith('ies')) return `${noun.slice(0, -3)}y`
  if (/(ch|sh|ss|x)es$/.test(noun)) return noun.slice(0, -2)
  return noun.endsWith('s') && !noun.endsWith('ss') ? noun.slice(0, -1) : noun
}

function plural(noun: string): string {
  return noun.endsWith('s') ? noun : `${noun}s`
}
