// Summarizes any tool's result in a few lines: lists by their most descriptive fields, long text as is.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import { splitWords } from './fill-arguments.ts'

const LINES_MAX = 20
const DETAILS_MAX = 3
const SHORT_CHARACTERS_MAX = 120
const TEXT_CHARACTERS_MAX = 6000
const TEXT_LINES_MAX = 120
/** Fields that name a thing, most descriptive first, and fields that hold a thing's text. */
const LABELS = ['path', 'name', 'title', 'subject', 'file', 'label', 'summary', 'text', 'message', 'url', 'id']
const BODIES = ['text', 'content', 'body', 'answer', 'markdown', 'output', 'summary']

/** `text` is what the tool returned to the model: JSON or plain text. */
export function summariseResult(text: string): string {
  const parsed = parseJson(text)
  const value = parsed.ok ? parsed.value : text
  if (typeof value === 'string') return clipped(value)
  if (Array.isArray(value)) return listed('results', value, '')
  if (!isJsonObject(value)) return `The result is ${plain(value)}.`
  const { truncated, ...fields } = value
  return told(fields) + (truncated === true ? '\nThere is more: the result was cut off at its limit.' : '')
}

function told(fields: JsonObject): string {
  const names = Object.keys(fields)
  const lists = names.filter((name) => Array.isArray(fields[name]))
  const list = lists.find((name) => isJsonObject([fields[name]].flat()[0])) ?? lists[0]
  const items = list === undefined ? undefined : fields[list]
  if (list !== undefined && Array.isArray(items)) return listed(list, items, listDetails(fields, list))
  const body = BODIES.find((name) => typeof fields[name] === 'string')
  const details = body === undefined ? '' : listDetails(fields, body)
  if (body !== undefined) return (details === '' ? '' : `${details}:\n`) + fenced(plain(fields[body] ?? ''))
  const lines = names
    .slice(0, LINES_MAX)
    .map((name) => `- ${splitWords(name).join(' ')}: ${short(fields[name] ?? null)}`)
  return lines.length === 0 ? 'The result is empty.' : lines.join('\n')
}

function listed(name: string, items: readonly JsonValue[], details: string): string {
  const behind = details === '' ? '' : ` (${details})`
  if (items.length === 0) return `Nothing was found: no ${name}${behind}.`
  const lines = items.slice(0, LINES_MAX).map((item) => `- ${isJsonObject(item) ? itemLine(item) : short(item)}`)
  if (items.length > LINES_MAX) lines.push(`- and ${items.length - LINES_MAX} more`)
  const noun = items.length === 1 ? name.replace(/ies$/, 'y').replace(/(?<=ch|sh|ss|x)es$|(?<!s)s$/, '') : name
  return `${items.length} ${noun}${behind}:\n${lines.join('\n')}`
}

function itemLine(item: JsonObject): string {
  const label = LABELS.find((name) => typeof item[name] === 'string') ?? Object.keys(item)[0] ?? ''
  const details = listDetails(item, label)
  return short(item[label] ?? '') + (details === '' ? '' : ` (${details})`)
}

/** Short values listed after the main one. Empty, zero and false values are skipped. */
function listDetails(fields: JsonObject, without: string): string {
  return Object.entries(fields)
    .filter(([name, field]) => name !== without && Boolean(field) && typeof field !== 'object')
    .map(([name, field]) => (typeof field === 'string' ? field : `${splitWords(name).join(' ')} ${plain(field)}`))
    .filter((detail) => detail.length <= SHORT_CHARACTERS_MAX)
    .slice(0, DETAILS_MAX)
    .join(', ')
}

function plain(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function short(value: JsonValue): string {
  const text = plain(value).replace(/\s+/g, ' ')
  return text.length > SHORT_CHARACTERS_MAX ? `${text.slice(0, SHORT_CHARACTERS_MAX)}…` : text
}

/** The fence must be longer than any inside, as Markdown requires. */
function fenced(text: string): string {
  if (!text.includes('\n')) return text === '' ? '(empty)' : clipped(text)
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${clipped(text)}\n${fence}`
}

function clipped(text: string): string {
  const lines = text.split('\n')
  const kept = lines.slice(0, TEXT_LINES_MAX).join('\n').slice(0, TEXT_CHARACTERS_MAX).trimEnd()
  return kept.length < text.trimEnd().length ? `${kept}\n… (${lines.length} lines in total)` : kept
}
