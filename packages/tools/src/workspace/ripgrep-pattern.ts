// Translates an RE2 pattern for ripgrep, such that ripgrep finds at least the lines that RE2 finds. Sources:
// https://github.com/google/re2/wiki/Syntax, https://docs.rs/regex/latest/regex/#syntax; both read on 25 November 2026.

/** Perl's classes are ASCII in RE2 and Unicode in ripgrep. A line has no newline, so `\s` may omit it. */
const PERL: ReadonlyMap<string, string> = new Map([
  ['d', '0-9'],
  ['w', '0-9A-Za-z_'],
  ['s', String.raw`\t\f\r\x20`],
])
/** Escapes with the same meaning in both. */
const SAME = 'aftnrv'

/** Returns `undefined` if only RE2 supports the pattern, or its meaning differs. `pattern` must be valid for RE2. */
export function toRipgrepPattern(pattern: string): string | undefined {
  const characters = Array.from(pattern)
  const mayFold = /\(\?[a-zA-Z-]*i/.test(pattern)
  const said: string[] = []
  for (let at = 0; at < characters.length;) {
    const character = characters[at] ?? ''
    const piece =
      character === '\\'
        ? readEscape(characters, at, sayOutside)
        : character === '['
          ? readClass(characters, at, mayFold)
          : { text: character, end: at + 1 }
    if (!piece) return undefined
    said.push(piece.text)
    at = piece.end
  }
  return said.join('')
}

interface Piece {
  readonly text: string
  /** Offset of the next piece. */
  readonly end: number
}

type SayPerl = (letter: string, characters: string, isNegated: boolean) => string

/** Case folding would remove non-ASCII letters from a negated class. */
const sayOutside: SayPerl = (_, characters, isNegated) => (isNegated ? `(?-i:[^${characters}])` : `[${characters}]`)
const sayInside: SayPerl = (_, characters, isNegated) => (isNegated ? `[^${characters}]` : characters)

function readEscape(characters: readonly string[], at: number, sayPerl: SayPerl): Piece | undefined {
  const letter = characters[at + 1] ?? ''
  const perl = PERL.get(letter.toLowerCase())
  if (perl !== undefined) return { text: sayPerl(letter, perl, letter !== letter.toLowerCase()), end: at + 2 }
  // Not `\B`: ripgrep 13 does not match `\B^` in an empty line.
  if (sayPerl === sayOutside && letter === 'b') return { text: String.raw`(?-u:\b)`, end: at + 2 }
  if (letter !== '' && SAME.includes(letter)) return { text: `\\${letter}`, end: at + 2 }
  if (letter === 'x') {
    const [whole] = /^(?:\{[\dA-Fa-f]+\}|[\dA-Fa-f]{2})/.exec(characters.slice(at + 2, at + 14).join('')) ?? []
    return whole === undefined ? undefined : { text: `\\x${whole}`, end: at + 2 + whole.length }
  }
  return /^[A-Za-z\d]?$/.test(letter) ? undefined : { text: sayLiteral(letter), end: at + 2 }
}

/**
 * In ripgrep, a class may contain classes and operators such as `&&`, so anything but letters is written as a code
 * point.
 */
function readClass(characters: readonly string[], start: number, mayFold: boolean): Piece | undefined {
  const isNegated = characters[start + 1] === '^'
  const items: string[] = []
  const first = start + (isNegated ? 2 : 1)
  for (let at = first; at < characters.length;) {
    if (characters[at] === ']' && at > first) return { text: `[${isNegated ? '^' : ''}${items.join('')}]`, end: at + 1 }
    const set = readSet(characters, at)
    if (set && mayFold && (isNegated || set.isNegated)) return undefined
    const low = set ?? readMember(characters, at)
    const isRange = !set && low && characters[low.end] === '-' && !/^\]?$/.test(characters[low.end + 1] ?? '')
    const high = isRange ? readMember(characters, low.end + 1) : undefined
    if (!low || (isRange && !high)) return undefined
    items.push(high ? `${low.text}-${high.text}` : low.text)
    at = (high ?? low).end
  }
  return undefined
}

/** A class within a class: `\d`, `[:alpha:]`. */
function readSet(characters: readonly string[], at: number): (Piece & { readonly isNegated: boolean }) | undefined {
  const [posix] = /^\[:\^?[a-z]+:\]/.exec(characters.slice(at, at + 14).join('')) ?? []
  if (posix !== undefined) return { text: posix, end: at + posix.length, isNegated: posix.startsWith('[:^') }
  const letter = characters[at] === '\\' ? (characters[at + 1] ?? '') : ''
  if (!PERL.has(letter.toLowerCase())) return undefined
  const piece = readEscape(characters, at, sayInside)
  return piece && { ...piece, isNegated: letter !== letter.toLowerCase() }
}

function readMember(characters: readonly string[], at: number): Piece | undefined {
  const character = characters[at] ?? ''
  return character === '\\' ? readEscape(characters, at, sayInside) : { text: sayLiteral(character), end: at + 1 }
}

function sayLiteral(character: string): string {
  if (/^[A-Za-z\d]$/.test(character)) return character
  return `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
