// Content that is left out after a provider refused it, or the size of its request: otherwise every later turn would send
// it again and fail. Notes replace it.
import type { ErrorCode } from '../errors.ts'
import type { Draft } from './draft.ts'
import type { State, Turn } from './state.ts'
import { emit } from './draft.ts'
import type { EntryMedia, Failure, IndexEntry } from './values.ts'
import { isMedia, wholeChars } from './size.ts'
import { RULES } from './spec.ts'
import type { MediaSource, StoredPart, ToolMessage } from '../messages.ts'
import type { FactOf, InputBody } from './fact.ts'
import { text } from './render.ts'

/** Called when a turn fails permanently. */
export function leaveOutRefused(draft: Draft, turn: Turn, { code, message }: Failure): void {
  if (code !== 'model_invalid_request' && code !== 'model_content_refused') return
  const entries = findRefused(draft.state.index, turn, code)
  if (entries.length === 0) return
  const reason = shortenReason(message)
  const noteChars = describeLeftOut('image', reason).length
  const sizes = entries.map((entry) => ({ entry: entry.entry, chars: measureWithout(entry, noteChars) }))
  emit(draft, { type: 'inputs-left-out', ...nameSources(entries), reason, sizes })
}

/** Whether the history has images or files that could be removed. */
export function hasMedia({ index }: State): boolean {
  return index.some(({ media }) => media)
}

/**
 * Removes the older half of all images and files, after a request that was too large with them. Half, because each
 * change near the beginning invalidates the provider's cache; each refusal halves the rest, so that few requests are
 * refused.
 */
export function leaveOutOldest(draft: Draft, { message }: Failure): void {
  const entries = draft.state.index.filter((entry) => entry.media)
  let leaving = Math.ceil(entries.reduce((sum, { media }) => sum + (media?.parts ?? 0), 0) / 2)
  const touched: IndexEntry[] = []
  const sizes = entries.flatMap((entry) => {
    if (leaving === 0) return []
    touched.push(entry)
    const left = Math.min(leaving, entry.media?.parts ?? 0)
    leaving -= left
    const media = keepNewest(entry, left)
    const chars = measureWithout(entry, describeTooLarge('image').length, media)
    return [{ entry: entry.entry, chars, ...(media && { media }) }]
  })
  const reason = shortenReason(message)
  emit(draft, { type: 'inputs-left-out', ...nameSources(touched), reason, tooLarge: true, sizes })
}

/** An entry's images and files without the `left` oldest; undefined if none stay. */
function keepNewest({ media }: IndexEntry, left: number): EntryMedia | undefined {
  if (!media || left >= media.parts) return undefined
  const parts = media.parts - left
  return { ...media, parts, chars: Math.round((media.chars * parts) / media.parts) }
}

function nameSources(entries: readonly IndexEntry[]): {
  readonly inputs: readonly string[]
  steps?: readonly number[]
} {
  const steps = entries.flatMap(({ step }) => step ?? [])
  const inputs = entries.flatMap(({ inputs: all = [], media }) => media?.inputs ?? all)
  return { inputs, ...(steps.length > 0 && { steps }) }
}

/**
 * This turn's images and files. If it has none and content is surely meant: those of older turns, or else the inputs.
 */
function findRefused(index: readonly IndexEntry[], turn: Turn, code: ErrorCode): readonly IndexEntry[] {
  const media = index.filter((entry) => entry.media)
  const own = media.filter(({ exchange }) => exchange === turn.exchange)
  if (own.length > 0 || code !== 'model_content_refused') return own
  return media.length > 0 ? media : listUnanswered(index, turn)
}

/**
 * Entries to remove if only words can be meant: those of this turn, and of preceding turns that ended without an
 * answer.
 */
function listUnanswered(index: readonly IndexEntry[], turn: Turn): readonly IndexEntry[] {
  const answered = index.findLast(({ role, exchange }) => role !== 'user' && exchange !== turn.exchange)?.exchange ?? -1
  return index.filter(({ role, exchange, inputs = [] }) => role === 'user' && exchange > answered && inputs.length > 0)
}

function shortenReason(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim()
  return line.slice(0, wholeChars(line, RULES.reasonChars))
}

/** Characters of an entry once a note of `noteChars` replaces each image and file, except the retained ones. */
function measureWithout(entry: IndexEntry, noteChars: number, stays?: EntryMedia): number {
  const { chars, media, inputs = [], notes = [] } = entry
  if (media) return chars - media.chars + (stays?.chars ?? 0) + (media.parts - (stays?.parts ?? 0)) * noteChars
  // The size of the notes that entered with the inputs is no longer known.
  return notes.length > 0 ? chars : inputs.length * noteChars
}

type LeftOut = Pick<FactOf<'inputs-left-out'>, 'reason' | 'tooLarge'>

/** The body of an input with all but the newest `stay` media replaced, or, if it has none, all of its content. */
export function leaveOutOfInput(body: InputBody, left: LeftOut, stay: number): InputBody {
  if (body.type === 'user' && body.parts.some(isMedia)) {
    const note = createNotes(left, body.parts, stay)
    return { ...body, parts: body.parts.map(note) }
  }
  return { type: 'user', parts: [text(describeLeftOut('input', left.reason))] }
}

/** The results of a step with all but the newest `stay` media replaced. */
export function leaveOutOfResults(
  message: ToolMessage<MediaSource>,
  left: LeftOut,
  stay: number,
): ToolMessage<MediaSource> {
  const note = createNotes(
    left,
    message.parts.flatMap(({ content }) => content),
    stay,
  )
  const parts = message.parts.map((result) => ({ ...result, content: result.content.map(note) }))
  return { ...message, parts }
}

/** Returns a function to call with each part in order. */
function createNotes(
  { reason, tooLarge }: LeftOut,
  parts: readonly StoredPart[],
  stay: number,
): (part: StoredPart) => StoredPart {
  let leaving = parts.filter(isMedia).length - stay
  return (part) => {
    if (!isMedia(part) || leaving <= 0) return part
    leaving -= 1
    return text(tooLarge ? describeTooLarge(part.type) : describeLeftOut(part.type, reason))
  }
}

export function describeLeftOut(what: 'image' | 'file' | 'input', reason: string): string {
  return `[${what === 'file' ? 'A' : 'An'} ${what} was left out: the provider refused it (${reason})]`
}

export function describeTooLarge(what: 'image' | 'file'): string {
  return `[${what === 'file' ? 'A' : 'An'} ${what} was left out: the request was too large with it]`
}
