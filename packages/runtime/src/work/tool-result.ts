// Turns a tool's return value into what the model reads: JSON as text, bounded, with a way to read the rest.
import type { Agent, BlobStore, ContentPart, JsonObject, TextPart, Tool, ToolContent } from '@baton/core'
import {
  BatonError,
  decodeUserInput,
  isBatonError,
  isDeepText,
  isErrorCode,
  JSON_DEPTH_MAX,
  parseJson,
  readServiceFailure,
  tool,
} from '@baton/core'
import type { Limits, Outcome } from '@baton/core/machine'
import { findLargeMedia } from '@baton/core/machine'
import { within } from '../deadline.ts'
import { describeThrown, hideSecrets } from '../describe-thrown.ts'
import { findLostValue } from './lost-values.ts'
import type { KeepMedia } from './media.ts'
import { storeMediaOrSay } from './media.ts'

/** Characters of a result that the model reads at once. A longer result is kept whole, and the model sees its head. */
export const INLINE_CHARS = 16_384
const HEAD_CHARS = 12_288
/** Characters of a result that is kept at all. */
const KEPT_CHARS = 8 * 1024 * 1024
/** Milliseconds for the store to keep a result; after that the model gets only its head. */
const KEEP_MS = 10_000
/** The tool that reads on in a result. It is offered after a result was too long. */
export const READ_RESULT = 'result.read'

export interface KeepResult {
  readonly context: KeepMedia & { readonly agent: Pick<Agent, 'limits'> }
  readonly session: string
  readonly callId: string
}

/** A result as the machine takes it: bounded, and its media in the store. @throws BatonError `result_invalid`, `result_too_large` */
export async function toOutcome(value: unknown, keep: KeepResult): Promise<Outcome> {
  const { context, session, callId } = keep
  const { limits } = context.agent
  const content = toContent(value)
  checkMedia(content, limits)
  const bounded: ContentPart[] = []
  for (const [index, part] of content.entries()) {
    const long = part.type === 'text' && part.text.length > INLINE_CHARS
    bounded.push(long ? await keepLong(part.text, `${callId}_${index}`, keep) : part)
  }
  return { type: 'ok', content: await storeMediaOrSay(session, bounded, context), ...readValue(value, content, limits) }
}

/** A client's result: its text is bounded by the machine alone. @throws BatonError `result_invalid`, `result_too_large` */
export function toClientOutcome(value: unknown, limits: Limits): OkOutcome {
  const content = toContent(value)
  checkMedia(content, limits)
  return { type: 'ok', content, ...readValue(value, content, limits) }
}

type OkOutcome = Extract<Outcome, { readonly type: 'ok' }>

/** @throws BatonError `result_too_large` */
function checkMedia(content: readonly ContentPart[], limits: Limits): void {
  const large = findLargeMedia(content, limits)
  if (large === undefined) return
  throw new BatonError({ code: 'result_too_large', message: `the result is too large: ${large}` })
}

/** The value beside a content, or the one that a text stands for, if that says more than the text. It is complete even if the text is cut. */
function readValue(
  value: unknown,
  [part]: readonly ContentPart[],
  { resultChars }: Pick<Limits, 'resultChars'>,
): Pick<OkOutcome, 'value'> {
  const text = isContent(value) ? writeValue(value.value) : textOfValue(value, part)
  if (text === undefined || text.length > resultChars) return {}
  const parsed = parseJson(text)
  return parsed.ok ? { value: parsed.value } : {}
}

function writeValue(value: unknown): string | undefined {
  return value === undefined ? undefined : stringifyResult(value)
}

/** Undefined for a text, which says the same, and for a tool that returned nothing. */
function textOfValue(value: unknown, part: ContentPart | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return undefined
  return part?.type === 'text' ? part.text : undefined
}

/** Turns whatever a tool threw into a result that the model can act on. Never throws. */
export function describeToolFailure(thrown: unknown, secrets?: readonly string[]): Outcome {
  // Hidden before it is cut: half a key is still too much.
  const message = hideSecrets(describeWithCause(thrown), secrets).slice(0, HEAD_CHARS)
  try {
    const code: unknown = isBatonError(thrown) ? thrown.code : readServiceFailure(thrown)
    if (isErrorCode(code)) return { type: 'error', code, message }
  } catch {
    // It has a getter that throws, or gives a different code each time.
  }
  return { type: 'error', code: 'tool_failed', message }
}

/** The platform's `fetch` gives the reason only in its cause, which may be deeper in the chain. */
function describeWithCause(thrown: unknown): string {
  const said = describeThrown(thrown)
  if (said !== 'fetch failed') return said
  let cause = thrown
  for (let depth = 0; depth < 4 && cause instanceof Error; depth += 1) {
    cause = cause.cause
    const why = describeThrown(cause)
    if (why !== '' && why !== said) return `${said}: ${why}`
  }
  return said
}

/** @throws BatonError `result_invalid` */
export function toContent(value: unknown): readonly ContentPart[] {
  if (isContent(value)) return decodeContent(value.content)
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
  const lost = findLostValue(value)
  if (lost) {
    const where = lost.place === '' ? 'is' : `has, at ${lost.place},`
    throw new BatonError({
      code: 'result_invalid',
      message: `the result ${where} a ${lost.name}, which JSON cannot write; return ${lost.instead}`,
    })
  }
  if (isDeepText(text))
    throw new BatonError({ code: 'result_invalid', message: `the result is deeper than ${JSON_DEPTH_MAX} levels` })
  return text
}

/** Whether a tool returned content, and not JSON that happens to have such a field. */
function isContent(value: unknown): value is { readonly content: readonly object[]; readonly value?: unknown } {
  if (typeof value !== 'object' || value === null) return false
  if (Object.keys(value).length !== ('value' in value ? 2 : 1)) return false
  const { content } = value as { readonly content?: unknown }
  return Array.isArray(content) && content.length > 0 && content.every(isMeantAsPart)
}

function isMeantAsPart(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { type, text } = part as { readonly type?: unknown; readonly text?: unknown }
  return type === 'text' ? typeof text === 'string' : type === 'image' || type === 'file'
}

/**
 * Reads images and files as strictly as those of inputs. Other fields that a tool put on its parts are dropped: they may not even be
 * JSON.
 * @throws BatonError `result_invalid`
 */
function decodeContent(content: readonly object[]): readonly ContentPart[] {
  return content.map((part): ContentPart => {
    const { type, text, mediaType, source, name } = part as Partial<Record<string, unknown>>
    if (type === 'text') return { type, text: text as string } // `isMeantAsPart` has looked
    const decoded = decodeUserInput([{ type, mediaType, source, ...(typeof name === 'string' && { name }) }])
    if (decoded.ok && decoded.value[0]) return decoded.value[0]
    const why = decoded.ok ? 'it has no part' : decoded.refusal.message
    throw new BatonError({ code: 'result_invalid', message: `the content of the result is wrong: ${why}` })
  })
}

async function keepLong(text: string, handle: string, { context, session }: KeepResult): Promise<ContentPart> {
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
    await within(context.timers, limit, context.blobs.put(session, `result/${handle}`, text))
  } catch {
    // The tool has done its work: a store that fails now must not make the model believe that it has not.
    return showPiece(text, {})
  }
  return showPiece(text, { handle })
}

interface Piece {
  /** Offset of the piece in `text`; 0 by default. */
  readonly offset?: number
  /** 12,288 by default. */
  readonly chars?: number
  /** Absent: the rest is lost. */
  readonly handle?: string
  /** If `text` is a piece itself: its offset in the whole, and the whole's length. */
  readonly from?: number
  readonly of?: number
}

/** A piece of a long result, and how to read the next one. */
export function showPiece(
  text: string,
  { offset = 0, chars = HEAD_CHARS, handle, from = 0, of = text.length }: Piece,
): TextPart {
  const end = wholeEnd(text, offset + chars)
  const next =
    handle === undefined
      ? 'The rest could not be kept'
      : `Read on with ${READ_RESULT} {"handle":"${handle}","offset":${from + end}}`
  const where = `characters ${from + offset} to ${from + end} of ${of}`
  return {
    type: 'text',
    text: `${text.slice(offset, end)}\n[${where}. ${from + end < of ? next : 'This is the end'}]`,
  }
}

/** A piece that `showPiece` made, read again. */
export interface ShownPiece {
  readonly text: string
  /** Its offset in the whole, in characters. */
  readonly from: number
  readonly to: number
  /** Characters of the whole. */
  readonly of: number
  /** Reads the rest; absent at the end, and if the rest is lost. */
  readonly handle?: string
}

/** Undefined for a complete text. Any tool may write such an end, so the caller compares the handle with the expected one. */
export function readPiece(text: string): ShownPiece | undefined {
  const [shown, from, to, of, handle] = PIECE_END.exec(text.slice(-PIECE_END_CHARS)) ?? []
  if (shown === undefined) return undefined
  const place = { from: Number(from), to: Number(to), of: Number(of) }
  return { text: text.slice(0, -shown.length), ...place, ...(handle !== undefined && { handle }) }
}

const PIECE_END = new RegExp(
  String.raw`\n\[characters (\d+) to (\d+) of (\d+)\. ` +
    String.raw`(?:Read on with ${READ_RESULT.replace('.', String.raw`\.`)} \{"handle":"([^"]+)","offset":\d+\}|This is the end|The rest could not be kept)\]$`,
)
/** The longest end of a piece. */
const PIECE_END_CHARS = 1000

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
    defer: false,
    execute: async (input: JsonObject, { session, callId }): Promise<ToolContent> => {
      const handle = input['handle'] as string // the schema says so
      // Ids of calls, and so the handles, begin with what tells the log from an earlier one of this name.
      const isOwn = readLogId(handle, 3) === readLogId(callId, 2)
      const text = isOwn ? await blobs.get(session, `result/${handle}`) : undefined
      if (text === undefined) throw new BatonError({ code: 'tool_failed', message: `there is no result "${handle}"` })
      // As plain text: as JSON, a text full of quotes could be too long again, and would be shortened once more.
      return { content: [showPiece(text, { handle, offset: Math.min(text.length, Number(input['offset'])) })] }
    },
  })
}

/** All but the last so many pieces of an id. */
function readLogId(id: string, last: number): string {
  return id.split('_').slice(0, -last).join('_')
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
