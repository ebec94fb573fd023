// A step while the model writes it. Tracks how much was emitted, so that each piece is emitted once and in order, from
// whichever arrives first: live frames, progress or the finished step.
import type { LiveFrame } from '../agent/front-session.ts'
import type { AssistantPart } from '../messages.ts'
import { wholeChars } from '../machine/size.ts'
import type { EventBody, EventCursor, MessageId } from './session-event.ts'

export interface WrittenStepOptions {
  readonly message: MessageId
  readonly step: number
  readonly attempt: number
  /** Prefix of its call ids, before the call's number. */
  readonly callPrefix: string
  /** The logged text at the start of the reading. */
  readonly progress?: string
}

type Piece = Exclude<LiveFrame, { readonly type: 'tool-progress' }>

export class WrittenStep {
  readonly message: MessageId
  readonly step: number
  readonly attempt: number
  readonly #callPrefix: string
  /** UTF-16 units emitted. */
  readonly #told = { text: 0, reasoning: 0 }
  /** UTF-16 units emitted of each call's input. */
  #inputs: number[] = []
  /** Text that a resuming reader already has, as far as the log contains it. */
  #resumed = ''
  /** Offset of the first piece after it. */
  #resumedAt = 0
  readonly #pieces = { text: new GrowingText(), reasoning: new GrowingText() }
  /** Inputs of calls, by index. */
  readonly #calls = new Map<number, { readonly name: string; readonly input: GrowingText }>()
  #progress: string

  constructor({ message, step, attempt, callPrefix, progress = '' }: WrittenStepOptions) {
    this.#progress = progress
    this.message = message
    this.step = step
    this.attempt = attempt
    this.#callPrefix = callPrefix
  }

  /** The cursor of a reader that has read this far. Created for each piece, so the common case is fast. */
  placeCursor(pos: number, since: number | undefined): EventCursor {
    const { attempt } = this
    const { text, reasoning } = this.#told
    if (since !== undefined && reasoning === 0 && this.#inputs.length === 0) return { pos, since, attempt, text }
    return {
      pos,
      ...(since !== undefined && { since }),
      attempt,
      text,
      ...(reasoning > 0 && { reasoning }),
      ...(this.#inputs.length > 0 && { inputs: [...this.#inputs] }),
    }
  }

  resume({ text = 0, reasoning = 0, inputs = [] }: EventCursor): void {
    this.#resumed = this.#progress.slice(0, text)
    this.#pieces.text = new GrowingText()
    Object.assign(this.#told, { text, reasoning })
    this.#resumedAt = text
    this.#inputs = [...inputs]
  }

  /** The text emitted so far, unless a reader resumed. */
  get text(): string {
    return this.#pieces.text.read()
  }

  /** Everything emitted so far, unless a reader resumed; reasoning comes first, as it was written. */
  frames(): readonly LiveFrame[] {
    const { attempt } = this
    const { text, reasoning } = this.#pieces
    const frames: LiveFrame[] = []
    if (reasoning.length > 0) frames.push({ type: 'reasoning-delta', attempt, offset: 0, text: reasoning.read() })
    if (text.length > 0) frames.push({ type: 'text-delta', attempt, offset: 0, text: text.read() })
    for (const [index, { name, input }] of this.#calls)
      frames.push({ type: 'call-delta', attempt, index, name, offset: 0, text: input.read() })
    return frames
  }

  take(piece: Piece): EventBody | undefined {
    const { message, step } = this
    switch (piece.type) {
      case 'text-delta':
        return this.write('text', piece.offset, piece.text)[0]
      case 'reasoning-delta':
        return this.write('reasoning', piece.offset, piece.text)[0]
      case 'call-delta':
        return this.#writeInput(piece)
      case 'server-tool':
        return { type: 'server-tool', message, step, name: piece.name, status: piece.status }
      default:
        return piece satisfies never
    }
  }

  /**
   * The part of this piece that was not emitted yet. A piece behind a gap waits for the finished step, which has all of
   * it.
   */
  write(type: 'text' | 'reasoning', offset: number, text: string): readonly EventBody[] {
    const told = this.#told[type]
    if (offset > told || offset + text.length <= told) return []
    this.#told[type] = offset + text.length
    const { message, step } = this
    const rest = text.slice(told - offset)
    this.#pieces[type].add(rest)
    return [{ type, message, step, offset: told, text: rest }]
  }

  /**
   * The rest of the step's text. If the model streamed something that is not in its final answer, such as thoughts,
   * only the common part stays.
   */
  finish(text: string): readonly EventBody[] {
    const keep = this.#countKept(text)
    if (keep === undefined) return this.#told.text > text.length ? this.cutTo(text.length) : this.write('text', 0, text)
    const { message, step } = this
    const cut = this.cutTo(keep)
    return text.length > keep ? [...cut, { type: 'text', message, step, offset: keep, text: text.slice(keep) }] : cut
  }

  /** UTF-16 units of the emitted text that the final text begins with; undefined if it has all of them. */
  #countKept(text: string): number | undefined {
    if (!text.startsWith(this.#resumed)) return countCommon(this.#resumed, text, 0)
    const written = this.#pieces.text
    const common = written.countCommon(text, this.#resumedAt)
    return common < written.length ? Math.min(text.length, this.#resumedAt + common) : undefined
  }

  /** Takes the logged text: emitted unless it was already live, and kept for a step that is never finished. */
  noteProgress(offset: number, text: string): readonly EventBody[] {
    this.#progress = this.#progress.slice(0, offset) + text
    return this.write('text', offset, text)
  }

  /** Ends the step with part of its progress. */
  salvage(textChars: number): { readonly text: string; readonly bodies: readonly EventBody[] } {
    const text = this.#progress.slice(0, wholeChars(this.#progress, textChars))
    return { text, bodies: this.finish(text) }
  }

  cutTo(keepChars: number): readonly EventBody[] {
    const { message, step } = this
    return this.#told.text > keepChars ? [{ type: 'text-cut', message, step, keepChars }] : []
  }

  #writeInput({ index, name, offset, text }: Extract<Piece, { readonly type: 'call-delta' }>): EventBody | undefined {
    const isNew = index >= this.#inputs.length
    const told = this.#inputs[index] ?? 0
    if (offset > told || (!isNew && offset + text.length <= told)) return undefined
    while (this.#inputs.length <= index) this.#inputs.push(0)
    this.#inputs[index] = Math.max(told, offset + text.length)
    const { message, step } = this
    const rest = text.slice(told - offset)
    let call = this.#calls.get(index)
    if (!call) this.#calls.set(index, (call = { name, input: new GrowingText() }))
    call.input.add(rest)
    return {
      type: 'call-writing',
      message,
      step,
      callId: `${this.#callPrefix}${index}`,
      name,
      offset: told,
      text: rest,
    }
  }
}

/** UTF-16 units of pieces to join at once. */
const JOINED_CHARS = 2048

/**
 * Text that grows in small pieces, in the memory of a whole string. A string built with `+=` keeps every piece and a
 * node for each, about ten times the text; a slice of it keeps all of it.
 */
export class GrowingText {
  readonly #chunks: string[] = []
  #pieces: string[] = []
  #pieceChars = 0
  /** UTF-16 units; changed only by `add`. */
  length = 0

  add(piece: string): void {
    this.#pieces.push(piece)
    this.#pieceChars += piece.length
    this.length += piece.length
    if (this.#pieceChars >= JOINED_CHARS) this.#join()
  }

  /** The text from an offset to the end. */
  read(from = 0): string {
    this.#join()
    // Most readers want the newest text, and a slice of the whole would retain the whole.
    let at = this.#chunks.length
    let start = this.length
    while (start > from) {
      at -= 1
      start -= this.#chunks[at]?.length ?? 0
    }
    return this.#chunks
      .slice(at)
      .join('')
      .slice(from - start)
  }

  /** Number of UTF-16 units that it has in common with `other` from `from` on, without half of a surrogate pair. */
  countCommon(other: string, from = 0): number {
    this.#join()
    let at = from
    for (const chunk of this.#chunks) {
      if (!other.startsWith(chunk, at)) return at - from + countCommon(chunk, other, at)
      at += chunk.length
    }
    return at - from
  }

  #join(): void {
    if (this.#pieces.length === 0) return
    this.#chunks.push(this.#pieces.join(''))
    this.#pieces = []
    this.#pieceChars = 0
  }
}

/** Number of UTF-16 units that a text has in common with another from `from` on, without half of a surrogate pair. */
export function countCommon(text: string, other: string, from: number): number {
  let at = 0
  while (at < text.length && text[at] === other[from + at]) at++
  const last = other.charCodeAt(from + at - 1)
  return last >= 0xd800 && last <= 0xdbff ? at - 1 : at
}

/** Matches the machine's ids for the calls of a step, so that a call has its id while the model writes it. */
export function nameCalls(birth: string, step: number): string {
  return `call_${birth === '' ? '' : `${birth}_`}${step}_`
}

export function joinReasoning(parts: readonly AssistantPart[]): string {
  let text = ''
  for (const part of parts) if (part.type === 'reasoning') text += part.text
  return text
}
