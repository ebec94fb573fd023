// Splits a request into words and values and fills a tool's arguments from them, guided by the names, descriptions and
// schemas of its properties. English only; knows no specific tool and invents nothing.
import type { JsonObject, JsonValue, ToolDeclaration } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'

export type Kind = 'word' | 'quoted' | 'url' | 'date' | 'number' | 'path' | 'identifier' | 'name'

export interface Token {
  readonly kind: Kind
  readonly text: string
  /** Stems of a meaningful word, otherwise empty. */
  readonly stems: readonly string[]
  readonly endsPhrase: boolean
}

export interface Filled {
  readonly arguments: JsonObject
  /** Names of required properties without a value. */
  readonly missing: readonly string[]
  readonly used: ReadonlySet<Token>
}

interface Property {
  readonly name: string
  readonly role: string
  readonly isRequired: boolean
  readonly nameStems: readonly string[]
  /** Stems of the name, description and options. */
  readonly stems: readonly string[]
  readonly options: readonly JsonValue[]
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the this that these those here there it its is are was were be been am do does did has have had can could would should will may might must i me my we us our you your he she they them their ' +
    'what which who whom whose when how why and or not no of in on at to from by with for about as into under inside within over than then so if but also all any some each every everything ' +
    'please just only want need like let tell give help s t re ve ll d m now still many much hi hello hey good morning evening thanks thank bye'
  ).split(' '),
)
/** Words on the same line are treated as synonyms. */
const SAME_MEANING = [
  'search find locate look mention contain occur match scan lookup where use usage reference query',
  'show read view display open print get fetch content see inspect retrieve excerpt',
  'list enumerate browse index overview structure tree',
  'folder directory dir',
  'file document page',
  'line row span range passage',
  'repo repository project',
  'issue ticket bug',
  'event appointment meeting calendar agenda',
  'weather forecast temperature rain',
  'contact person people user member',
  'recent history log past latest last',
].map((line) => line.split(' ').map(findRoot))
const MEANINGS = new Map(SAME_MEANING.flatMap((roots) => roots.map((root) => [root, roots[0] ?? root])))
/** The first pattern that matches a token applies. Each is linear in the token's length. */
const KINDS: readonly (readonly [Kind, RegExp])[] = [
  ['url', /^https?:\/\/./i],
  ['date', /^(?:\d{4}-\d\d-\d\d.*|today|tomorrow|yesterday|tonight|(?:mon|tues|wednes|thurs|fri|satur|sun)day)$/i],
  ['number', /^#?-?\d+(?:\.\d+)?$/],
  // Text with a letter and a slash, or an extension that starts with a letter.
  ['path', /^(?=.*\p{L}).*\/|^(?!(?:e\.g|i\.e)$)[\w.-]*\.[a-z]\w{0,9}$/iu],
  // Inner capitals, underscores, at signs, all capitals, or letters with digits.
  ['identifier', /\p{Ll}\p{Lu}|_|@|^\p{Lu}{2,}$|^(?=.*\d)(?=.*\p{L})/u],
]
/**
 * Kinds of values a property wants, by its name or, if it is required, by its description. The first matching role
 * applies.
 */
const ROLES: readonly (readonly [role: string, stems: readonly string[], kinds: readonly Kind[]])[] = [
  ['choice', [], []],
  ['number', [], ['number']],
  ['path', listStems('path file folder filename'), ['path', 'quoted']],
  ['repository', listStems('owner repo'), ['path']],
  ['url', listStems('url uri link website'), ['url']],
  ['date', listStems('date day since until when'), ['date']],
  ['search', listStems('pattern search term text phrase keyword regex expression needle'), ['quoted']],
  ['id', listStems('id identifier key'), ['identifier', 'quoted', 'number']],
  ['thing', [], ['quoted', 'name', 'identifier']],
]
const [SEARCH = '', FILE = '', FOLDER = '', OWNER = '', REGEX = ''] = listStems('search file folder owner regular')
const FIRST = listStems('start from first begin min')
const LAST = listStems('end to last until max')
const AMOUNT = listStems('limit count max number amount')
const PLACE = /^(?:in|under|inside|within|of)$/i
const NO_PLACE = /^(?:general|details?|order|case|english|total|root|current|whole|project|repo|repository|code)$/i
const PREPOSITION = /^(?:in|for|at|of|about|with|on|named|called|to)$/i
const PHRASE_WORDS_MAX = 4
/** Maximum distance in tokens between "search" and the thing searched for. */
const PHRASE_DISTANCE_MAX = 8

export function fillArguments(tool: ToolDeclaration, tokens: readonly Token[]): Filled {
  const properties = listProperties(tool.inputSchema)
  const toolStems = listStems(`${tool.name} ${tool.description}`)
  const used = new Set<Token>()
  const values = rangeFor(properties, tokens, used)
  const rank = ({ isRequired, role }: Property): number =>
    ROLES.findIndex(([name]) => name === role) + (isRequired ? 0 : ROLES.length)
  for (const property of properties.toSorted((left, right) => rank(left) - rank(right))) {
    // Owner and name of a repository come from the same token.
    const free = tokens.filter((token) => property.role === 'repository' || !used.has(token))
    const taken = values.has(property.name) ? [] : tokensFor(property, free, toolStems)
    for (const token of taken) used.add(token)
    if (taken.length > 0) values.set(property.name, readValue(property, properties, taken))
  }
  const missing = properties.filter(({ name, isRequired }) => isRequired && !values.has(name))
  return { arguments: Object.fromEntries(values), missing: missing.map(({ name }) => name), used }
}

export function listProperties({ properties, required }: JsonObject): readonly Property[] {
  return Object.entries(isJsonObject(properties) ? properties : {}).map(([name, given]): Property => {
    const { type, anyOf, description, enum: listed, ...rest } = isJsonObject(given) ? given : {}
    const isRequired = Array.isArray(required) && required.includes(name) && !('default' in rest)
    const options = Array.isArray(listed) ? listed : []
    const nameStems = listStems(name)
    const stems = [
      ...nameStems,
      ...listStems(`${typeof description === 'string' ? description : ''} ${options.join(' ')}`),
    ]
    const roleBy = (words: readonly string[]): string | undefined => ROLES.find(([, own]) => hasAny(words, own))?.[0]
    const types = JSON.stringify([type, anyOf])
    let role = roleBy(nameStems) ?? (isRequired ? roleBy(stems) : undefined) ?? 'thing'
    if (/"(?:boolean|object|array)"/.test(types)) role = 'none'
    if (/"(?:integer|number)"/.test(types)) role = 'number'
    if (options.length > 0) role = 'choice'
    return { name, isRequired, options, nameStems, stems, role }
  })
}

function tokensFor(property: Property, free: readonly Token[], toolStems: readonly string[]): readonly Token[] {
  const { role, isRequired, nameStems, stems, options } = property
  const kinds = ROLES.find(([name]) => name === role)?.[2] ?? []
  const valued = kinds.flatMap((kind) => free.filter((token) => token.kind === kind))
  const isKnown = (token: Token): boolean => hasAny(token.stems, [...toolStems, ...nameStems])
  if (role === 'choice') return free.filter(({ text }) => options.some((option) => isSame(option, text))).slice(0, 1)
  if (role === 'number') return numberFor(property, free)
  if (role === 'path') {
    const [wantsFile, wantsFolder] = [stems.includes(FILE), stems.includes(FOLDER)]
    const fitting = valued.filter((path) => wantsFile === wantsFolder || isFile(path) === wantsFile)
    if (fitting.length > 0 || (wantsFile && !wantsFolder))
      return [...fitting, ...(isRequired ? valued : [])].slice(0, 1)
    const place = phraseBehind(free, ({ text }) => PLACE.test(text), isKnown).slice(0, 1)
    return place.filter(({ kind, text }) => kind === 'word' && !NO_PLACE.test(text))
  }
  // Filling an optional property with an unrelated word would be a guess.
  const isGuess = !isRequired && ['search', 'id', 'thing'].includes(role)
  if (valued.length > 0 || isGuess) return isGuess ? [] : valued.slice(0, 1)
  if (role === 'thing')
    return phraseBehind(free, ({ text }) => PREPOSITION.test(text), isKnown).filter(({ kind }) => kind === 'word')
  if (role !== 'search') return []
  const searched = phraseBehind(free, (token) => token.stems.includes(SEARCH) || token.text === 'for', isKnown)
  return searched.length > 0
    ? searched
    : free.filter(({ kind }) => kind === 'identifier' || kind === 'name').slice(0, 1)
}

/**
 * The first few words, or the first value, after a word that introduces them. Words of the tool's own description are
 * skipped.
 */
function phraseBehind(
  tokens: readonly Token[],
  isMarker: (token: Token) => boolean,
  isKnown: (token: Token) => boolean,
): readonly Token[] {
  const isPart = (token: Token): boolean => (token.kind !== 'word' || token.stems.length > 0) && !isKnown(token)
  for (const [at, marker] of tokens.entries()) {
    const phrase: Token[] = []
    for (const token of isMarker(marker) && !marker.endsPhrase ? tokens.slice(at + 1, at + PHRASE_DISTANCE_MAX) : []) {
      const isWord = token.kind === 'word'
      if (phrase.length > 0 && (!isPart(token) || !isWord)) break
      if (isPart(token)) phrase.push(token)
      if (token.endsPhrase || (isPart(token) && !isWord)) break
    }
    if (phrase.length > 0) return phrase.slice(0, PHRASE_WORDS_MAX)
  }
  return []
}

/** Fills two properties such as startLine and endLine from "lines 3 to 9", "line 7" or "the first 3 lines". */
function rangeFor(properties: readonly Property[], tokens: readonly Token[], used: Set<Token>): Map<string, JsonValue> {
  const numeric = properties.filter(({ role }) => role === 'number')
  const first = numeric.find(({ nameStems }) => hasAny(nameStems, FIRST))
  const last = numeric.find(({ nameStems }) => hasAny(nameStems, LAST))
  const at = tokens.findIndex(({ kind }) => kind === 'number')
  const low = tokens[at]
  if (!first || !last || !low || !tokens.some(({ stems }) => hasAny(stems, first.nameStems))) return new Map()
  const high = tokens.slice(at + 1, at + 3).find(({ kind }) => kind === 'number') ?? low
  used.add(low).add(high)
  const from = high === low && /^first$/i.test(tokens[at - 1]?.text ?? '') ? 1 : Number(low.text)
  return new Map([
    [first.name, from],
    [last.name, Number(high.text)],
  ])
}

/**
 * A number next to the property's own word, "the 5 latest sessions" for an amount, or any number if one is required.
 */
function numberFor({ nameStems, isRequired }: Property, free: readonly Token[]): readonly Token[] {
  const isAmount = hasAny(nameStems, AMOUNT)
  const numbers = free.flatMap(({ kind }, at) => (kind === 'number' ? [at] : []))
  const beside = numbers.find((at) =>
    [free[at - 1], free[at + 1]].some((token) => hasAny(token?.stems ?? [], nameStems)),
  )
  const amount = numbers.find((at) => isAmount && free.slice(at + 1, at + 3).some(({ text }) => /[^s]s$/.test(text)))
  const found = beside ?? amount ?? (isRequired ? numbers[0] : undefined)
  return found === undefined ? [] : free.slice(found, found + 1)
}

function readValue(property: Property, all: readonly Property[], taken: readonly Token[]): JsonValue {
  const { role, nameStems, stems, options } = property
  const text = taken.map((token) => token.text.replace(/^#(?=\d)/, '')).join(' ')
  if (role === 'number') return Number(text)
  if (role === 'choice') return options.find((option) => isSame(option, text)) ?? text
  if (role === 'repository' && all.some((other) => other.nameStems.includes(OWNER)))
    return text.split('/')[nameStems.includes(OWNER) ? 0 : 1] ?? text
  // Escapes words if a regular expression is wanted.
  return stems.includes(REGEX) ? text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') : text
}

export function readRequest(request: string): readonly Token[] {
  const tokens: Token[] = []
  for (const [raw, quoted] of request.matchAll(/["“`]([^"“”`]+)["”`]|[^\s"“”`]+/g)) {
    const bare = withoutPunctuation(raw).replace(/^(?:readme|changelog)$/i, (name) => `${name.toUpperCase()}.md`)
    const endsPhrase = quoted === undefined && /[?!.,;:]$/.test(raw)
    const texts = quoted === undefined ? bare.split(/(?<=^\d+)(?:-|–|\.\.)(?=\d+$)/) : [quoted]
    for (const text of texts) {
      const previous = tokens.at(-1)
      const name = previous?.endsPhrase === false && /^\p{Lu}\p{Ll}/u.test(text) ? 'name' : 'word'
      const kind = quoted === undefined ? (KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? name) : 'quoted'
      const stems = kind === 'word' ? listStems(text, STOP_WORDS) : []
      // Merges adjacent words of a name.
      if (kind === 'name' && previous?.kind === 'name')
        tokens.splice(-1, 1, { kind, stems, text: `${previous.text} ${text}`, endsPhrase })
      else if (text !== '') tokens.push({ kind, stems, text, endsPhrase })
    }
  }
  return tokens
}

/** Whether the path ends in a file name with an extension. */
export function isFile({ kind, text }: Token): boolean {
  return kind === 'path' && text.lastIndexOf('.') > text.lastIndexOf('/') + 1
}

/** Returns one stem for all words with the same meaning. */
export function listStems(text: string, without: ReadonlySet<string> = new Set()): readonly string[] {
  const words = splitWords(text).filter((word) => !without.has(word))
  return words.map((word) => MEANINGS.get(findRoot(word)) ?? findRoot(word))
}

/** Splits names and sentences into words: `getUserById`, `user.by_id` and `PDFFile` split as a reader would. */
export function splitWords(text: string): readonly string[] {
  const parts = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
  return parts.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Strips common English endings; the result need not be a word. */
function findRoot(word: string): string {
  const single = word.length > 3 ? word.replace(/ies$/, 'y').replace(/(?<=ch|sh|ss|x)es$|(?<![su])s$/, '') : word
  const root = single.length > 4 ? single.replace(/(?:ing|ed)$/, '') : single
  return root.length > 3 ? root.replace(/(.)\1$/, '$1').replace(/e$/, '') : root
}

function withoutPunctuation(raw: string): string {
  let [start, end] = [0, raw.length]
  while (start < end && "([{<'*".includes(raw.charAt(start))) start++
  while (end > start && "?!.,;:)(]}>'*".includes(raw.charAt(end - 1))) end--
  return raw.slice(start, end)
}

function hasAny(stems: readonly string[], wanted: readonly string[]): boolean {
  return stems.some((stem) => wanted.includes(stem))
}

function isSame(option: JsonValue, text: string): boolean {
  return typeof option === 'string' && option.toLowerCase() === text.toLowerCase()
}
