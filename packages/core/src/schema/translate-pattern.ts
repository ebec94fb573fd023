// Translates patterns of JavaScript without Unicode, Python, PCRE, Java and Ruby to ECMA 262 with Unicode. Modifiers
// that only steer the search (possessive, atomic, lazy) are dropped: only whether a pattern matches counts.
import {
  PatternClass,
  withBothCases,
  Untranslatable,
  codePoint,
  namedSet,
  readCodePoint,
  unicodeProperty,
} from './pattern-class.ts'

export interface TranslatedPattern {
  /** Undefined if it cannot be read. */
  readonly pattern: string | undefined
  /** Why not, such as `is not a pattern (…)`. */
  readonly why?: string
}

export function translatePattern(written: string): TranslatedPattern {
  const source = withoutDelimiters(written)
  if (isLegal(source) && !HAS_FLAGS.test(source)) return { pattern: source }
  try {
    const pattern = new PatternTranslator(source).translate()
    void new RegExp(pattern, 'u')
    return { pattern }
  } catch (cause) {
    if (cause instanceof Untranslatable)
      return { pattern: undefined, why: `has ${cause.message}, which cannot be translated` }
    const said = cause instanceof Error ? cause.message : String(cause)
    return { pattern: undefined, why: `is not a pattern (${said.slice(said.lastIndexOf(':') + 1).trim()})` }
  }
}

/**
 * PHP, and `String(/…/)` in JavaScript, write a pattern between slashes, with flags behind. Slashes outside of anchors can
 * have no other meaning: nothing comes before a beginning, or after an end.
 */
function withoutDelimiters(written: string): string {
  const [, body = '', flags = ''] = /^\/([^]*)\/([a-zA-Z]{0,8})$/.exec(written) ?? []
  if (!body.startsWith('^') && !/(?<!\\)\$$/.test(body)) return written
  const kept = flags.replaceAll(/[^imsx]/g, '')
  return kept === '' ? body : `(?${kept})${body}`
}

/** Newer engines support inline flags, and providers do not. */
const HAS_FLAGS = /\(\?[a-z]*-?[a-z]*:/i

function isLegal(source: string): boolean {
  try {
    void new RegExp(source, 'u')
    return true
  } catch {
    return false
  }
}

/** Number of groups that a backreference may name. Counted by hand: an expression could be made to backtrack. */
function countGroups(source: string): number {
  let count = 0
  let isInClass = false
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at]
    if (char === '\\') at += 1
    else if (char === '[') isInClass = true
    else if (char === ']') isInClass = false
    else if (char === '(' && !isInClass && /^\((?!\?(?!<[^=!]|P<|'))/.test(source.slice(at, at + 4))) count += 1
  }
  return count
}

/** Flags in effect up to the end of their group. */
interface Flags {
  readonly i: boolean
  readonly m: boolean
  readonly s: boolean
  readonly x: boolean
}

const NO_FLAGS: Flags = { i: false, m: false, s: false, x: false }

class PatternTranslator {
  readonly #source: string
  readonly #names = new Set<string>()
  readonly #groups: number
  readonly #outer: Flags[] = []
  #flags = NO_FLAGS
  #at = 0
  #out = ''

  constructor(source: string) {
    this.#source = source
    this.#groups = countGroups(source)
  }

  translate(): string {
    while (this.#at < this.#source.length) this.#readOne()
    if (this.#outer.length > 0) throw new SyntaxError('a group has no end')
    return this.#out
  }

  #readOne(): void {
    const char = codePoint(this.#source, this.#at)
    if (char === '\\') this.#readEscape()
    else if (char === '[') this.#readClass()
    else if (char === '(') this.#readGroup()
    else if (char === ')') this.#endGroup()
    else if (/[*+?{]/.test(char)) this.#readQuantifier(char)
    else {
      this.#at += char.length
      this.#out += this.#plain(char)
    }
  }

  #plain(char: string): string {
    const { m, s, x } = this.#flags
    if (char === '.') return s ? '[\\s\\S]' : '.'
    if (char === '^') return m ? '(?:^|(?<=\\n))' : '^'
    if (char === '$') return m ? '(?=\\n|$)' : '$'
    if (char === ']' || char === '}') return `\\${char}`
    if (char === '|') return char
    if (x && /\s/.test(char)) return ''
    if (x && char === '#') {
      this.#take(/[^\n]*/y)
      return ''
    }
    return this.#literal(char)
  }

  /** A literal character. */
  #literal(char: string): string {
    if (this.#flags.i && char.toLowerCase() !== char.toUpperCase()) return `[${withBothCases(char)}]`
    if (char < ' ') return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
    return /[\^$\\.*+?()[\]{}|]/.test(char) ? `\\${char}` : char
  }

  /** Consumes the match at this position; undefined if there is none. */
  #take(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (!found) return undefined
    this.#at += found[0].length
    return found
  }

  #readQuantifier(char: string): void {
    const found = this.#take(/([*+?]|\{(\d*)(,?)(\d*)\})[+?]?/y)
    const [, whole = '', least = '', comma = '', most = ''] = found ?? []
    if (found && (char !== '{' || least !== '' || (comma !== '' && most !== ''))) {
      this.#out += char === '{' ? `{${least || '0'}${comma}${most}}` : whole
      return
    }
    if (found) this.#at -= found[0].length
    this.#at += 1
    this.#out += `\\${char}`
  }

  #readGroup(): void {
    if (this.#take(/\(\?#[^)]*\)/y)) return
    const reference = this.#take(/\(\?P=([A-Za-z_]\w*)\)/y)
    if (reference) {
      this.#out += `\\k<${reference[1] ?? ''}>`
      return
    }
    const alone = this.#take(/\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?\)/y)
    if (alone) {
      this.#flags = this.#changed(alone[1], alone[2])
      return
    }
    this.#outer.push(this.#flags)
    const flagged = this.#take(/\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?:/y)
    if (flagged) {
      this.#flags = this.#changed(flagged[1], flagged[2])
      this.#out += '(?:'
      return
    }
    const named = this.#take(/\(\?(?:P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')/y)
    if (named) {
      const name = named[1] ?? named[2] ?? ''
      this.#out += this.#names.has(name) ? '(' : `(?<${name}>`
      this.#names.add(name)
    } else if (this.#take(/\(\?[>|]/y)) this.#out += '(?:'
    else {
      const plain = this.#take(/\((?:\?(?:[=!]|<[=!])|(?![?*]))/y)
      if (!plain) throw new Untranslatable(`the group "${this.#source.slice(this.#at, this.#at + 6)}"`)
      this.#out += plain[0]
    }
  }

  #endGroup(): void {
    const before = this.#outer.pop()
    if (!before) throw new SyntaxError('a group has no beginning')
    this.#flags = before
    this.#at += 1
    this.#out += ')'
  }

  /** Flags that do not affect whether a text matches are dropped. */
  #changed(on = '', off = ''): Flags {
    const unknown = /[^imsxaLuUJd]/.exec(on + off)?.[0]
    if (unknown !== undefined) throw new Untranslatable(`the flag "${unknown}"`)
    const set = (flag: keyof Flags): boolean => !off.includes(flag) && (on.includes(flag) || this.#flags[flag])
    return { i: set('i'), m: set('m'), s: set('s'), x: set('x') }
  }

  #readClass(): void {
    const read = new PatternClass(this.#source, this.#at, this.#flags.i)
    this.#out += read.text
    this.#at = read.end
  }

  #readEscape(): void {
    const char = codePoint(this.#source, this.#at + 1)
    if (char === '') throw new SyntaxError('a backslash is at the end')
    const quoted = this.#take(/\\Q([^]*?)(?:\\E|$)/y)
    if (quoted) {
      for (const one of quoted[1] ?? '') this.#out += this.#literal(one)
      return
    }
    const number = this.#take(/\\([1-9]\d*)/y)
    if (number) {
      if (Number(number[1]) <= this.#groups) {
        this.#out += number[0]
        return
      }
      this.#at -= number[0].length // octal digits, as in JavaScript without Unicode
    }
    const name = this.#take(/\\k(?:<([A-Za-z_]\w*)>|\{([A-Za-z_]\w*)\}|'([A-Za-z_]\w*)')/y)
    if (name) {
      this.#out += `\\k<${name[1] ?? name[2] ?? name[3] ?? ''}>`
      return
    }
    const set = unicodeProperty(this.#source, this.#at) ?? namedSet(this.#source, this.#at)
    if (set) {
      this.#out += set.isBare ? `[${set.text}]` : set.text
      this.#at = set.end
      return
    }
    if (Object.hasOwn(PLACES, char)) {
      this.#out += PLACES[char] ?? ''
      this.#at += 2
      return
    }
    if (/[GKXCgO]/.test(char)) throw new Untranslatable(`"\\${char}"`)
    const one = readCodePoint(this.#source, this.#at)
    this.#out += this.#literal(one.char)
    this.#at = one.end
  }
}

/** Assertions and sets of several characters, by the letter after the backslash. */
const PLACES: Readonly<Record<string, string>> = {
  b: '\\b',
  B: '\\B',
  A: '^',
  Z: '$',
  z: '$',
  R: '(?:\\r\\n|[\\n\\v\\f\\r\\u0085\\u2028\\u2029])',
  E: '',
}
