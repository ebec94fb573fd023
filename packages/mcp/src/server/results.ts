// Converts a call's outcome for an MCP client: complete texts, images, files and the value, or an error with its code.
import type { CallView, JsonObject, JsonValue, StoredPart } from '@baton/core/internal'
import { isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { READ_RESULT, describeThrown, readPiece } from '@baton/runtime'
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'

/** Reads the bytes of an image or file of the session, as base64. */
export type ReadMedia = (handle: string) => Promise<string | undefined>

export interface ResultPlace {
  readonly media: ReadMedia
  /** Whether the tool's output schema requires a value. */
  readonly needsValue: boolean
}

/** `calls`: the call, then the calls that read the rest of its result. Never rejects. */
export async function toMcpResult(calls: readonly CallView[], place: ResultPlace): Promise<CallToolResult> {
  const [call, ...reads] = calls
  const result = call?.result
  if (!call || !result) return tellError('cancelled', 'the call was withdrawn before it ended')
  if (result.type !== 'ok') return tellError(result.code, result.message)
  try {
    const content = joinPieces(call, result.content, reads)
    const value = result.value ?? (place.needsValue ? readValue(content) : undefined)
    if (place.needsValue && value === undefined)
      return tellError('result_invalid', 'the tool declares a structured result but did not return one')
    const blocks: ContentBlock[] = []
    for (const [index, part] of content.entries())
      blocks.push(await toBlock(part, `baton://${call.callId}/${index}`, place.media))
    // Typed as an object, but for 2025-11-25 clients the SDK wraps any other value in one.
    return { content: blocks, ...(value !== undefined && { structuredContent: value as JsonObject }) }
  } catch (cause) {
    return toMcpError(cause)
  }
}

export function toMcpError(cause: unknown): CallToolResult {
  return tellError(isBatonError(cause) ? cause.code : 'internal', describeThrown(cause))
}

function tellError(code: string, message: string): CallToolResult {
  return { content: [{ type: 'text', text: `${code}: ${message}` }], isError: true, _meta: { 'baton/code': code } }
}

function joinPieces(
  { callId }: CallView,
  content: readonly StoredPart[],
  reads: readonly CallView[],
): readonly StoredPart[] {
  return content.map((part, index) => {
    const head = part.type === 'text' ? readPiece(part.text) : undefined
    if (!head || head.handle !== `${callId}_${index}`) return part
    let text = head.text
    for (const piece of listPieces(reads, head.handle))
      if (piece.from <= text.length) text += piece.text.slice(text.length - piece.from)
    const rest =
      text.length < head.of ? `\n[The result has ${head.of} characters; these are the first ${text.length}.]` : ''
    return { type: 'text', text: `${text}${rest}` }
  })
}

function listPieces(
  reads: readonly CallView[],
  handle: string,
): readonly { readonly from: number; readonly text: string }[] {
  const pieces = reads.flatMap(({ name, input, result }) => {
    const isOne = name === READ_RESULT && isJsonObject(input) && input['handle'] === handle
    const [part] = isOne && result?.type === 'ok' ? result.content : []
    const piece = part?.type === 'text' ? readPiece(part.text) : undefined
    return piece ? [piece] : []
  })
  return pieces.toSorted((one, other) => one.from - other.from)
}

function readValue([part]: readonly StoredPart[]): JsonValue | undefined {
  const parsed = part?.type === 'text' ? parseJson(part.text) : undefined
  return parsed?.ok ? parsed.value : undefined
}

async function toBlock(part: StoredPart, uri: string, media: ReadMedia): Promise<ContentBlock> {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const { mediaType: mimeType, source } = part
  const name = part.type === 'file' ? part.name : undefined
  if (source.type === 'url') return { type: 'resource_link', uri: source.url, name: name ?? source.url, mimeType }
  const data = source.type === 'base64' ? source.data : await media(source.handle)
  if (data === undefined) return { type: 'text', text: `[The ${part.type} (${mimeType}) is no longer stored.]` }
  if (part.type === 'image') return { type: 'image', data, mimeType }
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType }
  const resource = { uri: name === undefined ? uri : `${uri}/${encodeURIComponent(name)}`, mimeType }
  const isText = mimeType.startsWith('text/') || mimeType === 'application/json'
  return {
    type: 'resource',
    resource: isText ? { ...resource, text: Buffer.from(data, 'base64').toString() } : { ...resource, blob: data },
  }
}
