// How bytes of a file stand for text: UTF-8, or UTF-16 with a byte order mark. It reads no files.

export interface TextForm {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
  /** Whether a byte order mark comes first; UTF-16 always has one here. */
  readonly hasMark: boolean
}

const SNIFFED_BYTES = 8000
const MARK = '\uFEFF'

/** The form that the first bytes show. Undefined: it is binary. As git does, a NUL among the first bytes means binary. */
export function readTextForm(bytes: Uint8Array): TextForm | undefined {
  const [first, second, third, fourth] = bytes
  if (first === 0xff && second === 0xfe && !(third === 0 && fourth === 0))
    return { encoding: 'utf-16le', hasMark: true }
  if (first === 0xfe && second === 0xff) return { encoding: 'utf-16be', hasMark: true }
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) return undefined
  return { encoding: 'utf-8', hasMark: first === 0xef && second === 0xbb && third === 0xbf }
}

/**
 * The text without its mark.
 * @throws TypeError for bytes that are not of this form, if `fatal`; they become U+FFFD otherwise
 */
export function decodeText(bytes: Uint8Array, { encoding }: TextForm, fatal: boolean): string {
  return new TextDecoder(encoding, { fatal }).decode(bytes)
}

/** The bytes of a well-formed text, with the mark that the form has. */
export function encodeText(text: string, { encoding, hasMark }: TextForm): Buffer {
  const marked = hasMark && !text.startsWith(MARK) ? MARK + text : text
  if (encoding === 'utf-8') return Buffer.from(marked, 'utf8')
  const bytes = Buffer.from(marked, 'utf16le')
  return encoding === 'utf-16le' ? bytes : bytes.swap16()
}

/** Bytes that are whole UTF-16, with NULs as no UTF-8 has them: its ASCII characters have theirs on one side. */
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

/** Characters that no text has, unassigned ones among them. */
const NO_TEXT = /(?!\s)\p{Cc}|\p{Cn}|\p{Co}/u

export type LineEnds = '\n' | '\r\n' | '\r'

/** The line ends that a text has throughout; undefined where it has several kinds, or none. */
export function readLineEnds(text: string): LineEnds | undefined {
  const hasCrLf = text.includes('\r\n')
  const hasLf = /(^|[^\r])\n/.test(text)
  if (!hasCrLf && !hasLf) return text.includes('\r') ? '\r' : undefined
  if (hasCrLf === hasLf) return undefined
  return hasCrLf ? '\r\n' : '\n'
}

/** The text with these line ends; as it is, where they are unknown or LF. */
export function withLineEnds(text: string, ends: LineEnds | undefined): string {
  return ends === undefined || ends === '\n' ? text : text.replaceAll(/\r?\n/g, ends)
}

/** Marks on one letter: Unicode's own bound is 30 (UAX 15, stream-safe text). To put more in order takes the square of their number. */
const MARKS_MAX = 30
const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MARKS_MAX + 1}}`, 'u')

/** In Unicode's composed form. A text that no writing system has, with more than 30 marks on a letter, stays as it is. */
export function compose(text: string): string {
  return TOO_MANY_MARKS.test(text) ? text : text.normalize('NFC')
}

/** Whether Unicode writes a text in two ways: `é` as one character, or as `e` and an accent. */
export function hasTwoForms(text: string): boolean {
  return !TOO_MANY_MARKS.test(text) && text.normalize('NFC') !== text.normalize('NFD')
}
