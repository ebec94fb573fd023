// Words of a spoken text, and the time that saying them takes.

/** Words per minute at the usual speed. A word is six characters including its space. */
export const WORDS_PER_MINUTE = 160
/** At the upper bound a word takes almost no time. */
export const WORDS_PER_MINUTE_RANGE = [1, 10_000] as const
const CHARS_PER_WORD = 6
/** A character of these scripts is a syllable or a word, and takes as long as four letters. */
const LONG_CHARS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu
const LONG_CHAR_LETTERS = 4

/**
 * Offsets of the ends of words, in UTF-16 units. Words are split the way the server splits them to know what was heard.
 */
export function listWordEnds(text: string): readonly number[] {
  const segments = [...new Intl.Segmenter('en', { granularity: 'word' }).segment(text)]
  return segments.flatMap(({ isWordLike, index, segment }) => (isWordLike ? [index + segment.length] : []))
}

/** How many words of the text end within its first `chars` UTF-16 units; all of its words by default. */
export function countWords(text: string, chars: number = text.length): number {
  return listWordEnds(text).filter((end) => end <= chars).length
}

/** Letters that take as long to say as the text. */
export function countLetters(text: string): number {
  const long = text.match(LONG_CHARS)?.length ?? 0
  return text.length + long * (LONG_CHAR_LETTERS - 1)
}

/** Milliseconds to say the text, estimated from its length. */
export function estimateSpeechMs(text: string, wordsPerMinute: number = WORDS_PER_MINUTE): number {
  return Math.ceil((countLetters(text) * 60_000) / (wordsPerMinute * CHARS_PER_WORD))
}
