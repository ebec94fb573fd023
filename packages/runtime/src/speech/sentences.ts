// Splits text into sentences for a voice while it is being written. The units, spoken or silent, depend only on the
// text and not on its pieces: a sentence is complete once enough of the following text is known, within a bound.
import { wholeEnd } from '@baton/core/internal'
import { cutPieces, extractSpeech } from './speech-text.ts'

/** Maximum UTF-16 units of a sentence; a longer one is cut at a word. */
export const SENTENCE_CHARS = 300
/** Maximum UTF-16 units of a line taken as a whole, such as a table row or code. */
export const WHOLE_LINE_CHARS = 1000
/** UTF-16 units after a full stop that may decide whether it ends a sentence. */
const LOOK_CHARS = 40

/** The context of a unit, from the text before it. */
export interface LineState {
  /** Marks that opened the surrounding code block; absent outside one. */
  readonly fence?: string
  /** The unit does not start a line. */
  readonly inLine?: true
  /** UTF-16 units before the unit. At 0, a JSON object is the model's whole answer, and silent. */
  readonly at?: number
}

export interface SpokenUnit {
  /** Number of UTF-16 units of the text it covers; at least 1. */
  readonly chars: number
  /** Words to say; empty for code, blank lines and marks. */
  readonly text: string
  /** The state after it. */
  readonly line: LineState
}

/** The first unit of `rest`; undefined if it depends on text that has not arrived. `isEnd`: the text is complete. */
export function takeUnit(rest: string, line: LineState, isEnd: boolean): SpokenUnit | undefined {
  if (rest === '') return undefined
  const isValue = line.fence === VALUE_FENCE || (line.at === 0 && checkValue(rest, isEnd))
  if (isValue === 'unknown') return undefined
  if (isValue) return { chars: rest.length, text: '', line: { fence: VALUE_FENCE } }
  if (line.fence !== undefined) return takeLine(rest, line, isEnd)
  const blank = BLANK.exec(rest.slice(0, WHOLE_LINE_CHARS))?.[0]
  if (blank !== undefined) return { chars: blank.length, text: '', line: {} }
  if (!line.inLine) {
    if (!isEnd && MAY_OPEN_FENCE.test(rest)) return undefined
    if (FENCE.test(rest) || WHOLE_LINE.test(rest)) return takeLine(rest, line, isEnd)
  }
  const chars = findEnd(rest, line, isEnd)
  if (chars === undefined) return undefined
  const covered = rest.slice(0, chars)
  return { chars, text: speak(covered, line), line: covered.endsWith('\n') ? {} : { inLine: true } }
}

/** The `fence` of an answer that is a JSON object; it is never closed. */
const VALUE_FENCE = '{'

/** Whether the text is a JSON object, like an answer for programs by an agent with an output schema. */
function checkValue(text: string, isEnd: boolean): boolean | 'unknown' {
  if (/^\s*\{\s*["}]/.test(text)) return true
  return !isEnd && text.length < LOOK_CHARS && /^\s*(?:\{\s*)?$/.test(text) ? 'unknown' : false
}

/** The rest of a line, or an empty one. */
const BLANK = /^[^\S\n]*\n/
const FENCE = /^ {0,3}(`{3,}|~{3,})/
const MAY_OPEN_FENCE = /^ {0,3}(?:`{0,2}|~{0,2})$/
/** A table row, or a link reference definition. */
const WHOLE_LINE = /^ {0,3}(?:\||\[[^\]\n]{1,200}\]:)/

function takeLine(rest: string, { fence, inLine }: LineState, isEnd: boolean): SpokenUnit | undefined {
  const end = rest.slice(0, WHOLE_LINE_CHARS).indexOf('\n') + 1
  if (end === 0 && !isEnd && rest.length < WHOLE_LINE_CHARS) return undefined
  const text = rest.slice(0, end || wholeEnd(rest, WHOLE_LINE_CHARS))
  const chars = text.length
  const mark = inLine ? undefined : FENCE.exec(text)?.[1]
  const after: LineState = end === 0 ? { inLine: true } : {}
  if (fence !== undefined) {
    const closes = mark?.startsWith(fence) === true && text.trim() === mark
    return { chars, text: '', line: closes ? after : { ...after, fence } }
  }
  return mark === undefined
    ? { chars, text: speak(text, {}), line: after }
    : { chars, text: '', line: { ...after, fence: mark } }
}

function speak(covered: string, { inLine }: LineState): string {
  // These marks open a code block only at the start of a line.
  const text = extractSpeech(inLine ? covered.replace(/^\s*[`~]{3,}/, '') : covered).replaceAll('\n', ' ')
  return SAYS_SOMETHING.test(text) ? text : ''
}

const SAYS_SOMETHING = /[\p{L}\p{N}\p{Extended_Pictographic}]/u

/** Markdown before the words of a line; the number of a list item is not a sentence by itself. */
const LINE_MARKS = /^\s*(?:>[ \t]?){0,9}(?:#{1,6}[ \t]+|[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?|\(?\d{1,3}[.)][ \t]+)?/

/** End of the first sentence, in UTF-16 units; undefined if not known yet. */
function findEnd(rest: string, { inLine }: LineState, isEnd: boolean): number | undefined {
  const marks = inLine ? '' : (LINE_MARKS.exec(rest.slice(0, LOOK_CHARS))?.[0] ?? '')
  let index = marks.length
  while (index < Math.min(rest.length, SENTENCE_CHARS)) {
    const found = checkPlace({ text: rest, isEnd, isHeading: marks.includes('#') }, index)
    if (found === 'unknown') return undefined
    if (found.ends) return found.next
    index = found.next
  }
  if (rest.length > SENTENCE_CHARS && (isEnd || rest.length >= SENTENCE_CHARS + LOOK_CHARS)) {
    const [piece = ''] = cutPieces(rest.slice(0, SENTENCE_CHARS + 1), SENTENCE_CHARS)
    return piece.length
  }
  return isEnd ? rest.length : undefined
}

interface Looked {
  readonly text: string
  readonly isEnd: boolean
  readonly isHeading: boolean
}

/**
 * `next`: where the sentence ends, or where to continue looking. `unknown`: it depends on text that has not arrived.
 */
type Checked = { readonly ends: boolean; readonly next: number } | 'unknown'

const STOPS = '.!?…‼⁇⁈⁉؟۔।॥。！？｡'
const CLOSERS = '"\'”’»›)]}*_`~」』）】》〉'
/** Marks that always end a sentence. */
const IS_WIDE = /[。！？｡।॥]/u
const EMOJI = /^(?:[ \t]{0,3}(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\uFE0F|\u200D))+/u

function checkPlace(looked: Looked, index: number): Checked {
  const { text, isEnd } = looked
  const char = text.charAt(index)
  if (char === '\n') return checkLineEnd(looked, index)
  if (!STOPS.includes(char)) return { ends: false, next: index + 1 }
  const last = Math.min(text.length, index + LOOK_CHARS)
  const isKnown = (place: number): boolean => isEnd || place < text.length || last < text.length
  let end = index + 1
  while (end < last && (STOPS + CLOSERS).includes(text.charAt(end))) end += 1
  if (!isKnown(end)) return 'unknown'
  const run = text.slice(index, end)
  const emoji = EMOJI.exec(text.slice(end, last))?.[0] ?? ''
  if (!isKnown(end + emoji.length) || endsInHalf(looked, end + emoji.length)) return 'unknown'
  const next = end + emoji.length
  const isOpen = isInMarks(text.slice(0, end))
  if (IS_WIDE.test(run) || (emoji !== '' && !isOpen)) return { ends: !isOpen, next }
  if (isOpen || !/^(?:\s|$)/.test(text.slice(next, next + 1))) return { ends: false, next: end }
  const follows = readFollowing(text.slice(next, last))
  if (follows === '' && !isKnown(last)) return 'unknown'
  if (run.startsWith('.') && !/^\.{2}/.test(run)) {
    const isShort = checkAbbreviation(text.slice(Math.max(0, index - LOOK_CHARS), index), follows, isKnown(last))
    if (isShort === 'unknown') return 'unknown'
    if (isShort) return { ends: follows === '', next }
  }
  return { ends: !/^\p{Ll}/u.test(follows), next }
}

/** Whether an emoji may follow that has not fully arrived. */
function endsInHalf({ text, isEnd }: Looked, place: number): boolean {
  return !isEnd && /^[ \t]{0,3}[\uD800-\uDBFF]?$/.test(text.slice(place))
}

/** The words after a full stop, or a new line. */
function readFollowing(text: string): string {
  return /^[^\S\n]*\n/.test(text) ? '\n' : text.trimStart()
}

/** Whether the place is in a link's text or in code, where a full stop ends no sentence. */
function isInMarks(text: string): boolean {
  return text.lastIndexOf('[') > text.lastIndexOf(']') || text.split('`').length % 2 === 0
}

/**
 * A line end ends the sentence, unless the text is only wrapped: then the next line begins with a lower-case letter.
 */
function checkLineEnd({ text, isEnd, isHeading }: Looked, index: number): Checked {
  const next = index + 1
  const follows = /^[ \t]{0,20}/.exec(text.slice(next))?.[0].length ?? 0
  const first = text.charAt(next + follows)
  if (first === '' && !isEnd) return 'unknown'
  return { ends: isHeading || !/\p{Ll}/u.test(first), next }
}

const ABBREVIATIONS: ReadonlySet<string> = new Set(
  (
    'mr mrs ms dr prof st sr jr vs approx gen col capt lt sgt hon rev dept est ' +
    'bzw ca evtl ggf inkl usw vgl zzgl zz hr fr str tel mio mrd geb sog allg bspw insb ' +
    'm mm mme mlle env ex sra srta ud uds pág dott sig'
  ).split(' '),
)
/** Abbreviations only when a number follows. */
const NUMBERED: ReadonlySet<string> = new Set('no nr fig p pp s art abs kap vol bd ch sec eq tab núm n'.split(' '))
const MONTHS = /^(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert)/
const MONTH_CHARS = 3

/** Whether the full stop after `before` belongs to its word: `Dr.`, `z. B.`, `J. K.`, `Nr. 5`, `3. Mai`. */
function checkAbbreviation(before: string, follows: string, isKnown: boolean): boolean | 'unknown' {
  const word = /(?:^|[\s("'„“«[*_])([\p{L}\p{N}.]+)$/u.exec(before)?.[1] ?? ''
  const small = word.toLowerCase()
  if (/^\d{1,2}$/.test(word)) {
    if (follows.length < MONTH_CHARS && follows !== '\n' && !isKnown) return 'unknown'
    return MONTHS.test(follows)
  }
  if (/^[\p{Lu}\p{Ll}]$/u.test(word)) return word !== 'I'
  if (/^(?:\p{L}{1,3}\.)+\p{L}{1,3}$/u.test(word)) return true
  return ABBREVIATIONS.has(small) || (NUMBERED.has(small) && /^\d/.test(follows))
}
