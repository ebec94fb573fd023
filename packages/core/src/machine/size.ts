// Sizes in UTF-16 units, the unit in which the machine counts everything that is not yet tokens.
import type { AssistantPart, StoredPart } from '../messages.ts'

/** What an image or a file counts as; providers charge about 1,500 tokens for a large picture. */
export const MEDIA_CHARS = 6000

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
    case 'file':
      return MEDIA_CHARS
    // No provider is sent it.
    case 'source':
      return 0
    case 'provider':
      return JSON.stringify(part.state.data).length
    default:
      return part satisfies never
  }
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
