// The texts of steps, put together from a session's events; each is given once its step has ended.
import type { CallView, SessionEvent } from '@baton/core'

export interface StepText {
  readonly text: string
  /** The answer's id. */
  readonly message: string
  readonly step: number
  /** An interrupt or a stop ended the step: `text` is what stays in the conversation. */
  readonly interrupted?: true
}

type Piece = StepText & { readonly offset: number }

export class StepTexts {
  /** Text of the step that is being written; there is at most one. */
  #written: { readonly message: string; readonly step: number; text: string } | undefined

  /** A step has begun to say something, and has not ended. */
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
        // Steps that have ended are cut, too.
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
