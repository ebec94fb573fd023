// Sizes in UTF-16 units, the unit in which the machine counts everything that is not yet tokens.
import { RULES } from './spec.ts'
import type { AssistantPart, FilePart, MediaSource, StoredPart } from '../messages.ts'

/** UTF-16 units that an image or a file counts as; providers charge about 1,500 tokens for a large picture. */
const MEDIA_CHARS = 6000
/** Files that models are sent as the text that they are. */
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
    // No provider is sent it.
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

/** A result that may go behind a handle, and its characters. */
export interface LongResult {
  readonly callId: string
  readonly chars: number
}

/** UTF-16 units of a result that may go behind a handle: a single text that is long enough. */
export function measureLong(parts: readonly StoredPart[]): number | undefined {
  const [part, ...others] = parts
  return part?.type === 'text' && others.length === 0 && part.text.length > RULES.longChars
    ? part.text.length
    : undefined
}

/** Images and files among parts. */
export interface MediaSize {
  readonly parts: number
  /** UTF-16 units that they count in a request. */
  readonly chars: number
}

/** Undefined where there are none. */
export function measureMedia(parts: readonly StoredPart[]): MediaSize | undefined {
  const media = parts.filter((part) => part.type !== 'text')
  return media.length === 0 ? undefined : { parts: media.length, chars: countChars(media) }
}

/** UTF-16 units that parts hold as text, for limits; bytes of images and files have limits of their own. */
export function heldChars(parts: readonly StoredPart[]): number {
  let chars = 0
  for (const part of parts) {
    if (part.type === 'text') chars += part.text.length
    else if (part.source.type === 'url') chars += part.source.url.length
  }
  return chars
}

/** UTF-16 units of a value as JSON; Infinity for what is no JSON. */
export function jsonChars(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? Infinity
  } catch {
    return Infinity
  }
}
