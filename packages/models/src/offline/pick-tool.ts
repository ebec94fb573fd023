// Chooses the tool whose words are nearest to those of a request (BM25 over names, descriptions and schemas) and that
// can be given its arguments. Only pure tools: words alone are no ground to change anything.
import type { ToolDeclaration } from '@baton/core'
import type { Filled } from './fill-arguments.ts'
import { fillArguments } from './fill-arguments.ts'
import type { Found } from './find-values.ts'
import { findValues, looksLikeFile, textAround } from './find-values.ts'
import { propertiesOf } from './schema-properties.ts'
import { meaningsOf, splitWords, stem, tellingStems } from './words.ts'

export interface Choice {
  readonly tool: ToolDeclaration
  readonly score: number
  readonly filled: Filled
}

const NAME_WEIGHT = 3
const DESCRIPTION_WEIGHT = 1
const PROPERTY_WEIGHT = 0.7
const SAME_MEANING_WEIGHT = 0.6
/** How much a value that finds its place counts, beside a word that is matched. */
const VALUE_SCORE = 0.6
/** The share of a request's words and values that a tool must answer to. */
const SHARE_MIN = 0.4

/** Verbs that ask for a change. At the head of a request they need a tool that has the verb itself. */
const ACTS: ReadonlySet<string> = new Set(
  'delete remove write create edit change update send deploy rename move install run fix add cancel post book buy make build set start stop draw translate explain summarize summarise'
    .split(' ')
    .map(stem),
)

export function isCallable(tool: ToolDeclaration): boolean {
  return tool.effect === 'pure'
}

/** The tools that fit, the best first. Without `isForced` none, when the words say that nothing fits. */
export function rankTools(text: string, tools: readonly ToolDeclaration[], isForced: boolean): readonly Choice[] {
  const found = findValues(text)
  const asked = askedStems(text, found)
  const named = found.flatMap(({ kind, value }) =>
    kind === 'identifier' || kind === 'name' ? tellingStems(value) : [],
  )
  const documents = tools.map(documentOf)
  const act = firstAct(text)
  const choices = tools.map((tool, index): Choice & { readonly share: number } => {
    const document = documents[index] ?? new Map<string, number>()
    const filled = fillArguments(tool, text, found)
    // What became an argument need not be a word of the tool.
    const taken = new Set(filled.phrases.flatMap(tellingStems))
    const counted = asked.filter((word) => !taken.has(word) || weightIn(document, word) > 0)
    const weigh = (word: string): number => weightIn(document, word) * rarity(documents, word)
    const matched = counted.filter((word) => weigh(word) > 0).length
    const share = (matched + filled.used.length) / Math.max(1, counted.length + found.length)
    const score = [...counted, ...named].reduce((sum, word) => sum + weigh(word), VALUE_SCORE * filled.used.length)
    return { tool, filled, score: matched === 0 || (act !== undefined && !document.has(act)) ? 0 : score, share }
  })
  return choices
    .filter(({ score, share }) => isForced || (score > 0 && share >= SHARE_MIN))
    .sort(
      (left, right) =>
        Number(left.filled.missing.length > 0) - Number(right.filled.missing.length > 0) || right.score - left.score,
    )
}

/** The stems of a tool with their weights; a word that is repeated counts a little more, as in BM25. */
function documentOf(tool: ToolDeclaration): ReadonlyMap<string, number> {
  const document = new Map<string, number>()
  const add = (text: string, weight: number): void => {
    for (const word of tellingStems(text)) {
      const old = document.get(word) ?? 0
      document.set(word, Math.max(old, weight) + (old > 0 ? 0.1 : 0))
    }
  }
  add(tool.name, NAME_WEIGHT)
  add(tool.description, DESCRIPTION_WEIGHT)
  for (const { name, description, schema } of propertiesOf(tool.inputSchema)) {
    add(`${name} ${description}`, PROPERTY_WEIGHT)
    if (Array.isArray(schema['enum'])) add(schema['enum'].join(' '), PROPERTY_WEIGHT)
  }
  return document
}

function weightIn(document: ReadonlyMap<string, number>, word: string): number {
  const meanings = meaningsOf(word)
  let best = document.get(word) ?? 0
  if (meanings.length === 0) return best
  for (const [other, weight] of document)
    if (meaningsOf(other).some((group) => meanings.includes(group))) best = Math.max(best, weight * SAME_MEANING_WEIGHT)
  return best
}

/** A word that every tool has tells nothing apart. */
function rarity(documents: readonly ReadonlyMap<string, number>[], word: string): number {
  const having = documents.filter((document) => weightIn(document, word) > 0).length
  return Math.log(1 + (documents.length + 0.5) / (having + 0.5))
}

/** The words of a request, and those that it says without words: naming a file asks for its content. */
function askedStems(text: string, found: readonly Found[]): readonly string[] {
  const said = tellingStems(textAround(text, found))
  const implied = found.flatMap(({ kind, value }) => {
    if (kind === 'path') return looksLikeFile(value) ? ['file', 'content', 'path'] : ['path', 'folder']
    return kind === 'url' || kind === 'email' || kind === 'date' ? [kind] : []
  })
  if (/\bwhere\b/i.test(text)) implied.push('locate')
  if (said.length + implied.length <= 1 && /\bwhat\b.*\bin\b/i.test(text)) implied.push('list', 'folder')
  return [...new Set([...said, ...implied.map(stem)])]
}

function firstAct(text: string): string | undefined {
  const polite = new Set([
    'please',
    'can',
    'could',
    'would',
    'will',
    'you',
    'kindly',
    'now',
    'just',
    'i',
    'want',
    'need',
    'to',
    'let',
    's',
  ])
  const first = splitWords(text).find((word) => !polite.has(word))
  return first !== undefined && ACTS.has(stem(first)) ? stem(first) : undefined
}
