// JSON Schema patterns without backtracking: tests untrusted texts in counted steps, at most the pattern's size per
// character. The syntax is JavaScript's; the engine's RegExp only judges single characters.
import { BatonError, isBatonError } from '../errors.ts'

/** Maximum states of one pattern; `(ab){0,65535}` has three times as many as repetitions. */
const STATES_MAX = 150_000
/** A single character with more repetitions is counted, not expanded. */
const WRITTEN_OUT_MAX = 100
const GROUPS_MAX = 200
/** Error text for a pattern with too many states. */
const TOO_MUCH = 'too much'

type State =
  | { readonly type: 'one'; readonly reads: Reads; next: number }
  | { readonly type: 'run'; readonly reads: Reads; readonly min: number; readonly max: number; next: number }
  | { readonly type: 'ways'; readonly next: number[] }
  | { readonly type: 'place'; readonly holds: (text: string, at: number) => boolean; next: number }
  | { readonly type: 'look'; readonly from: number; readonly isWanted: boolean; next: number }
  | { readonly type: 'end' }

type Reads = (char: string) => boolean

/** Takes the next state, and returns the state that it begins with. */
type Part = (states: State[], next: number) => number

/** A part, and what it reads if it is a single character. */
interface Piece {
  readonly part: Part
  readonly reads?: Reads
}

/** The interface that ajv expects of an expression. */
export interface LinearPattern {
  test(text: string): boolean
  /** Ajv identifies an expression by it. */
  toString(): string
}

/**
 * @param spend gets the number of steps before they run, and may throw
 * @throws SyntaxError for a malformed pattern, BatonError `invalid_schema` for a backreference, a lookbehind or a pattern that is too large
 */
export function createLinearPattern(pattern: string, spend: (steps: number) => void): LinearPattern {
  const { states, from } = readStates(pattern)
  return {
    test: (text) => runStates({ states, text, spend }, from, 0, false),
    toString: () => `/${pattern}/u`,
  }
}

export interface PatternMeasure {
  readonly states: number
  /** Why its time is unbounded, such as `a backreference`; undefined if it is bounded. */
  readonly why?: string
}

/** @throws SyntaxError */
export function measurePattern(pattern: string): PatternMeasure {
  try {
    return { states: readStates(pattern).states.length }
  } catch (cause) {
    if (!isBatonError(cause)) throw cause
    const { what } = cause.data
    // At most this many states exist before a pattern is refused.
    return { states: what === TOO_MUCH ? STATES_MAX : 0, why: typeof what === 'string' ? what : cause.message }
  }
}

/** Why a pattern's time is unbounded; undefined if it is bounded. @throws SyntaxError */
export function findUnbounded(pattern: string): string | undefined {
  return measurePattern(pattern).why
}

function readStates(pattern: string): { readonly states: readonly State[]; readonly from: number } {
  // Its error gives the best description of the fault.
  void new RegExp(pattern, 'u')
  const states: State[] = [{ type: 'end' }]
  return { from: new PatternReader(pattern).read()(states, 0), states }
}

interface Run {
  readonly states: readonly State[]
  readonly text: string
  readonly spend: (steps: number) => void
}

/** Whether the states match at `at`, or anywhere after it. */
function runStates(run: Run, from: number, at: number, isHere: boolean): boolean {
  const { states, text, spend } = run
  let now: number[] = []
  // The position at which each state was entered last.
  const entered = new Map<number, number>()
  const counts = new RunCounts()
  let read = 0
  /** Returns true at the end of the pattern. */
  const enter = (first: number, place: number, into: number[]): boolean => {
    const open = [first]
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      if (entered.get(number) === place) continue
      entered.set(number, place)
      spend(1)
      const state = states[number]
      if (state?.type === 'end') return true
      if (state?.type === 'one') into.push(number)
      else if (state?.type === 'run') {
        if (counts.begin(number, state, read)) into.push(number)
        if (state.min === 0) open.push(state.next)
      } else if (state?.type === 'ways') pushAll(state.next, open)
      else if (state?.type === 'place' && state.holds(text, place)) open.push(state.next)
      else if (state?.type === 'look' && runStates(run, state.from, place, true) === state.isWanted)
        open.push(state.next)
    }
    return false
  }
  if (enter(from, at, now)) return true
  for (let place = at; place < text.length;) {
    const char = String.fromCodePoint(text.codePointAt(place) ?? 0)
    place += char.length
    read += 1
    const next: number[] = []
    for (const number of now) {
      const state = states[number]
      spend(1)
      if (state?.type === 'one' && state.reads(char) && enter(state.next, place, next)) return true
      if (state?.type !== 'run') continue
      const step = counts.step(number, state, { read, fits: state.reads(char) })
      if (step.goesOn) next.push(number)
      if (step.mayEnd && enter(state.next, place, next)) return true
    }
    if (!isHere && enter(from, place, next)) return true
    if (next.length === 0 && isHere) return false
    now = next
  }
  return false
}

/** Avoids a spread call, which fails with very many arguments. */
function pushAll(from: readonly number[], into: number[]): void {
  for (const one of from) into.push(one)
}

interface RunLimits {
  readonly min: number
  readonly max: number
}

/** Characters read by each repeat, for every place where it began, oldest first. */
class RunCounts {
  readonly #begun = new Map<number, { readonly at: number[]; first: number }>()

  /** @param read characters before it @returns whether it was not yet running */
  begin(number: number, { max }: RunLimits, read: number): boolean {
    const known = this.#begun.get(number) ?? { at: [], first: 0 }
    this.#begun.set(number, known)
    const { at, first } = known
    // Without an upper limit the oldest run covers all later ones; it ends only if it cannot read this character.
    if (max === Infinity && at.length - first > 1) at[at.length - 1] = read
    else at.push(read)
    return first === at.length - 1
  }

  /** Advances by one character. A run that has just begun has not read it. */
  step(
    number: number,
    { min, max }: RunLimits,
    { read, fits }: { readonly read: number; readonly fits: boolean },
  ): { readonly goesOn: boolean; readonly mayEnd: boolean } {
    const known = this.#begun.get(number)
    if (!known) return { goesOn: false, mayEnd: false }
    const { at } = known
    const isOver = (begun: number): boolean => begun < read && (!fits || read - begun > max)
    while (known.first < at.length && isOver(at[known.first] ?? read)) known.first += 1
    const oldest = at[known.first]
    return { goesOn: oldest !== undefined, mayEnd: oldest !== undefined && read > oldest && read - oldest >= min }
  }
}

const PLACES: Readonly<Record<string, (text: string, at: number) => boolean>> = {
  '^': (_text, at) => at === 0,
  $: (text, at) => at === text.length,
  '\\b': (text, at) => isWord(text[at - 1]) !== isWord(text[at]),
  '\\B': (text, at) => isWord(text[at - 1]) === isWord(text[at]),
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /^\w$/.test(char)
}

/** Parses JavaScript's syntax with the flag `u`; the pattern is known to be legal. */
class PatternReader {
  readonly #pattern: string
  #at = 0
  #depth = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  read(): Part {
    const ways: Part[] = [this.#readSequence()]
    while (this.#take('|')) ways.push(this.#readSequence())
    if (ways.length > STATES_MAX) throw this.#refuse(TOO_MUCH)
    const [only] = ways
    return only && ways.length === 1 ? only : joinWays(ways)
  }

  #readSequence(): Part {
    const parts: Part[] = []
    while (this.#at < this.#pattern.length && !/^[|)]/.test(this.#pattern[this.#at] ?? ''))
      parts.push(this.#readRepeated(this.#readPiece()))
    return (states, next) => parts.reduceRight((behind, part) => part(states, behind), next)
  }

  #readPiece(): Piece {
    if (this.#take('(')) return { part: this.#readGroup() }
    const [source] = this.#match(
      /\\[bB]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u.{4}|\\x..|\\c.|\\.|\[(?:\\.|[^\]\\])*\]|./suy,
    )
    const holds = Object.hasOwn(PLACES, source) ? PLACES[source] : undefined
    if (holds) return { part: (states, next) => states.push({ type: 'place', holds, next }) - 1 }
    if (/^\\(?:[1-9]|k)/.test(source)) throw this.#refuse('a backreference')
    const one = new RegExp(`^${source}$`, 'u')
    const known = new Map<string, boolean>()
    const reads: Reads = (char) => {
      const before = known.get(char)
      if (before !== undefined) return before
      const found = one.test(char)
      if (known.size < 256) known.set(char, found)
      return found
    }
    return { reads, part: (states, next) => addState(states, { type: 'one', reads, next }, this.#pattern) }
  }

  #readGroup(): Part {
    this.#depth += 1
    if (this.#depth > GROUPS_MAX) throw this.#refuse(`more than ${GROUPS_MAX} nested groups`)
    const [opening] = this.#match(/\?<?[=!]|\?:|\?<[^>]*>|\?[a-z-]*:|/suy)
    if (opening === '?<=' || opening === '?<!') throw this.#refuse('a lookbehind')
    if (/^\?[a-z-]+:/.test(opening)) throw this.#refuse('flags')
    const inside = this.read()
    this.#take(')')
    this.#depth -= 1
    if (opening !== '?=' && opening !== '?!') return inside
    return (states, next) => {
      const from = inside(states, 0)
      return states.push({ type: 'look', from, isWanted: opening === '?=', next }) - 1
    }
  }

  #readRepeated({ part, reads }: Piece): Part {
    const [all, sign = '', least = '', comma = '', limit = ''] = this.#match(
      /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??|/suy,
    )
    if (all === '') return part
    const min = sign === '' ? Number(least) : sign === '+' ? 1 : 0
    const max = sign === '?' ? 1 : sign !== '' || (comma !== '' && limit === '') ? Infinity : Number(limit || least)
    const most = Math.max(min, max === Infinity ? 0 : max)
    if (reads && most > WRITTEN_OUT_MAX)
      return (states, next) => addState(states, { type: 'run', reads, min, max, next }, this.#pattern)
    if (most > STATES_MAX) throw this.#refuse(TOO_MUCH)
    return (states, next) => repeatPart({ part, min, max, pattern: this.#pattern }, states, next)
  }

  #take(char: string): boolean {
    if (this.#pattern[this.#at] !== char) return false
    this.#at += 1
    return true
  }

  #match(expression: RegExp): RegExpExecArray {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#pattern)
    if (!found) throw this.#refuse('something unknown')
    this.#at += found[0].length
    return found
  }

  #refuse(what: string): BatonError {
    return refusePattern(this.#pattern, what)
  }
}

function joinWays(ways: readonly Part[]): Part {
  return (states, next) => states.push({ type: 'ways', next: ways.map((way) => way(states, next)) }) - 1
}

interface Repeat {
  readonly part: Part
  readonly min: number
  readonly max: number
  readonly pattern: string
}

function repeatPart({ part, min, max, pattern }: Repeat, states: State[], next: number): number {
  let from = next
  if (max === Infinity) {
    const again: number[] = []
    from = addState(states, { type: 'ways', next: again }, pattern)
    again.push(part(states, from), next)
  } else {
    for (let count = min; count < max; count++)
      from = addState(states, { type: 'ways', next: [part(states, from), next] }, pattern)
  }
  for (let count = 0; count < min; count++) {
    const before = from
    from = part(states, before)
    if (from === before) break // it reads nothing
    if (states.length > STATES_MAX) throw refusePattern(pattern, TOO_MUCH)
  }
  return from
}

function addState(states: State[], state: State, pattern: string): number {
  if (states.length > STATES_MAX) throw refusePattern(pattern, TOO_MUCH)
  return states.push(state) - 1
}

function refusePattern(pattern: string, what: string): BatonError {
  return new BatonError({
    code: 'invalid_schema',
    message: `the pattern ${JSON.stringify(pattern.slice(0, 80))} has ${what}, so its matching time is unbounded`,
    hint: 'Avoid backreferences, lookbehinds and large repeats, or check the value in the tool.',
    data: { what },
  })
}
