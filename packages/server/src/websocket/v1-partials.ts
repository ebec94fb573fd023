// The text of a running turn as version 1 shows it: the whole answer so far, not too often. Time is handed in. A piece of
// text costs no more than its own length: the whole is put together only when it is shown.

interface Attempt {
  readonly attempt: number
  readonly key: string
  text: string
}

interface Delta {
  readonly attempt: number
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
  #earlier: readonly string[] | undefined
  #attempt: Attempt | undefined
  /** The frame's key of the last text, which may still have to be shown when its attempt is over. */
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
    this.#attempt = undefined
    this.#hasNews = false
    this.#shown = ''
  }

  /** Only text of this attempt counts from now on. `key` names it in the ids of frames. */
  beginAttempt(attempt: number, key: string): void {
    this.#attempt = { attempt, key, text: '' }
  }

  handleDelta({ attempt: number, offset, text }: Delta): void {
    const attempt = this.#attempt
    if (attempt?.attempt !== number || this.#earlier === undefined) return
    attempt.text = offset === attempt.text.length ? attempt.text + text : attempt.text.slice(0, offset) + text
    this.#key = attempt.key
    this.#hasNews = true
  }

  /** What the attempt said is void; it comes again. */
  dropAttempt(): void {
    this.#attempt = undefined
    this.#hasNews = false
  }

  /** The attempt's text stands. */
  finishStep(text: string): void {
    if (this.#attempt) this.#key = this.#attempt.key
    this.#attempt = undefined
    if (this.#earlier === undefined || text === '') return
    this.#earlier = [...this.#earlier, text]
    this.#hasNews = true
  }

  endTurn(): void {
    this.#earlier = undefined
    this.#attempt = undefined
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
    const texts = [...(this.#earlier ?? []), this.#attempt?.text ?? '']
    return texts
      .filter((text) => text !== '')
      .join('\n\n')
      .trim()
  }
}
