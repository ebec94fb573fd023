// Converts an MCP tool's result: text, images and files for the model, and the structured value.
import type { ContentPart, JsonObject, JsonValue, ToolContent } from '@baton/core/internal'
import { BatonError, isDeeper, isJsonObject, stringifySorted } from '@baton/core/internal'
import type { CallToolResult, ContentBlock, ResourceContents } from '@modelcontextprotocol/client'
import { cutText } from '../shared/platform.ts'

/** Maximum characters of a text; the host stores up to 8,388,608. */
const TEXT_CHARS = 8_000_000

/**
 * @param check validates the structured value, if there is one, and describes any problem
 * @returns the content, with the structured value as its `value`. A value that the content does not contain is also
 * added as text; if the content is the value's JSON, only the value is returned. The call has already run, so a value
 * that violates the tool's own schema is kept as a text that says so
 * @throws BatonError `tool_failed` with the server's message if the server says that the tool failed
 */
export async function readCallResult(
  name: string,
  result: CallToolResult,
  check: (structured: JsonValue) => Promise<string | undefined>,
): Promise<JsonValue | ToolContent> {
  const content = Array.isArray(result.content) ? result.content : []
  if (result.isError === true) {
    const told = content
      .flatMap((part) => {
        const read = readPart(part)
        return read.type === 'text' ? [read.text] : [`[It sent ${read.mediaType}, which cannot be shown in an error.]`]
      })
      .join('\n')
    // Some servers put the reason only in the structured value.
    const said = told.trim() === '' && result.structuredContent ? JSON.stringify(result.structuredContent) : told
    throw new BatonError({
      code: 'tool_failed',
      message: said.trim() === '' ? `"${name}" failed without a reason` : said,
    })
  }
  const structured = result.structuredContent as JsonValue | undefined // parsed from JSON
  const parts = content.map(readPart)
  if (structured === undefined) return toResult(parts)
  const issues = await findIssues(structured, JSON.stringify(structured), check)
  const isSaid = content.every((part) => part.type === 'text' && isSaidBy(part.text, structured))
  const isRepeated = repeats(content, structured)
  if (issues === undefined && isSaid && !isRepeated) return structured
  const { json, hasBytes } = writeWithoutBytes(structured, content)
  if (!isRepeated && (!isSaid || parts.length === 0)) parts.push(toText(json))
  if (issues !== undefined) parts.push(toText(`[The result of "${name}" is shown as text: ${issues}]`))
  return issues === undefined && !hasBytes ? { content: parts, value: structured } : toResult(parts)
}

function toResult(parts: readonly ContentPart[]): JsonValue | ToolContent {
  const [first] = parts
  if (first === undefined) return null
  return parts.length === 1 && first.type === 'text' ? first.text : { content: parts }
}

/**
 * JSON of the structured value. Some servers repeat images and audio of the content in it; their bytes are replaced by
 * their type.
 */
function writeWithoutBytes(structured: JsonValue, content: readonly ContentBlock[]) {
  const types = new Map(content.flatMap((part) => ('data' in part ? [[part.data, part.mimeType] as const] : [])))
  let hasBytes = false
  const json = JSON.stringify(structured, (_key, value: JsonValue): JsonValue => {
    const type = typeof value === 'string' && value !== '' ? types.get(value) : undefined
    hasBytes ||= type !== undefined
    return type === undefined ? value : `[the ${type} of this result]`
  })
  return { json, hasBytes }
}

/** Why Baton cannot use a structured value, or `undefined` if it can. */
function findIssues(
  structured: JsonValue,
  json: string,
  check: (structured: JsonValue) => Promise<string | undefined>,
): string | undefined | Promise<string | undefined> {
  if (json.length > TEXT_CHARS) return `it has ${json.length} characters as JSON`
  return isDeeper(structured) ? 'it is nested too deeply' : check(structured)
}

/** The call has already run, so a result above the limit is truncated, not rejected. */
function toText(text: string): ContentPart {
  return { type: 'text', text: cutText(text, TEXT_CHARS) }
}

/** Servers repeat the structured value as text for older clients: as JSON, or one of its strings. */
function isSaidBy(text: string, value: JsonValue): boolean {
  if (typeof value === 'object' && value !== null && Object.values(value).includes(text)) return true
  return isJsonOf(text, value)
}

function isJsonOf(text: string, value: JsonValue): boolean {
  if (!/^\s*[[{"\d\-tfn]/.test(text)) return false
  try {
    return stringifySorted(JSON.parse(text)) === stringifySorted(value)
  } catch {
    return false
  }
}

/**
 * Whether the structured value only wraps the content under one name: `{ content: "…" }` of `server-filesystem`, `{
 * entities: […] }` of `server-memory`, `{ result: […] }` of FastMCP with one part per item. The model then reads the
 * content.
 */
function repeats(content: readonly ContentBlock[], structured: JsonValue): boolean {
  if (!isJsonObject(structured)) return false
  const [only, ...others] = Object.values(structured)
  const [first, ...rest] = content
  if (only === undefined || others.length > 0 || !first) return false
  if (rest.length === 0 && says(first, only)) return true
  const items = Array.isArray(only) ? (only as readonly JsonValue[]) : []
  return items.length === content.length && content.every((part, index) => says(part, items[index] ?? null))
}

/** Two parts are equal if these fields are. */
const PART_FIELDS = ['type', 'text', 'data', 'mimeType', 'uri', 'resource'] as const

function says(part: ContentBlock, value: JsonValue): boolean {
  if (part.type === 'text' && (part.text === value || isJsonOf(part.text, value))) return true
  if (!isJsonObject(value)) return false
  const own = part as unknown as JsonObject // parsed from JSON
  return PART_FIELDS.every((field) => stringifySorted(own[field] ?? null) === stringifySorted(value[field] ?? null))
}

function readPart(part: ContentBlock): ContentPart {
  switch (part.type) {
    case 'text':
      return toText(part.text)
    case 'image':
      return { type: 'image', mediaType: part.mimeType, source: { type: 'base64', data: part.data } }
    case 'audio':
      return { type: 'file', mediaType: part.mimeType, source: { type: 'base64', data: part.data } }
    case 'resource':
      return readResource(part.resource)
    case 'resource_link': {
      const { uri, name, title, description, mimeType, size } = part
      return { type: 'text', text: JSON.stringify({ resource: uri, name, title, description, mimeType, size }) }
    }
    default:
      return { type: 'text', text: JSON.stringify(part) }
  }
}

/** A resource that came with a result or that the model read. */
export function readResource(
  resource: ResourceContents & { readonly text?: unknown; readonly blob?: unknown },
): ContentPart {
  const { uri, mimeType = 'application/octet-stream', text, blob } = resource
  if (typeof text === 'string') return toText(`Resource ${uri}:\n${text}`)
  if (typeof blob !== 'string') return { type: 'text', text: `Resource ${uri} has no content.` }
  const source = { type: 'base64', data: blob } as const
  return /^image\//i.test(mimeType)
    ? { type: 'image', mediaType: mimeType, source }
    : { type: 'file', mediaType: mimeType, source, name: uri.split('/').at(-1) || uri }
}
