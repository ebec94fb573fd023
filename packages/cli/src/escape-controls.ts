// Makes text of models, tools, files and other people harmless for a terminal: it can neither steer it nor hide
// or reorder what a person reads. Nothing disappears: what is harmful is shown as an escape of JavaScript.

/** C0 but tab and line feed, DEL, C1, line separators, halves of surrogate pairs, and what turns the direction of writing. */
// oxlint-disable-next-line no-control-regex -- these are the characters that are looked for
const HARMFUL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Surrogate}\p{Bidi_Control}]/gu
const LINE_PARTS = /[\t\n]/g
const SHORT: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** A text of several lines: tabs and line breaks stay; that of Windows becomes a plain one. */
export function escapeControls(text: string): string {
  return text.replace(/\r(?=\n|$)/g, '').replace(HARMFUL, escapeOne)
}

/** A text that must stay on one line, as a name or an argument that is asked about. */
export function escapeLine(text: string): string {
  return text.replace(HARMFUL, escapeOne).replace(LINE_PARTS, escapeOne)
}

function escapeOne(char: string): string {
  return SHORT[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
