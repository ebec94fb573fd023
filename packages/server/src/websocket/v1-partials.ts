// The text of a running turn as version 1 shows it: the whole answer so far, at a limited rate. Time is passed in. A
// piece of text only costs its own length: the whole is only assembled when it is shown.

interface WrittenStep {
  readonly step: number
  readonly key: string
  text: string
}

interface Piece {
  readonly step: number
  readonly offset: number
  readonly text: string
}

export interface ShownText {
  /** Identifies the text in frame ids. */
  readonly key: string
  readonly text: string
}

export class Partials {
  readonly #intervalMs: number
  /** Texts of the turn's finished steps; `undefined` if the turn's beginning was not seen. */
  #earlier: readonly { readonly step: number; readonly text: string }[] | undefined
  #step: WrittenStep | undefined
  /** The frame key of the last text, which may still need to be shown after its step has ended. */
  #key = ''
  #hasNews = false
  #shown = ''
  #shownAtMs = Number.NEGATIVE_INFINITY

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** Starts a new turn without text. */
  beginTurn(): void {
    this.#earlier = []
    this.#step = undefined
    this.#hasNews = false
    this.#shown = ''
  }

  /** Switches to the text of this step. `key` identifies it in frame ids. */
  beginStep(step: number, key: string): void {
    this.#step = { step, key, text: '' }
  }

  handleText({ step: number, offset, text }: Piece): void {
    const step = this.#step
    if (step?.step !== number || this.#earlier === undefined) return
    step.text = offset === step.text.length ? step.text + text : step.text.slice(0, offset) + text
    this.#key = step.key
    this.#hasNews = true
  }

  /** Truncates the step's text. Text of an earlier step was shown, and is not retracted. */
  cutText({ step, keepChars }: { readonly step: number; readonly keepChars: number }): void {
    if (this.#step?.step === step) this.#step.text = this.#step.text.slice(0, keepChars)
  }

  /** Drops the step's text, which is repeated. The step may have finished. */
  dropStep(step: number): void {
    this.#earlier = this.#earlier?.filter((said) => said.step !== step)
    this.#step = undefined
    this.#hasNews = false
  }

  /** Keeps the step's text for good. */
  finishStep(): void {
    const { key, text, step = 0 } = this.#step ?? { key: this.#key, text: '' }
    this.#key = key
    this.#step = undefined
    if (this.#earlier === undefined || text === '') return
    this.#earlier = [...this.#earlier, { step, text }]
    this.#hasNews = true
  }

  endTurn(): void {
    this.#earlier = undefined
    this.#step = undefined
    this.#hasNews = false
  }

  /** Returns the text to show now, if it is time; with `force`, at any time. */
  take(nowMs: number, force = false): ShownText | undefined {
    if (!this.#hasNews || (!force && nowMs - this.#shownAtMs < this.#intervalMs)) return undefined
    this.#hasNews = false
    const text = this.#whole()
    if (text === '' || text === this.#shown) return undefined
    this.#shown = text
    this.#shownAtMs = nowMs
    return { key: `${this.#key}-p${text.length}`, text }
  }

  /** When `take` may next return something. */
  pollAtMs(): number | undefined {
    return this.#hasNews ? this.#shownAtMs + this.#intervalMs : undefined
  }

  #whole(): string {
    const texts = [...(this.#earlier ?? []).map(({ text }) => text), this.#step?.text ?? '']
    return texts
      .filter((text) => text !== '')
      .join('\n\n')
      .trim()
  }
}
