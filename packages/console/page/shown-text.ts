// Text of models, tools and people for a page: what would be invisible or turn the line around is shown as its name. Texts
// become text nodes alone, never HTML.

/** Controls of direction, spaces without width, escape codes and other controls; not tab, line feed and what joins emoji. */
const HIDDEN =
  /(?![\t\n])\p{Cc}|[\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]|[\u{E0000}-\u{E007F}]/gu

/** Replaces each hidden character with `⟨U+202E⟩`; CRLF becomes LF. */
export function showHidden(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(HIDDEN, (char) => `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
}

/** One line of at most `most` characters. */
export function showLine(text: string, most = 200): string {
  const line = showHidden(text.slice(0, 4 * most))
    .replaceAll(/\s+/g, ' ')
    .trim()
  const chars = Array.from(line)
  return chars.length <= most ? line : `${chars.slice(0, most - 1).join('')}…`
}

/** JSON text with line breaks; another text as it is. */
export function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
