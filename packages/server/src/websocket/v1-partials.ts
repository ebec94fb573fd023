// The text of a running turn as version 1 shows it: the whole answer so far, not too often. Time is handed in. A piece of
// text costs no more than its own length: the whole is put together only when it is shown.

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
  /** Names it in the ids of frames. */
  readonly key: string
  readonly text: string
}

export class Partials {
  readonly #intervalMs: number
  /** Texts of the turn's finished steps; undefined where the turn's beginning was not seen. */
  #earlier: readonly { readonly step: number; readonly text: string }[] | undefined
  #step: WrittenStep | undefined
  /** The frame's key of the last text, which may still have to be shown when its step is over. */
  #key = ''
  #hasNews = false
  #shown = ''
  #shownAtMs = Number.NEGATIVE_INFINITY

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** A new turn: nothing was said yet. */
  beginTurn(): void {
    this.#earlier = []
    this.#step = undefined
    this.#hasNews = false
    this.#shown = ''
  }

  /** Only text of this step counts from now on. `key` names it in the ids of frames. */
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

  /** Only so much of the text stays. That of a step before was shown, and is not taken back. */
  cutText({ step, keepChars }: { readonly step: number; readonly keepChars: number }): void {
    if (this.#step?.step === step) this.#step.text = this.#step.text.slice(0, keepChars)
  }

  /** Voids the step's text, which comes again. The step may have finished. */
  dropStep(step: number): void {
    this.#earlier = this.#earlier?.filter((said) => said.step !== step)
    this.#step = undefined
    this.#hasNews = false
  }

  /** The step's text stands. */
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

  /** The text to show now, if it is time; `force`: whatever the time. */
  take(nowMs: number, force = false): ShownText | undefined {
    if (!this.#hasNews || (!force && nowMs - this.#shownAtMs < this.#intervalMs)) return undefined
    this.#hasNews = false
    const text = this.#whole()
    if (text === '' || text === this.#shown) return undefined
    this.#shown = text
    this.#shownAtMs = nowMs
    return { key: `${this.#key}-p${text.length}`, text }
  }

  /** When `take` may have something. */
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
