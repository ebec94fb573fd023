// Turns a tool's return value into the text that the model reads: JSON, bounded, with a way to read the rest.
import type { Agent, BlobStore, ContentPart, JsonObject, TextPart, Tool, ToolContent } from '@baton/core/internal'
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
  wholeEnd,
} from '@baton/core/internal'
import type { Limits, Outcome } from '@baton/core/machine'
import { findLargeMedia } from '@baton/core/machine'
import { within } from '../deadline.ts'
import { describeThrown, hideSecrets } from '../describe-thrown.ts'
import { findLostValue } from './lost-values.ts'
import type { KeepMedia } from './media.ts'
import { storeMediaOrSay } from './media.ts'

/**
 * Characters of a result that the model reads at once. A longer result is stored in full, and the model sees its head.
 */
export const INLINE_CHARS = 16_384
const HEAD_CHARS = 12_288
/** Maximum characters of a stored result. */
const KEPT_CHARS = 8 * 1024 * 1024
/** Time limit of the store for a result, in milliseconds; after that the model only gets the head. */
const KEEP_MS = 10_000
/** The tool that reads the rest of a result. It is offered once a result was too long. */
export const READ_RESULT = 'result.read'

export interface KeepResult {
  readonly context: KeepMedia & { readonly agent: Pick<Agent, 'limits'> }
  readonly session: string
  readonly callId: string
}

/**
 * A result as the machine takes it: bounded, and its media stored. @throws BatonError `result_invalid`,
 * `result_too_large`
 */
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

/**
 * A client's result: its text is bounded by the machine alone. @throws BatonError `result_invalid`, `result_too_large`
 */
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

/**
 * The value that accompanies the content, or that a text represents, if it says more than the text. It is complete even
 * if the text is cut.
 */
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

/** Returns undefined for a string, which is its own text, and for a tool that returned nothing. */
function textOfValue(value: unknown, part: ContentPart | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return undefined
  return part?.type === 'text' ? part.text : undefined
}

/** Turns a thrown value into a result that the model can act on. Never throws. */
export function describeToolFailure(thrown: unknown, secrets?: readonly string[]): Outcome {
  // Hide before cutting: half a key is still too much.
  const message = hideSecrets(describeWithCause(thrown), secrets).slice(0, HEAD_CHARS)
  try {
    const code: unknown = isBatonError(thrown) ? thrown.code : readServiceFailure(thrown)
    if (isErrorCode(code)) return { type: 'error', code, message }
  } catch {
    // It has a throwing getter, or returns a different code each time.
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
  refuseFailed(value)
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
      message: `the result ${where} ${lost.name}, which JSON cannot write; return ${lost.instead}`,
    })
  }
  if (isDeepText(text))
    throw new BatonError({ code: 'result_invalid', message: `the result is deeper than ${JSON_DEPTH_MAX} levels` })
  return text
}

/** MCP and pi report a failure within the result; here it would be a success. @throws BatonError `result_invalid` */
function refuseFailed(value: unknown): void {
  if (!hasContent(value) || value.isError !== true) return
  const said = value.content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
  const message = `the result has isError: true beside its content; throw an Error instead: ${said.slice(0, HEAD_CHARS)}`
  throw new BatonError({ code: 'result_invalid', message })
}

/**
 * Refuses pi's form: the model would read its content as JSON, and its details, which are for programs.
 * @throws BatonError `result_invalid`
 */
export function refuseDetails(value: unknown): void {
  if (!hasContent(value) || !('details' in value)) return
  if (Object.keys(value).some((name) => name !== 'content' && name !== 'details')) return
  const message = 'the result has details beside its content; return { content, value } instead'
  throw new BatonError({ code: 'result_invalid', message })
}

/** Whether a result has parts for the model, and perhaps other fields. */
function hasContent(value: unknown): value is PartsAndMore {
  if (typeof value !== 'object' || value === null) return false
  const { content } = value as { readonly content?: unknown }
  return Array.isArray(content) && content.length > 0 && content.every(isMeantAsPart)
}

interface PartsAndMore {
  readonly content: readonly { readonly text?: unknown }[]
  readonly isError?: unknown
}

/** Whether a tool returned content, rather than JSON that happens to have such a field. */
function isContent(value: unknown): value is { readonly content: readonly object[]; readonly value?: unknown } {
  return hasContent(value) && Object.keys(value).length === ('value' in value ? 2 : 1)
}

function isMeantAsPart(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false
  const { type, text } = part as { readonly type?: unknown; readonly text?: unknown }
  return type === 'text' ? typeof text === 'string' : type === 'image' || type === 'file'
}

/**
 * Reads images and files as strictly as those of inputs. Other fields on a tool's parts are dropped: they may not even be JSON.
 * @throws BatonError `result_invalid`
 */
function decodeContent(content: readonly object[]): readonly ContentPart[] {
  return content.map((part): ContentPart => {
    const { type, text, mediaType, source, name } = part as Partial<Record<string, unknown>>
    if (type === 'text') return { type, text: text as string } // checked by `isMeantAsPart`
    const decoded = decodeUserInput([{ type, mediaType, source, ...(typeof name === 'string' && { name }) }])
    if (decoded.ok && decoded.value[0]) return decoded.value[0]
    const why = decoded.ok ? 'it is empty' : decoded.refusal.message
    throw new BatonError({ code: 'result_invalid', message: `the content of the result is wrong: ${why}` })
  })
}

async function keepLong(text: string, handle: string, { context, session }: KeepResult): Promise<ContentPart> {
  if (text.length > KEPT_CHARS)
    throw new BatonError({
      code: 'result_too_large',
      message: `the result has ${text.length} characters; the limit is ${KEPT_CHARS}`,
    })
  const limit = {
    timeoutMs: KEEP_MS,
    error: () => new BatonError({ code: 'store_failed', message: 'the store took too long' }),
  }
  try {
    await within(context.timers, limit, context.blobs.put(session, `result/${handle}`, text))
  } catch {
    // The tool has done its work: a failing store must not make the model believe that it has not.
    return showPiece(text, {})
  }
  return showPiece(text, { handle })
}

/** The text, or the head of a long one with the handle by which the model reads on. */
export async function shortenText(text: string, handle: string, keep: KeepResult): Promise<string> {
  if (text.length <= INLINE_CHARS) return text
  const part = await keepLong(text, handle, keep)
  return part.type === 'text' ? part.text : text
}

interface Piece {
  /** Offset of the piece in `text`; 0 by default. */
  readonly offset?: number
  /** 12,288 by default. */
  readonly chars?: number
  /** Absent if the rest is lost. */
  readonly handle?: string
  /** If `text` is itself a piece: its offset in the whole, and the whole's length. */
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

/** A piece made by `showPiece`, parsed. */
export interface ShownPiece {
  readonly text: string
  /** Offset in the whole, in characters. */
  readonly from: number
  readonly to: number
  /** Characters of the whole. */
  readonly of: number
  /** Reads the rest; absent at the end, or if the rest is lost. */
  readonly handle?: string
}

/**
 * Returns undefined for a complete text. Any tool may write such an ending, so the caller compares the handle with the
 * expected one.
 */
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
/** Maximum length of a piece's ending. */
const PIECE_END_CHARS = 1000

/** The tool that resolves handles. A session only reads its own results. */
export function createReadResultTool(blobs: BlobStore): Tool {
  return tool({
    name: READ_RESULT,
    description: 'Reads the rest of a tool result that was too long to show at once.',
    input: READ_RESULT_INPUT,
    effect: 'pure',
    defer: false,
    execute: async (input: JsonObject, { session, callId }): Promise<ToolContent> => {
      const handle = input['handle'] as string // the schema says so
      // Call ids, and so handles, begin with what distinguishes the log from an earlier one with this name.
      const isOwn = readLogId(handle, 3) === readLogId(callId, 2)
      const text = isOwn ? await blobs.get(session, `result/${handle}`) : undefined
      if (text === undefined) throw new BatonError({ code: 'tool_failed', message: `there is no result "${handle}"` })
      // As plain text: encoded as JSON, a text full of quotes could be too long again and be shortened once more.
      return { content: [showPiece(text, { handle, offset: Math.min(text.length, Number(input['offset'])) })] }
    },
  })
}

/** The id without its `last` final parts. */
function readLogId(id: string, last: number): string {
  return id.split('_').slice(0, -last).join('_')
}

const READ_RESULT_INPUT = {
  type: 'object',
  properties: {
    handle: { type: 'string', description: 'The handle at the end of the shortened result' },
    offset: { type: 'integer', minimum: 0, description: 'The character offset to start at' },
  },
  required: ['handle', 'offset'],
  additionalProperties: false,
} as const
