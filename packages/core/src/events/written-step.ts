// A step while the model writes it: how much of it was told, so that each piece is told once, in its order, from whichever
// of live frames, progress and the finished step it comes first.
import type { LiveFrame } from '../agent/session-api.ts'
import type { EventBody, EventCursor, MessageId } from './session-event.ts'

export interface WrittenStepInit {
  readonly message: MessageId
  readonly step: number
  readonly attempt: number
  /** Before the number of a call in its id. */
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
  /** The text that was told, piece by piece, to compare it with the finished step. */
  readonly #pieces: { readonly offset: number; readonly text: string }[] = []
  #inputs: number[] = []
  #progress: string

  constructor({ message, step, attempt, callPrefix, progress = '' }: WrittenStepInit) {
    this.#progress = progress
    this.message = message
    this.step = step
    this.attempt = attempt
    this.#callPrefix = callPrefix
  }

  /** The cursor of a reader that has read so far: made for each piece, so that the usual one is made at once. */
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

  /** The part of this piece that was not sent yet. A piece behind a gap waits for the finished step, which has it all. */
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
   * The rest of the step's text. Where a model streamed something else than its answer has, as thoughts that turn out to be
   * none of the text, only what both have stays.
   */
  finish(text: string): readonly EventBody[] {
    const other = this.#pieces.find((piece) => !text.startsWith(piece.text, piece.offset))
    if (!other) return this.#told.text > text.length ? this.cutTo(text.length) : this.write('text', 0, text)
    const keep = Math.min(text.length, other.offset + countCommon(other.text, text.slice(other.offset)))
    const { message, step } = this
    const cut = this.cutTo(keep)
    // The offset stays at the furthest point that was sent: a reader that goes on from its cursor hears of it once.
    this.#told.text = Math.max(this.#told.text, text.length)
    return text.length > keep ? [...cut, { type: 'text', message, step, offset: keep, text: text.slice(keep) }] : cut
  }

  /** Takes the logged text: sent unless it was sent live, and kept for a step that is never finished. */
  noteProgress(offset: number, text: string): readonly EventBody[] {
    this.#progress = this.#progress.slice(0, offset) + text
    return this.write('text', offset, text)
  }

  /** The step ends with so much of its progress. */
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

/** UTF-16 units that two texts begin with alike, without half of a pair. */
function countCommon(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const last = one.charCodeAt(at - 1)
  return last >= 0xd800 && last <= 0xdbff ? at - 1 : at
}
