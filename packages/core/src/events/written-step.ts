// A step while the model writes it. Tracks how much was emitted, so that each piece is emitted once and in order, from
// whichever arrives first: live frames, progress or the finished step.
import type { LiveFrame } from '../agent/session-api.ts'
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
  readonly #told = { text: 0, reasoning: 0 }
  /** The emitted text in pieces, to compare with the finished step. */
  readonly #pieces: { readonly offset: number; readonly text: string }[] = []
  #inputs: number[] = []
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
    this.#told.text = text
    if (text > 0) this.#pieces.push({ offset: 0, text: this.#progress.slice(0, text) })
    this.#told.reasoning = reasoning
    this.#inputs = [...inputs]
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
    if (type === 'text') this.#pieces.push({ offset: told, text: rest })
    return [{ type, message, step, offset: told, text: rest }]
  }

  /**
   * The rest of the step's text. If the model streamed something that is not in its final answer, such as thoughts,
   * only the common part stays.
   */
  finish(text: string): readonly EventBody[] {
    const other = this.#pieces.find((piece) => !text.startsWith(piece.text, piece.offset))
    if (!other) return this.#told.text > text.length ? this.cutTo(text.length) : this.write('text', 0, text)
    const keep = Math.min(text.length, other.offset + countCommon(other.text, text.slice(other.offset)))
    const { message, step } = this
    const cut = this.cutTo(keep)
    // The offset stays at the furthest point that was sent: a reader that resumes from its cursor receives it once.
    this.#told.text = Math.max(this.#told.text, text.length)
    return text.length > keep ? [...cut, { type: 'text', message, step, offset: keep, text: text.slice(keep) }] : cut
  }

  /** Takes the logged text: emitted unless it was already live, and kept for a step that is never finished. */
  noteProgress(offset: number, text: string): readonly EventBody[] {
    this.#progress = this.#progress.slice(0, offset) + text
    return this.write('text', offset, text)
  }

  /** Ends the step with part of its progress. */
  salvage(textChars: number): { readonly text: string; readonly bodies: readonly EventBody[] } {
    const text = this.#progress.slice(0, textChars)
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

/** Length of the common prefix of two texts in UTF-16 units, without half of a pair. */
function countCommon(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const last = one.charCodeAt(at - 1)
  return last >= 0xd800 && last <= 0xdbff ? at - 1 : at
}
