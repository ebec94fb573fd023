// Backslash escapes in patterns of several languages: characters, character sets, and Unicode properties.

/** Thrown for escapes that ECMA 262 lacks. */
export class Untranslatable extends Error {}

/** The character at an offset, of one or two units; empty after the end. */
export function codePoint(source: string, at: number): string {
  const number = source.codePointAt(at)
  return number === undefined ? '' : String.fromCodePoint(number)
}

export interface ReadSet {
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
export const POSIX_SETS: Readonly<Record<string, string>> = {
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
