// A character class, `[…]`, in the syntax of several languages, translated to ECMA 262 with Unicode.
import { POSIX_SETS, Untranslatable, codePoint, namedSet, readCodePoint, unicodeProperty } from './pattern-escapes.ts'

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
