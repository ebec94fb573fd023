// A text as its reader sees it: without invisible characters, with look-alike letters replaced by the Latin ones they
// imitate, in lower case, and with whitespace collapsed. Each character knows its position in the original text.

/**
 * Letters of other scripts that look Latin: those of Unicode's confusables.txt (https://www.unicode.org/reports/tr39/)
 * that appear in attacks.
 */
const LOOKS_LIKE: ReadonlyMap<string, string> = new Map(
  (
    [
      ['a', 'аαɑ'],
      ['b', 'Ьв'],
      ['c', 'сϲ'],
      ['d', 'ԁ'],
      ['e', 'еєε'],
      ['g', 'ɡ'],
      ['h', 'һн'],
      ['i', 'іıι'],
      ['j', 'ј'],
      ['k', 'кκ'],
      ['l', 'ӏ'],
      ['m', 'м'],
      ['n', 'ոп'],
      ['o', 'оοσօ'],
      ['p', 'рρ'],
      ['q', 'ԛ'],
      ['r', 'г'],
      ['s', 'ѕ'],
      ['t', 'тτ'],
      ['u', 'υս'],
      ['v', 'νѵ'],
      ['w', 'ԝω'],
      ['x', 'хχ'],
      ['y', 'уγ'],
    ] as const
  ).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)),
)

/**
 * Characters without width: https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt,
 * Default_Ignorable_Code_Point.
 */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u

export class ReadThrough {
  readonly text: string
  readonly #starts: readonly number[]
  readonly #end: number

  constructor(source: string) {
    const pieces: string[] = []
    const starts: number[] = []
    let wasBlank = true
    for (let at = 0; at < source.length;) {
      const letter = String.fromCodePoint(source.codePointAt(at) ?? 0)
      const shown = INVISIBLE.test(letter) ? '' : fold(letter)
      const isBlank = shown.trim() === '' && shown !== ''
      const kept = isBlank ? (wasBlank ? '' : ' ') : shown
      if (kept !== '') {
        pieces.push(kept)
        for (let unit = 0; unit < kept.length; unit += 1) starts.push(at)
        wasBlank = isBlank
      }
      at += letter.length
    }
    this.text = pieces.join('')
    this.#starts = starts
    this.#end = source.length
  }

  /** Returns the source position of a part of `text`. */
  place(start: number, end: number): { readonly start: number; readonly end: number } {
    return { start: this.#starts[start] ?? this.#end, end: this.#starts[end] ?? this.#end }
  }
}

function fold(letter: string): string {
  if (letter >= ' ' && letter <= '~') return letter.toLowerCase()
  const plain = letter.normalize('NFKC').toLowerCase()
  return LOOKS_LIKE.get(plain) ?? plain
}
