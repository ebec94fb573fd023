// Finds plain words that could be an argument by what stands before them: "in src", "search for red apples".
import { splitWords, stem } from './words.ts'

const NO_FOLDER: ReadonlySet<string> = new Set(
  'the a an this that it them here there general detail details total order case lowercase uppercase english code project repo repository workspace folder directory files file my our your me which what each all any one'.split(
    ' ',
  ),
)
const NO_THING: ReadonlySet<string> = new Set(
  'the a an my our your their this that some any all me us please'.split(' '),
)
const ENDS_PHRASE =
  /[?!,;:\n]|\.(?=\s|$)|\b(?:in|on|at|under|inside|within|from|with|by|for|here|please|today|tomorrow|now|tonight|next|this|and)\b/iu

/**
 * A bare word in the place of a folder: "the files in src", "the src folder", "list src". `notThese` are stems that
 * mean something else to the tool.
 */
export function findFolderWord(text: string, notThese: ReadonlySet<string>): string | undefined {
  const named = /\b([\w.-]+) (?:folder|directory)\b/iu.exec(text)?.[1]
  if (named !== undefined && !NO_FOLDER.has(named.toLowerCase())) return named
  const places = /\b(?:in|under|inside|within|of|folder|directory) (?:the )?([\w.-]*\w)(?=$|[\s?!.,;])/giu
  for (const match of text.matchAll(places)) {
    const word = match[1] ?? ''
    if (/^[a-z][\w.-]*$/.test(word) && !NO_FOLDER.has(word)) return word
  }
  const last = /^\s*(?:please )?\w+ (?:me )?(?:the )?([a-z][\w-]*)\s*[?.!]?$/u.exec(text)?.[1]
  return last !== undefined && !NO_FOLDER.has(last) && !notThese.has(stem(last)) ? last : undefined
}

/** What is searched for, when neither quotes nor its form mark it. */
export function findSearchTerm(text: string): string | undefined {
  const asked =
    /\b(?:mention|contain|reference|match|use|search(?:es|ed|ing)? for|look(?:s|ed|ing)? for|about|for|call|name|find|locate|search|where (?:is|are|do(?:es)?(?: we)?))(?:s|es|ed|ing)?\s+(.+)$/isu.exec(
      text,
    )?.[1]
  if (asked === undefined) return undefined
  const cut = asked.split(ENDS_PHRASE)[0] ?? ''
  const plain = cut
    .trim()
    .replace(
      /^(?:(?:the|a|an|all|any|every|uses?|of|word|text|string|phrase|term|function|class|files?|lines?|that|which|mention|contain)s?\s+)+/iu,
      '',
    )
    .replace(/\s+(?:is |are |be )?(?:defined|used|set|declared|mentioned|located|handled|implemented)$/iu, '')
  return plain === '' ? undefined : plain
}

/** The thing that a sentence is about: behind the property's own word, else behind a preposition. */
export function findThing(text: string, propertyStems: readonly string[]): string | undefined {
  const words = text.split(/\s+/)
  const own = words.findIndex((word) => propertyStems.includes(stem(splitWords(word)[0] ?? '')))
  const behindOwn = own === -1 ? undefined : phraseFrom(words.slice(own + 1).join(' '))
  if (behindOwn !== undefined) return behindOwn
  for (const match of text.matchAll(/\b(?:in|for|at|of|about|with|on|named|called|to)\s+(?=(.+))/giu)) {
    const phrase = phraseFrom(match[1] ?? '')
    if (phrase !== undefined) return phrase
  }
  return undefined
}

function phraseFrom(text: string): string | undefined {
  const cut = (text.split(ENDS_PHRASE)[0] ?? '').trim().split(/\s+/)
  while (cut.length > 0 && NO_THING.has((cut[0] ?? '').toLowerCase())) cut.shift()
  const phrase = cut.slice(0, 4).join(' ')
  return phrase === '' ? undefined : phrase
}
