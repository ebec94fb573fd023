// Texts of a turn so far, by step: the answer of an interrupted turn.
import { wholeChars } from '../machine/cut-parts.ts'
import type { FactOf } from '../machine/fact.ts'
import { TEXT_SEPARATOR } from '../machine/turn.ts'

export interface StepText {
  readonly step: number
  readonly text: string
}

export class TurnTexts {
  #steps: readonly StepText[]

  constructor(steps: readonly StepText[] = []) {
    this.#steps = steps
  }

  note(step: number, text: string): void {
    if (text !== '') this.#steps = [...this.#steps, { step, text }]
  }

  /** Cuts the texts of steps; an answer that was not accepted leaves none. */
  cut(fact: FactOf<'answer-cut' | 'output-refused'>): void {
    const cuts = fact.type === 'answer-cut' ? fact.cuts : [{ step: fact.step, keepChars: 0 }]
    this.#steps = this.#steps.map(({ step, text }) => {
      const keepChars = cuts.find((cut) => cut.step === step)?.keepChars ?? text.length
      return { step, text: text.slice(0, wholeChars(text, keepChars)) }
    })
  }

  join(): string {
    return this.#steps
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .join(TEXT_SEPARATOR)
  }
}
