// Shortens an assistant message to the part that was spoken.
import type { AssistantPart } from '../messages.ts'

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
