// Sizes in UTF-16 units, the unit of the machine for everything that is not yet tokens; the number and size of images and
// files, whose bytes it never inspects; and the index of the history by size.
import type { Limits } from './spec.ts'
import { RULES } from './spec.ts'
import type { MediaSize } from './values.ts'
import type { AssistantPart, FilePart, ImagePart, MediaSource, StoredPart } from '../messages.ts'

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

/** UTF-16 units of a result that may move behind a handle: a single, long enough text. */
export function measureLong(parts: readonly StoredPart[]): number | undefined {
  const [part, ...others] = parts
  return part?.type === 'text' && others.length === 0 && part.text.length > RULES.longChars
    ? part.text.length
    : undefined
}

/** Returns undefined if there are none. */
export function measureMedia(parts: readonly StoredPart[]): MediaSize | undefined {
  const media = parts.filter((part) => part.type !== 'text')
  return media.length === 0 ? undefined : { parts: media.length, chars: countChars(media) }
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

export type StoredMedia = ImagePart<MediaSource> | FilePart<MediaSource>

export function isMedia(part: StoredPart): part is StoredMedia {
  return part.type === 'image' || part.type === 'file'
}

/** Bytes sent with a request; none for an address. */
export function countMediaBytes(source: MediaSource): number {
  if (source.type === 'blob') return source.bytes
  if (source.type === 'url') return 0
  const { data } = source
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return Math.floor((data.length * 3) / 4) - padding
}

/** Describes the first violation of a limit in an input or result, with the value and the limit. */
export function findLargeMedia(
  parts: readonly StoredPart[],
  { mediaBytes, inputMediaBytes, mediaParts }: Limits,
): string | undefined {
  let count = 0
  let total = 0
  for (const [index, part] of parts.entries()) {
    if (!isMedia(part)) continue
    const bytes = countMediaBytes(part.source)
    if (bytes > mediaBytes)
      return `the ${part.type} at ${index} has ${bytes} bytes; at most ${mediaBytes} are allowed (mediaBytes)`
    count += 1
    total += bytes
  }
  if (count > mediaParts) return `it has ${count} images and files; at most ${mediaParts} are allowed (mediaParts)`
  if (total <= inputMediaBytes) return undefined
  return `its images and files have ${total} bytes; at most ${inputMediaBytes} are allowed (inputMediaBytes)`
}

/**
 * Keeps `keepChars` of the text; calls and thoughts stay. Shortened text loses its provider state, which vouched for
 * the whole.
 */
export function cutParts(parts: readonly AssistantPart[], keepChars: number): readonly AssistantPart[] {
  let left = keepChars
  return parts.flatMap((part): readonly AssistantPart[] => {
    if (part.type !== 'text') return [part]
    const kept = left >= part.text.length ? part.text : part.text.slice(0, wholeChars(part.text, left))
    left = Math.max(0, left - part.text.length)
    if (kept === part.text) return [part]
    return kept.trim() === '' ? [] : [{ type: 'text', text: kept }]
  })
}

/** The largest end up to `end` that splits no surrogate pair. */
export function wholeEnd(text: string, end: number): number {
  if (end >= text.length) return text.length
  const code = text.charCodeAt(end - 1)
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end
}

/** Never splits a surrogate pair, which providers refuse: the whole pair stays. */
export function wholeChars(text: string, chars: number): number {
  if (chars >= text.length) return text.length
  if (chars <= 0) return 0
  const code = text.charCodeAt(chars - 1)
  return code >= 0xd800 && code <= 0xdbff ? chars + 1 : chars
}

/** Characters reserved for the text that the model gets if a settlement has none. */
export const SETTLED_CHARS = 50

interface Settled {
  readonly settlement: { readonly type: string; readonly content?: readonly StoredPart[]; readonly message?: string }
  readonly detail?: string
}

export interface SettledSize {
  readonly chars: number
  readonly longChars?: number
  readonly media?: MediaSize
}

/** The size of a settlement in a request. */
export function measureSettled({ settlement: { content, message }, detail = '' }: Settled): SettledSize {
  const media = content && measureMedia(content)
  const longChars = content && measureLong(content)
  return {
    chars: (content ? countChars(content) : (message?.length ?? SETTLED_CHARS)) + detail.length,
    ...(media && { media }),
    ...(longChars !== undefined && { longChars }),
  }
}
