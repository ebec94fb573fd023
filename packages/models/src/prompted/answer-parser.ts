// Tells text from calls while an answer comes in pieces. Marks never reach the text, however the pieces are cut.
import type { Mark, PromptedFormat, WrittenCall } from './formats.ts'

export interface ParsedCall extends WrittenCall {
  readonly type: 'call'
}

export type Parsed =
  | { readonly type: 'text'; readonly text: string }
  | ParsedCall
  /** What stood between the marks does not read as calls. */
  | { readonly type: 'malformed' }

export interface AnswerParser {
  push(piece: string): void
  /** After the last piece. True when a call was open: it was cut off. */
  end(): boolean
}

/** Characters of one call; a longer one reads as none. */
const CALL_CHARS = 1024 * 1024

/**
 * `onParsed` hears of each thing as soon as it is certain. White space before a call is dropped, else nothing is. Where plain
 * JSON may be a call, `isTool` tells by the name.
 */
export function createAnswerParser(
  format: PromptedFormat,
  onParsed: (parsed: Parsed) => void,
  isTool: (name: string) => boolean = () => false,
): AnswerParser {
  const state: ParserState = {
    format,
    onParsed,
    isTool,
    held: '',
    mark: undefined,
    gap: '',
    end: '',
    passed: 0,
    isStart: true,
    isWhole: false,
  }
  return {
    push: (piece) => {
      if (waits(state, piece)) return
      state.held += piece
      while (advance(state));
    },
    end: () => finish(state),
  }
}

/** Inside of a call only its last characters are looked at: looking at all of it for each piece costs the square. */
function waits(state: ParserState, piece: string): boolean {
  const { mark, held } = state
  if (!mark?.close || held.length + piece.length > CALL_CHARS) return false
  const end = state.end + piece
  state.end = end.slice(-mark.close.length)
  if (end.includes(mark.close)) return false
  state.held += piece
  return true
}

interface ParserState {
  readonly format: PromptedFormat
  readonly onParsed: (parsed: Parsed) => void
  readonly isTool: (name: string) => boolean
  /** Not decided yet. */
  held: string
  /** The call that is open. */
  mark: Mark | undefined
  /** White space before the open call: part of the text when it turns out to be none. */
  gap: string
  /** The last characters of `held` while a call is open; as many as its closing mark has. */
  end: string
  /** Up to here no closing mark of the open call stands. */
  passed: number
  /** Nothing but white space has come. */
  isStart: boolean
  /** The answer may be calls as a whole: that is seen at its end. */
  isWhole: boolean
}

/** False when more must come first. */
function advance(state: ParserState): boolean {
  if (state.isWhole) return false
  if (state.mark) return closeCall(state, state.mark)
  if (state.isStart && !decideStart(state)) return false
  const next = firstMark(state)
  if (next) {
    const before = state.held.slice(0, next.at)
    const said = before.trimEnd()
    tell(state, said)
    state.gap = before.slice(said.length)
    state.held = state.held.slice(next.at + next.mark.open.length)
    state.mark = next.mark
    state.passed = 0
    return true
  }
  const safe = safeLength(state)
  tell(state, state.held.slice(0, safe))
  state.held = state.held.slice(safe)
  return false
}

function decideStart(state: ParserState): boolean {
  const begun = state.held.trimStart()
  if (begun === '') return false
  const { wholeAnswer = [], marks } = state.format
  state.isStart = false
  // A mark may begin as a whole answer does.
  const isMark = marks.some(({ open }) => begun.startsWith(open) || open.startsWith(begun))
  state.isWhole = !isMark && wholeAnswer.some((start) => begun.startsWith(start))
  if (isMark && begun.length < longestMark(state)) state.isStart = !marks.some(({ open }) => begun.startsWith(open))
  return !state.isWhole && !state.isStart
}

function longestMark({ format }: ParserState): number {
  return Math.max(...format.marks.map(({ open }) => open.length))
}

function firstMark({ format, held }: ParserState): { readonly mark: Mark; readonly at: number } | undefined {
  const found = format.marks.map((mark) => ({ mark, at: held.indexOf(mark.open) })).filter(({ at }) => at >= 0)
  return found.toSorted((one, other) => one.at - other.at)[0]
}

/** Up to where the text cannot be the beginning of a mark, nor white space before one. */
function safeLength({ format, held }: ParserState): number {
  let safe = held.length
  for (const { open } of format.marks)
    for (let length = Math.min(open.length - 1, held.length); length > 0; length--)
      if (held.endsWith(open.slice(0, length))) {
        safe = Math.min(safe, held.length - length)
        break
      }
  return held.slice(0, safe).trimEnd().length
}

function closeCall(state: ParserState, mark: Mark): boolean {
  const { held } = state
  const at = mark.close === undefined ? -1 : held.indexOf(mark.close, state.passed)
  const isLong = held.length > CALL_CHARS
  // What a call writes into a file may have the mark in it.
  if (at >= 0 && !isLong && mark.mayBeText !== true && endsInText(held.slice(0, at))) {
    state.passed = at + 1
    return true
  }
  if (at < 0 && !isLong) {
    state.end = mark.close === undefined ? '' : held.slice(-mark.close.length)
    state.passed = Math.max(0, held.length - (mark.close ?? '').length)
    return false
  }
  const inside = at < 0 ? held : held.slice(0, at)
  state.held = at < 0 ? '' : held.slice(at + (mark.close ?? '').length)
  state.mark = undefined
  tellCalls(state, inside, mark)
  return true
}

/** Whether a text of JSON is open at the end: it has an odd number of quotes. */
function endsInText(json: string): boolean {
  return (json.replaceAll(/\\[^]/g, '').match(/"/g)?.length ?? 0) % 2 === 1
}

function tellCalls({ format, onParsed, isTool, gap }: ParserState, inside: string, mark: Mark): void {
  const isCall = mark.mayBeText ? isTool : undefined
  const calls = inside.length > CALL_CHARS ? undefined : format.readCalls(inside, isCall)
  if (calls) for (const call of calls) onParsed({ type: 'call', ...call })
  else if (mark.mayBeText) onParsed({ type: 'text', text: `${gap}${mark.open}${inside}${mark.close ?? ''}` })
  else onParsed({ type: 'malformed' })
}

function tell({ onParsed }: ParserState, text: string): void {
  if (text !== '') onParsed({ type: 'text', text })
}

function finish(state: ParserState): boolean {
  const { format, held, mark, gap, onParsed, isTool } = state
  state.held = ''
  if (mark) {
    // One without a closing mark, or whose mark the model forgot, may be whole.
    const calls = format.readCalls(held, mark.mayBeText ? isTool : undefined)
    if (calls) for (const call of calls) onParsed({ type: 'call', ...call })
    else if (mark.mayBeText) tell(state, `${gap}${mark.open}${held}`)
    return calls === undefined && mark.mayBeText !== true
  }
  const calls = state.isWhole ? format.readCalls(held, isTool) : undefined
  if (calls) for (const call of calls) onParsed({ type: 'call', ...call })
  else tell(state, held)
  return false
}
