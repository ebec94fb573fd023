// Makes text from models, tools, files and other people safe for a terminal: it can neither control the terminal nor
// hide or reorder what a person reads. Nothing is dropped: harmful characters are shown as JavaScript escapes.

/**
 * C0 except tab and line feed, DEL, C1, line separators, lone surrogates, and characters that change the text
 * direction.
 */
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Surrogate}\p{Bidi_Control}]/gu
const LINE_PARTS = /[\t\n]/g
const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** For text of several lines: keeps tabs and line breaks, and turns Windows line breaks into plain ones. */
export function escapeControls(text: string): string {
  return text.replace(/\r(?=\n|$)/g, '').replace(HARMFUL, escapeOne)
}

/** For text that must stay on one line, such as a name or an argument in an approval request. */
export function escapeLine(text: string): string {
  return text.replace(HARMFUL, escapeOne).replace(LINE_PARTS, escapeOne)
}

function escapeOne(char: string): string {
  return SHORT[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
