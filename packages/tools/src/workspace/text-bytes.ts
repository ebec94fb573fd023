// Encoding of text files: UTF-8, or UTF-16 with a byte order mark. Reads no files itself.

export interface TextForm {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
  /** Whether the file starts with a byte order mark; UTF-16 always does here. */
  readonly hasMark: boolean
}

const SNIFFED_BYTES = 8000
const MARK = '\uFEFF'

/**
 * The encoding shown by the first bytes; `undefined` if binary. As in git, a NUL among the first bytes means binary.
 */
export function readTextForm(bytes: Uint8Array): TextForm | undefined {
  const [first, second, third, fourth] = bytes
  if (first === 0xff && second === 0xfe && !(third === 0 && fourth === 0))
    return { encoding: 'utf-16le', hasMark: true }
  if (first === 0xfe && second === 0xff) return { encoding: 'utf-16be', hasMark: true }
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return undefined
  return { encoding: 'utf-8', hasMark: first === 0xef && second === 0xbb && third === 0xbf }
}

/**
 * Decodes the text without its mark.
 * @throws TypeError if `fatal` and the bytes do not have this encoding; otherwise invalid ones become U+FFFD
 */
export function decodeText(bytes: Uint8Array, { encoding }: TextForm, fatal: boolean): string {
  return new TextDecoder(encoding, { fatal }).decode(bytes)
}

/** Encodes well-formed text, with the form's byte order mark if it has one. */
export function encodeText(text: string, { encoding, hasMark }: TextForm): Buffer {
  const marked = hasMark && !text.startsWith(MARK) ? MARK + text : text
  if (encoding === 'utf-8') return Buffer.from(marked, 'utf8')
  const bytes = Buffer.from(marked, 'utf16le')
  return encoding === 'utf-16le' ? bytes : bytes.swap16()
}

/**
 * Whether the bytes are valid UTF-16 with NULs that UTF-8 would not have: those of ASCII characters are all on one
 * side.
 */
export function isUnmarkedUtf16(bytes: Uint8Array): boolean {
  if (bytes.length % 2 !== 0) return false
  const seen = bytes.subarray(0, SNIFFED_BYTES)
  const isFirst = seen.some((byte, index) => byte === 0 && index % 2 === 0)
  const isSecond = seen.some((byte, index) => byte === 0 && index % 2 === 1)
  if (isFirst === isSecond) return false
  try {
    const text = new TextDecoder(isSecond ? 'utf-16le' : 'utf-16be', { fatal: true }).decode(bytes)
    return !NO_TEXT.test(text)
  } catch {
    return false
  }
}

/** Characters that do not occur in text, including unassigned ones. */
const NO_TEXT = /(?!\s)\p{Cc}|\p{Cn}|\p{Co}/u

export type LineEnds = '\n' | '\r\n' | '\r'

/** The line ends that a text uses throughout; `undefined` if it mixes them or has none. */
export function readLineEnds(text: string): LineEnds | undefined {
  const hasCrLf = text.includes('\r\n')
  const hasLf = /(^|[^\r])\n/.test(text)
  if (!hasCrLf && !hasLf) return text.includes('\r') ? '\r' : undefined
  if (hasCrLf === hasLf) return undefined
  return hasCrLf ? '\r\n' : '\n'
}

/** Converts line ends; returns the text as is if they are unknown or LF. */
export function withLineEnds(text: string, ends: LineEnds | undefined): string {
  return ends === undefined || ends === '\n' ? text : text.replaceAll(/\r?\n/g, ends)
}

/** Maximum marks on one letter: Unicode's own limit is 30 (UAX 15, stream-safe text). Reordering more is quadratic. */
const MARKS_MAX = 30
const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MARKS_MAX + 1}}`, 'u')

/**
 * Converts to Unicode's composed form. Text with more than 30 marks on a letter, which no writing system has, is kept
 * as is.
 */
export function compose(text: string): string {
  return TOO_MANY_MARKS.test(text) ? text : text.normalize('NFC')
}

/** Whether Unicode can write a text in two ways: `é` as one character, or as `e` and an accent. */
export function hasTwoForms(text: string): boolean {
  return !TOO_MANY_MARKS.test(text) && text.normalize('NFC') !== text.normalize('NFD')
}
