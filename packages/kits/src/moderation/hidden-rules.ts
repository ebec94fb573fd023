// Finds text that a model reads but a person does not see: invisible characters, reversed text, content hidden by HTML
// and Markdown, and words that mix scripts.
import type { Finding } from './finding.ts'
import { findAll } from './finding.ts'

export function findHidden(text: string): readonly Finding[] {
  return [
    ...findAll(text, TAGS, ({ 0: tags, groups }) =>
      groups?.['flag'] === undefined
        ? { category: 'hidden-text', rule: 'hidden-text/tags', weight: 'malicious', reveals: readTags(tags) }
        : undefined,
    ),
    ...findAll(text, /[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{4,}/gu, () => ({
      category: 'hidden-text',
      rule: 'hidden-text/variation-selectors',
      weight: 'malicious',
    })),
    ...findAll(text, /[\u202A-\u202E\u2066-\u2069]+/g, ({ 0: marks }) => ({
      category: 'hidden-text',
      rule: 'hidden-text/direction',
      // Overrides display letters in another order; the other marks occur in bidirectional texts.
      weight: /[\u202D\u202E]/.test(marks) ? 'malicious' : 'suspicious',
    })),
    // Within a Latin word, or several in a row: joiners of other scripts and of emoji occur alone.
    ...findAll(
      text,
      /(?<=[a-z])[\u200B-\u200D\u2060-\u2064\uFEFF\u00AD]+(?=[a-z])|[\u200B-\u200D\u2060-\u2064\uFEFF]{3,}/gi,
      () => ({
        category: 'hidden-text',
        rule: 'hidden-text/invisible',
        weight: 'suspicious',
      }),
    ),
    ...findAll(text, HIDING_STYLE, () => ({
      category: 'hidden-text',
      rule: 'hidden-text/style',
      weight: 'suspicious',
    })),
    ...findAll(text, /<!--[^]{0,4000}?-->|^\[\/\/\]: # [("'].{0,1000}$/gm, ({ 0: comment }) => ({
      category: 'hidden-text',
      rule: 'hidden-text/comment',
      weight: 'suspicious',
      reveals: comment,
    })),
    ...findLookAlikes(text),
  ]
}

/**
 * Tags, or the flag of a region: a black flag, up to six tags of letters and digits, and the tag that ends them.
 * https://www.unicode.org/reports/tr51/#valid-emoji-tag-sequences
 */
const TAGS = /(?<flag>\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F})|[\u{E0020}-\u{E007E}]{2,}/gu

const HIDING_STYLE =
  /style\s{0,3}=\s{0,3}["'][^"'<>]{0,300}?(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0(?![.\d]*[1-9])|(?:left|top)\s{0,3}:\s{0,3}-\d{4,})[^"'<>]{0,300}["']/gi

function readTags(tags: string): string {
  return Array.from(tags, (tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000)).join('')
}

/** Finds Latin words with a letter from another script that looks Latin. */
function findLookAlikes(text: string): readonly Finding[] {
  return findAll(
    text,
    /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]{3,60}/gu,
    ({ 0: word }) => {
      const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u]
      const used = scripts.filter((script) => script.test(word))
      // Units and formulas contain one Greek letter: µm, Δt, πr.
      const isFormula = used.length === 2 && /^\p{Script=Greek}\p{Script=Latin}{1,2}$/u.test(word)
      if (used.length < 2 || isFormula || !/\p{Script=Latin}/u.test(word)) return undefined
      return { category: 'look-alikes', rule: 'look-alikes/mixed-scripts', weight: 'suspicious' }
    },
  )
}
