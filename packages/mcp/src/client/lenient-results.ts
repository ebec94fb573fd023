// Results of servers in Go, Rust, Java, .NET and Python, in the form that the SDK's strict schemas take: null where absent is meant,
// parts that MCP does not know, base64 in other alphabets. The SDK drops a whole list of tools, or the whole result of a
// call that has run, for one odd field; here the odd field is left out or becomes text, and the rest stays.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'
import type { Transport } from '@modelcontextprotocol/client'

type Message = Parameters<NonNullable<Transport['onmessage']>>[0]

/** Rewrites the result of an answer in place, before the SDK reads it. Other messages stay as they are. */
export function makeLenient(message: Message): void {
  const holder = message as { result?: unknown }
  if (!isJsonObject(holder.result)) return
  holder.result = readLeniently(holder.result)
}

export function readLeniently(result: JsonObject): JsonObject {
  const given = withoutNull(result)
  if (Array.isArray(given['tools']))
    return { ...given, tools: (given['tools'] as readonly JsonValue[]).flatMap(readTool) }
  return isCallResult(result) ? readCall(given) : given
}

const CALL_FIELDS = ['content', 'structuredContent', 'isError', 'toolResult'] as const

function isCallResult(result: JsonObject): boolean {
  return CALL_FIELDS.some((field) => field in result)
}

/** Servers whose language has no absent field write null. */
function withoutNull(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

/** Hints that are no booleans say nothing. What is no tool at all is left out. */
function readTool(value: JsonValue): readonly JsonObject[] {
  if (!isJsonObject(value) || typeof value['name'] !== 'string') return []
  const tool = withoutNull(value)
  const { annotations, ...rest } = tool
  if (!isJsonObject(annotations)) return [rest]
  const known = withoutNull(annotations)
  const hints = HINTS.filter((hint) => hint in known && typeof known[hint] !== 'boolean')
  return [
    {
      ...rest,
      annotations: Object.fromEntries(Object.entries(known).filter(([name]) => !hints.some((hint) => hint === name))),
    },
  ]
}

function readCall(result: JsonObject): JsonObject {
  const { content, structuredContent, isError, toolResult, ...rest } = result
  const parts =
    typeof content === 'string'
      ? [text(content)]
      : Array.isArray(content)
        ? (content as readonly JsonValue[]).map(readPart)
        : []
  // A structured value is an object; servers send lists and texts as well.
  const isOdd = structuredContent !== undefined && !isJsonObject(structuredContent)
  const isSaid = parts.some((part) => part['type'] === 'text' && part['text'] === asText(structuredContent ?? null))
  return {
    ...rest,
    content: [
      ...parts,
      ...(isOdd && !isSaid ? [text(asText(structuredContent))] : []),
      // Servers of 2024-10-07.
      ...(toolResult === undefined ? [] : [text(asText(toolResult))]),
    ],
    ...(!isOdd && structuredContent !== undefined && { structuredContent }),
    ...((isError === true || isError === 'true') && { isError: true }),
  }
}

function readPart(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) return text(asText(value))
  const part = withoutNull(value)
  switch (part['type']) {
    case 'text':
      return typeof part['text'] === 'string' ? part : { ...part, text: asText(part['text'] ?? '') }
    case 'image':
    case 'audio': {
      const media = readMedia(part['data'])
      if (!media) return text(`[The server sent ${part['type']} data that cannot be read.]`)
      const mediaType =
        typeof part['mimeType'] === 'string' ? part['mimeType'] : (media.mediaType ?? findType(media.data))
      return mediaType === undefined
        ? text(`[The server sent ${part['type']} data of a type that it does not name.]`)
        : { ...part, data: media.data, mimeType: mediaType }
    }
    case 'resource':
      return isJsonObject(part['resource']) ? { ...part, resource: withoutNull(part['resource']) } : text(asText(value))
    case 'resource_link':
      return typeof part['uri'] === 'string' && typeof part['name'] === 'string' ? part : text(asText(value))
    default:
      return text(asText(value))
  }
}

/** Base64 in one alphabet, padded and without line breaks. Undefined for what is none. */
function readMedia(data: JsonValue | undefined): { readonly data: string; readonly mediaType?: string } | undefined {
  if (typeof data !== 'string') return undefined
  const [, mediaType, inside] = /^data:([^;,]*)(?:;[^;,]*)*?;base64,([^]*)$/.exec(data) ?? []
  const bare = (inside ?? data)
    .replaceAll(/\s/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/(?<!=)=+$/, '')
  if (bare === '' || bare.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(bare)) return undefined
  const padded = bare + '='.repeat((4 - (bare.length % 4)) % 4)
  return { data: padded, ...(mediaType !== undefined && mediaType !== '' && { mediaType }) }
}

/** The first bytes of pictures, as base64. */
const FIRST_BYTES: readonly (readonly [start: string, mediaType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
]

function findType(data: string): string | undefined {
  return FIRST_BYTES.find(([start]) => data.startsWith(start))?.[1]
}

function text(value: string): JsonObject {
  return { type: 'text', text: value }
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
