// A section of a long text, and where the next one starts.

export interface TextWindow {
  readonly text: string
  readonly truncated: boolean
  readonly nextChar?: number
}

/** @param start offset in UTF-16 units; surrogate pairs are not split */
export function cutWindow(whole: string, start: number, chars: number): TextWindow {
  const from = isTrail(whole, start) ? start + 1 : start
  let end = Math.min(whole.length, from + chars)
  if (isTrail(whole, end)) end -= 1
  const isWhole = end >= whole.length
  return { text: whole.slice(from, end).toWellFormed(), truncated: !isWhole, ...(!isWhole && { nextChar: end }) }
}

function isTrail(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return at > 0 && code >= 0xdc00 && code <= 0xdfff
}
