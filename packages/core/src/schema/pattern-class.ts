// Backslash escapes and character classes, `[…]`, in the syntax of several languages, translated to ECMA 262 with
// Unicode.

/** One part of a class: a character, or the source of a set. */
type Item = { readonly char: string } | { readonly set: string }

export class PatternClass {
  /** The class including its brackets. */
  readonly text: string
  readonly end: number
  readonly #source: string
  readonly #ignoresCase: boolean
  #at: number

  /** @param at offset of the opening bracket @throws Untranslatable, SyntaxError */
  constructor(source: string, at: number, ignoresCase: boolean) {
    this.#source = source
    this.#ignoresCase = ignoresCase
    this.#at = at + 1
    const isNegated = this.#takes('^')
    let inside = ''
    // A first `]` is literal, except in JavaScript, where it is not used.
    if (source[this.#at] === ']' && source.includes(']', this.#at + 1)) inside += this.#readRange()
    while (source[this.#at] !== ']') {
      if (this.#at >= source.length) throw new SyntaxError('a class has no end')
      inside += this.#readRange()
    }
    this.end = this.#at + 1
    this.text = `[${isNegated ? '^' : ''}${inside}]`
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #readRange(): string {
    const first = this.#readItem()
    const isRange = this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']'
    if (!isRange || 'set' in first) return this.#show(first)
    this.#at += 1
    const last = this.#readItem()
    // A set cannot end a range: the dash is literal.
    if ('set' in last) return `${this.#show(first)}\\-${last.set}`
    const [from, to] = [codeOf(first.char), codeOf(last.char)]
    if (from > to) throw new SyntaxError(`the range ${first.char}-${last.char} is out of order`)
    const range = `${escapeInClass(first.char)}-${escapeInClass(last.char)}`
    return this.#ignoresCase ? range + otherCases(from, to) : range
  }

  #readItem(): Item {
    const posix = /^\[:(\^?)(\w+):\]/.exec(this.#source.slice(this.#at, this.#at + 16))
    if (posix) return { set: this.#readPosix(posix) }
    if (/^(?:&&\[|-\[[^\]]{0,200}\]\])/.test(this.#source.slice(this.#at, this.#at + 210)))
      throw new Untranslatable('a class subtraction')
    if (this.#source[this.#at] !== '\\') {
      const char = codePoint(this.#source, this.#at)
      this.#at += char.length
      return { char }
    }
    const letter = this.#source[this.#at + 1]
    if (letter === undefined) throw new SyntaxError('a backslash is at the end')
    if (letter === 'b') {
      this.#at += 2
      return { char: '\b' }
    }
    const set = unicodeProperty(this.#source, this.#at) ?? namedSet(this.#source, this.#at, true)
    if (set) {
      this.#at = set.end
      return { set: set.text }
    }
    const { char, end } = readCodePoint(this.#source, this.#at)
    this.#at = end
    return { char }
  }

  #readPosix([all, negation = '', name = '']: RegExpExecArray): string {
    const known = Object.hasOwn(POSIX_SETS, name) ? POSIX_SETS[name] : undefined
    const opposite = { digit: '\\D', space: '\\S', word: '\\W' }[name]
    const said = negation === '' ? known : opposite
    if (said === undefined) throw new Untranslatable(`"${all}"`)
    this.#at += all.length
    return negation === '' && this.#ignoresCase && (name === 'upper' || name === 'lower') ? 'A-Za-z' : said
  }

  #show(item: Item): string {
    if ('set' in item) return item.set
    return this.#ignoresCase ? withBothCases(item.char) : escapeInClass(item.char)
  }
}

function codeOf(char: string): number {
  return char.codePointAt(0) ?? 0
}

/** The character in upper and lower case, for use in a class; alone if it has no case. */
export function withBothCases(char: string): string {
  const cases = [char, char.toLowerCase(), char.toUpperCase()].filter((one) => one === codePoint(one, 0))
  const distinct = [...new Set(cases)]
  return distinct.map(escapeInClass).join('')
}

/** Latin letters of a range in their other case. */
function otherCases(from: number, to: number): string {
  const within = (first: number, last: number, shift: number): string => {
    const [low, high] = [Math.max(from, first), Math.min(to, last)]
    return low > high ? '' : `${String.fromCharCode(low + shift)}-${String.fromCharCode(high + shift)}`
  }
  return within(65, 90, 32) + within(97, 122, -32)
}

function escapeInClass(char: string): string {
  if (/[\\\]^[-]/.test(char)) return `\\${char}`
  const code = codeOf(char)
  const isOdd = code < 0x20 || (code >= 0xd800 && code <= 0xdfff)
  return isOdd ? `\\u${code.toString(16).padStart(4, '0')}` : char
}

/** Thrown for escapes that ECMA 262 lacks. */
export class Untranslatable extends Error {}

/** The character at an offset, of one or two units; empty after the end. */
export function codePoint(source: string, at: number): string {
  const number = source.codePointAt(at)
  return number === undefined ? '' : String.fromCodePoint(number)
}

interface ReadSet {
  readonly text: string
  /** True: it belongs in a class, and needs brackets outside one. */
  readonly isBare: boolean
  readonly end: number
}

const SETS: Readonly<Record<string, string>> = { h: '\\t \\u00a0', v: '\\n\\v\\f\\r\\u0085\\u2028\\u2029' }
const OPPOSITE_SETS: Readonly<Record<string, string>> = { H: '[^\\t \\u00a0]', N: '[^\\n]' }

/** Reads `\d`, `\h`; undefined if there is no set. @throws Untranslatable */
export function namedSet(source: string, at: number, isInClass = false): ReadSet | undefined {
  const letter = source[at + 1] ?? ''
  const end = at + 2
  if (/[dDwWsS]/.test(letter)) return { text: `\\${letter}`, isBare: false, end }
  if (letter === 'v') return { text: '\\v', isBare: false, end }
  const set = Object.hasOwn(SETS, letter) ? SETS[letter] : undefined
  if (set !== undefined) return { text: set, isBare: true, end }
  const opposite = Object.hasOwn(OPPOSITE_SETS, letter) ? OPPOSITE_SETS[letter] : undefined
  if (opposite === undefined) return undefined
  if (isInClass || source.startsWith('{', end)) throw new Untranslatable(`"\\${letter}"`)
  return { text: opposite, isBare: false, end }
}

/** Sets by name, as in POSIX `[:alpha:]` and Java `\p{Alpha}`, as they appear in a class. */
const POSIX_SETS: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\s',
  blank: '\\t ',
  cntrl: '\\u0000-\\u001f\\u007f',
  graph: '!-~',
  print: ' -~',
  xdigit: '0-9A-Fa-f',
  word: '\\w',
  ascii: '\\u0000-\\u007f',
}

/** Reads `\p{L}`, `\pL`, `\P{IsGreek}`; undefined if there is no property. @throws Untranslatable */
export function unicodeProperty(source: string, at: number): ReadSet | undefined {
  const found = /^\\([pP])(?:\{(\^?)([^{}]+)\}|([A-Z]))/.exec(source.slice(at, at + 80))
  if (!found) return undefined
  const [all, letter = 'p', negation = '', long, short = ''] = found
  const name = long ?? short
  const isNegated = (letter === 'P') !== (negation !== '')
  const end = at + all.length
  const p = isNegated ? 'P' : 'p'
  const plain = name.replace(/^(?:Is|In|java)/, '')
  const posix = POSIX_SETS[name.toLowerCase()]
  for (const said of [name, plain, `Script=${plain}`, plain === 'L&' ? 'LC' : plain])
    if (isKnown(`\\p{${said}}`)) return { text: `\\${p}{${said}}`, isBare: false, end }
  if (posix !== undefined && !isNegated) return { text: posix, isBare: true, end }
  throw new Untranslatable(`"${all}"`)
}

function isKnown(property: string): boolean {
  try {
    void new RegExp(property, 'u')
    return true
  } catch {
    return false
  }
}

/** Control characters by letter. */
const CONTROLS: Readonly<Record<string, string>> = {
  t: '\t',
  r: '\r',
  n: '\n',
  f: '\f',
  v: '\v',
  a: '\u0007',
  e: '\u001b',
}

const CODES: readonly (readonly [expression: RegExp, base: number])[] = [
  [/^\\x([\da-fA-F]{2})/, 16],
  [/^\\[xu]\{([\da-fA-F]{1,6})\}/, 16],
  [/^\\u([\da-fA-F]{4})/, 16],
  [/^\\U([\da-fA-F]{8})/, 16],
  [/^\\([0-3][0-7]{0,2}|[4-7][0-7]?)/, 8],
]

/** Reads one escaped character. A letter without a meaning is literal, as in JavaScript without Unicode. */
export function readCodePoint(source: string, at: number): { readonly char: string; readonly end: number } {
  const text = source.slice(at, at + 12)
  const pair = /^\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})/i.exec(text)
  if (pair) {
    const [all, high = '', low = ''] = pair
    return { char: String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)), end: at + all.length }
  }
  for (const [expression, base] of CODES) {
    const [all, digits = ''] = expression.exec(text) ?? []
    if (all === undefined) continue
    const number = Number.parseInt(digits, base)
    if (number > 0x10ffff) throw new Untranslatable(`"${all}"`)
    return { char: String.fromCodePoint(number), end: at + all.length }
  }
  const control = /^\\c([A-Za-z])/.exec(text)
  if (control) return { char: String.fromCharCode((control[1] ?? '').charCodeAt(0) % 32), end: at + 3 }
  const char = codePoint(source, at + 1)
  const known = Object.hasOwn(CONTROLS, char) ? CONTROLS[char] : undefined
  return { char: known ?? char, end: at + 1 + char.length }
}
