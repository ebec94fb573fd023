// Sizes in UTF-16 units, the machine's unit for everything that is not yet tokens, and the index of the history by size.
import { RULES } from './spec.ts'
import type { AssistantPart, FilePart, MediaSource, StoredPart } from '../messages.ts'

/** UTF-16 units that an image or file counts as; providers charge about 1,500 tokens for a large image. */
const MEDIA_CHARS = 6000
/** Files that models receive as text. */
const TEXT_TYPE = /^(?:text\/|application\/(?:.*\+)?(?:json|xml|yaml)$)/

export function countChars(parts: readonly (StoredPart | AssistantPart)[]): number {
  let chars = 0
  for (const part of parts) chars += partChars(part)
  return chars
}

function partChars(part: StoredPart | AssistantPart): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text.length
    case 'call':
      return part.name.length + part.arguments.length
    case 'image':
      return MEDIA_CHARS
    case 'file':
      return fileChars(part)
    // Not sent to any provider.
    case 'source':
      return 0
    case 'provider':
      return JSON.stringify(part.state.data).length
    default:
      return part satisfies never
  }
}

/** In older records, which hold base64, every file counts the same. */
function fileChars({ mediaType, source }: FilePart<MediaSource>): number {
  return source.type === 'blob' && TEXT_TYPE.test(mediaType) ? source.bytes : MEDIA_CHARS
}

/** A result that may move behind a handle, and its characters. */
export interface LongResult {
  readonly callId: string
  readonly chars: number
}

/** UTF-16 units of a result that may move behind a handle: a single, long enough text. */
export function measureLong(parts: readonly StoredPart[]): number | undefined {
  const [part, ...others] = parts
  return part?.type === 'text' && others.length === 0 && part.text.length > RULES.longChars
    ? part.text.length
    : undefined
}

/** Images and files among parts. */
export interface MediaSize {
  readonly parts: number
  /** UTF-16 units that they count for in a request. */
  readonly chars: number
}

/** Returns undefined if there are none. */
export function measureMedia(parts: readonly StoredPart[]): MediaSize | undefined {
  const media = parts.filter((part) => part.type !== 'text')
  return media.length === 0 ? undefined : { parts: media.length, chars: countChars(media) }
}

/** One entry of the history: a message of the user, or a step (an assistant message and its results). */
export interface IndexEntry {
  readonly entry: number
  readonly exchange: number
  readonly role: 'user' | 'step' | 'summary'
  /** Estimated size in characters. */
  readonly chars: number
  /** For `step`: its number. */
  readonly step?: number
  /** For `user`: the inputs that entered, so that a rewind can ask them again. */
  readonly inputs?: readonly string[]
  readonly notes?: readonly number[]
  /** Absent if it has none. */
  readonly media?: EntryMedia
  /** For `step`: results that may move behind a handle. */
  readonly long?: readonly LongResult[]
}

/** Images and files of an entry of the history. */
export interface EntryMedia extends MediaSize {
  /** For `user`: the inputs that contain them. */
  readonly inputs?: readonly string[]
}

/** UTF-16 units of text in the parts, for limits; bytes of images and files have separate limits. */
export function heldChars(parts: readonly StoredPart[]): number {
  let chars = 0
  for (const part of parts) {
    if (part.type === 'text') chars += part.text.length
    else if (part.source.type === 'url') chars += part.source.url.length
  }
  return chars
}

/** UTF-16 units of a value as JSON; Infinity if it is not JSON. */
export function jsonChars(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? Infinity
  } catch {
    return Infinity
  }
}
