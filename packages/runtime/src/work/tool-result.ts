// From what a tool returned to what the model is told: JSON as text, bounded, with a way to read the rest.
import type { BlobStore, ContentPart, JsonObject, JsonValue, MediaSource, Timers, Tool, ToolContent } from '@baton/core'
import { BatonError, isBatonError, parseJson, tool } from '@baton/core'
import type { Outcome } from '@baton/core/machine'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'

/** Characters of a result that go to the model at once; a longer one is kept whole and its head is shown. */
export const INLINE_CHARS = 16_384
const HEAD_CHARS = 12_288
/** Characters of a result that is kept at all. */
const KEPT_CHARS = 8 * 1024 * 1024
/** Milliseconds that the store has to keep a result; then the model gets its head only. */
const KEEP_MS = 10_000
/** The tool that reads on in a result. It is offered once a result was too long. */
export const READ_RESULT = 'result.read'

export interface KeepResult {
  readonly blobs: BlobStore
  readonly timers: Timers
  readonly session: string
  readonly callId: string
}

/** @throws BatonError `result_invalid`, `result_too_large` */
export async function toOutcome(value: unknown, keep: KeepResult): Promise<Outcome> {
  if (typeof value === 'string' && value.length <= INLINE_CHARS)
    return { type: 'ok', content: [{ type: 'text', text: value }] }
  const content = toContent(value)
  const bounded: ContentPart[] = []
  for (const [index, part] of content.entries()) {
    const long = part.type === 'text' && part.text.length > INLINE_CHARS
    bounded.push(long ? await keepLong(part.text, `${keep.callId}_${index}`, keep) : part)
  }
  const kept = keepValue(value, content)
  return { type: 'ok', content: bounded, ...(kept !== undefined && { value: kept }) }
}

/** The value that a text stands for, where that says more than the text itself and is short. */
function keepValue(value: unknown, [part]: readonly ContentPart[]): JsonValue | undefined {
  if (value === null || value === undefined || typeof value === 'string' || isContent(value)) return undefined
  if (part?.type !== 'text' || part.text.length > INLINE_CHARS) return undefined
  const parsed = parseJson(part.text)
  return parsed.ok ? parsed.value : undefined
}

/** Any throw of a tool becomes a result that the model can act on. */
export function describeToolFailure(thrown: unknown): Outcome {
  const code = isBatonError(thrown) ? thrown.code : 'tool_failed'
  return { type: 'error', code, message: describeThrown(thrown).slice(0, HEAD_CHARS) }
}

/** @throws BatonError `result_invalid` */
export function toContent(value: unknown): readonly ContentPart[] {
  if (isContent(value)) return value.content.map(onlyContent)
  return [{ type: 'text', text: typeof value === 'string' ? value : stringifyResult(value) }]
}

/**
 * `undefined` reads as null: a tool that returns nothing has done its work.
 * @throws BatonError `result_invalid`
 */
export function stringifyResult(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value ?? null)
  } catch (cause) {
    throw new BatonError({ code: 'result_invalid', message: `the result is not JSON: ${describeThrown(cause)}`, cause })
  }
  if (text === undefined)
    throw new BatonError({ code: 'result_invalid', message: `the result is a ${typeof value}, which is not JSON` })
  return text
}

/** An object that only has a `content` of parts; any other `content` is a value like each other. */
function isContent(value: unknown): value is ToolContent {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 1) return false
  const { content } = value as { readonly content?: unknown }
  return Array.isArray(content) && content.length > 0 && content.every(isPart)
}

function isPart(value: unknown): value is ContentPart {
  if (typeof value !== 'object' || value === null) return false
  const part = value as Record<string, unknown>
  if (part['type'] === 'text') return typeof part['text'] === 'string'
  if (part['type'] !== 'image' && part['type'] !== 'file') return false
  return typeof part['mediaType'] === 'string' && isSource(part['source'])
}

function isSource(value: unknown): value is MediaSource {
  if (typeof value !== 'object' || value === null) return false
  const source = value as Record<string, unknown>
  if (source['type'] === 'base64') return typeof source['data'] === 'string'
  return source['type'] === 'url' && typeof source['url'] === 'string'
}

/** Whatever else a tool hung on its parts is no content, and may not even be JSON. */
function onlyContent(part: ContentPart): ContentPart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const source: MediaSource =
    part.source.type === 'base64' ? { type: 'base64', data: part.source.data } : { type: 'url', url: part.source.url }
  const { type, mediaType } = part
  if (type === 'image') return { type, mediaType, source }
  return { type, mediaType, source, ...(typeof part.name === 'string' && { name: part.name }) }
}

async function keepLong(text: string, handle: string, keep: KeepResult): Promise<ContentPart> {
  if (text.length > KEPT_CHARS)
    throw new BatonError({
      code: 'result_too_large',
      message: `the result has ${text.length} characters; at most ${KEPT_CHARS} are kept`,
    })
  const limit = {
    timeoutMs: KEEP_MS,
    error: () => new BatonError({ code: 'store_failed', message: 'the store took too long' }),
  }
  try {
    await within(keep.timers, limit, keep.blobs.put(keep.session, `result/${handle}`, text))
  } catch {
    // The tool has done its work: a store that fails now must not make the model believe that it has not.
    return showPiece(text, 0, () => 'The rest could not be kept')
  }
  return showPiece(text, 0, hintReadOn(handle))
}

/** A piece of a long result, and how the next one is had. */
function showPiece(text: string, offset: number, next: (end: number) => string): ContentPart {
  const end = wholeEnd(text, offset + HEAD_CHARS)
  const where = `characters ${offset} to ${end} of ${text.length}`
  return {
    type: 'text',
    text: `${text.slice(offset, end)}\n[${where}. ${end < text.length ? next(end) : 'This is the end'}]`,
  }
}

function hintReadOn(handle: string): (end: number) => string {
  return (end) => `Read on with ${READ_RESULT} {"handle":"${handle}","offset":${end}}`
}

/** Not between the halves of a surrogate pair. */
function wholeEnd(text: string, end: number): number {
  if (end >= text.length) return text.length
  const code = text.charCodeAt(end - 1)
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end
}

/** The tool behind the handles. A session reads its own results only. */
export function createReadResultTool(blobs: BlobStore): Tool {
  return tool({
    name: READ_RESULT,
    description: 'Reads on in a tool result that was too long to show at once.',
    input: READ_RESULT_INPUT,
    effect: 'pure',
    execute: async (input: JsonObject, { session }): Promise<ToolContent> => {
      const handle = input['handle'] as string // the schema says so
      const text = await blobs.get(session, `result/${handle}`)
      if (text === undefined) throw new BatonError({ code: 'tool_failed', message: `there is no result "${handle}"` })
      // As it stands: as JSON a text full of quotes would be too long itself, and be shortened once more.
      return { content: [showPiece(text, Math.min(text.length, Number(input['offset'])), hintReadOn(handle))] }
    },
  })
}

const READ_RESULT_INPUT = {
  type: 'object',
  properties: {
    handle: { type: 'string', description: 'The handle that stands at the end of the shortened result' },
    offset: { type: 'integer', minimum: 0, description: 'The character to begin with' },
  },
  required: ['handle', 'offset'],
  additionalProperties: false,
} as const
