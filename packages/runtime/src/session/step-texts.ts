// The texts of steps, assembled from a session's events and returned when each step ends.
import type { CallView, SessionEvent } from '@baton/core'

export interface StepText {
  readonly text: string
  /** Id of the answer. */
  readonly message: string
  readonly step: number
  /** An interrupt or a stop ended the step; `text` is the part that stays in the conversation. */
  readonly interrupted?: true
}

type Piece = StepText & { readonly offset: number }

export class StepTexts {
  /** Text of the step being written; there is at most one. */
  #written: { readonly message: string; readonly step: number; text: string } | undefined

  /** Whether a step has begun to write and has not ended. */
  get isWriting(): boolean {
    return this.#written !== undefined
  }

  /** Returns a step's text when it ends, unless it is blank. */
  take<Call extends CallView>(event: SessionEvent<Call>): StepText | undefined {
    switch (event.type) {
      case 'step-started':
      case 'step-reset':
        this.#written = undefined
        return undefined
      case 'text':
        this.#write(event)
        return undefined
      case 'text-cut':
        // Cuts apply to ended steps, too.
        if (this.#written && this.#isOf(event)) this.#written.text = this.#written.text.slice(0, event.keepChars)
        return undefined
      case 'step-finished': {
        const written = this.#written
        this.#written = undefined
        if (!written || written.text.trim() === '') return undefined
        return event.interrupted ? { ...written, interrupted: true } : written
      }
      default:
        return undefined
    }
  }

  #write({ message, step, offset, text }: Piece): void {
    if (!this.#written || !this.#isOf({ message, step })) this.#written = { message, step, text: '' }
    const { text: before } = this.#written
    if (offset <= before.length) this.#written.text = before.slice(0, offset) + text
  }

  #isOf({ message, step }: Pick<StepText, 'message' | 'step'>): boolean {
    return this.#written?.message === message && this.#written.step === step
  }
}
