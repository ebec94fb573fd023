// Cuts a text for people and says how much was cut. Never splits a surrogate pair.
import { wholeEnd } from '@baton/core/internal'

export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text
  const end = wholeEnd(text, chars)
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}
