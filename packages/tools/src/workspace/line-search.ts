// Finds the lines of a text that match an RE2 expression. The engine is linear in the text, multiplied by the pattern's
// size, so lines are searched in batches between which other work can run and the call can stop.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { RE2JS } from 're2js'
import type { CallBudget } from './call-budget.ts'
import { refused } from './refused.ts'
import { compose, hasTwoForms } from './text-bytes.ts'

/** Pattern instructions × characters of a line. At ~10 ns each, a line costs at most 0.3 s. */
const LINE_STEPS_MAX = 25_000_000
/** The same, for the lines between two turns of the event loop. */
const TURN_STEPS_MAX = 2_000_000

export interface LineMatch {
  readonly line: number
  readonly text: string
}

export interface LinesFound {
  readonly matches: readonly LineMatch[]
  /** Lines too long for this pattern, which were not searched. */
  readonly longLines: number
  /** The line not reached when the budget was spent; `undefined` at the end of the text. */
  readonly stoppedAt: number | undefined
}

export class LineSearch {
  readonly #expression: RE2JS
  /** Whether lines are converted to Unicode's composed form, like the pattern. */
  readonly #isComposed: boolean
  readonly #size: number
  #stepsLeft = TURN_STEPS_MAX

  /** @throws BatonError `invalid_arguments`, telling the model what is wrong with its pattern */
  constructor(pattern: string, patternCharactersMax: number) {
    if (pattern.length > patternCharactersMax)
      throw refused(
        'invalid_arguments',
        `the pattern has ${pattern.length} characters; the maximum is ${patternCharactersMax}`,
      )
    try {
      this.#isComposed = hasTwoForms(pattern)
      this.#expression = RE2JS.compile(compose(pattern))
    } catch (cause) {
      const why = cause instanceof Error ? cause.message.replace('error parsing regexp: ', '') : String(cause)
      throw refused(
        'invalid_arguments',
        `the pattern ${JSON.stringify(pattern)} is not a valid RE2 expression: ${why}. Escape literal special characters with a backslash; look-around and back-references are not supported.`,
      )
    }
    this.#size = this.#expression.programSize()
  }

  /** Searches line by line from `startLine`, counted from 1; a line ends before `\n` or `\r\n`. */
  async find(text: string, startLine: number, budget: CallBudget): Promise<LinesFound> {
    const matches: LineMatch[] = []
    let longLines = 0
    let line = 0
    for (let start = 0; start < text.length;) {
      const newline = text.indexOf('\n', start)
      const end = newline === -1 ? text.length : newline
      line++
      if (line >= startLine) {
        if (await this.#mustStop(end - start, budget)) return { matches, longLines, stoppedAt: line }
        const plain = text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end)
        if (this.#size * plain.length > LINE_STEPS_MAX) longLines++
        else if (this.#expression.test(this.#compose(plain))) matches.push({ line, text: plain })
      }
      start = end + 1
    }
    return { matches, longLines, stoppedAt: undefined }
  }

  /** Offset of the first match in a line that `find` returned. */
  startIn(line: string): number {
    const matcher = this.#expression.matcher(this.#compose(line))
    return matcher.find() ? matcher.start() : 0
  }

  #compose(line: string): string {
    return this.#isComposed ? compose(line) : line
  }

  async #mustStop(characters: number, budget: CallBudget): Promise<boolean> {
    this.#stepsLeft -= this.#size * (characters + 1)
    if (this.#stepsLeft >= 0) return false
    this.#stepsLeft = TURN_STEPS_MAX
    await nextTurn()
    return budget.isSpent()
  }
}
