// Finds parts of a call's arguments that come from untrusted results, so that an approver sees which words are not the
// user's. It finds exact copies, not paraphrases.
import type { CopiedText, StoredMessage } from '@baton/core/internal'
import { readText } from '@baton/core/internal'

/** Minimum UTF-16 units of a copied passage. */
const PASSAGE = 24
/** The minimum for a single word that looks like an address, a number or a file name. */
const WORD_CHARS = 6
/** UTF-16 units of untrusted results to search, newest first. */
const READ_CHARS = 262_144
/** UTF-16 units of arguments to search. */
const INPUT_CHARS = 65_536
const WORDS_MAX = 512
const PLACES_MAX = 32
const DEPTH_MAX = 32

interface Passage {
  readonly tool: string
  readonly text: string
}

/** Texts from outside, and texts of the user. */
export interface ReadTexts {
  readonly untrusted: readonly Passage[]
  /** A task written by the model of a caller that had read untrusted texts: its words may be anybody's. */
  readonly task: readonly Passage[]
  readonly user: string
}

export function collectTexts(messages: readonly StoredMessage[]): ReadTexts {
  const untrusted: Passage[] = []
  const task: Passage[] = []
  const user: string[] = []
  let left = READ_CHARS
  const add = (tool: string, text: string): void => {
    if (left > 0 && text !== '') untrusted.push({ tool, text: text.slice(0, left) })
    left -= text.length
  }
  for (const message of messages.toReversed()) {
    if (message.role === 'user' && !message.untrusted) user.push(readText(message.parts))
    else if (message.role === 'user' && message.known) {
      const tool = message.untrusted?.join(', ') ?? ''
      task.push({ tool, text: readText(message.parts).slice(0, READ_CHARS) })
      for (const address of message.known) add(tool, address)
    } else if (message.role === 'user') add(message.untrusted?.join(', ') ?? '', readText(message.parts))
    else if (message.role === 'tool') {
      for (const { name, provenance, content } of message.parts)
        if (provenance?.trust === 'untrusted') add(name, readText(content))
    } else
      for (const part of message.parts)
        if (part.type === 'source') add('search of the provider', [part.url, part.quote].join('\n'))
  }
  return { untrusted, task, user: user.join('\n').slice(0, READ_CHARS) }
}

export function findCopies(input: unknown, read: ReadTexts): readonly CopiedText[] {
  const texts = { ...read, untrusted: [...read.untrusted, ...read.task] }
  if (texts.untrusted.length === 0) return []
  const grams = hashAll(texts.untrusted)
  const found: CopiedText[] = []
  for (const [path, text] of listTexts(input).texts) {
    if (found.length >= PLACES_MAX) break
    const passages = findPassages(text, texts, grams)
    const words = findWords(text, texts).filter((word) =>
      passages.every((passage) => word.to <= passage.from || word.from >= passage.to),
    )
    const places = [...passages, ...words].toSorted((one, other) => one.from - other.from)
    found.push(...places.map((place) => ({ path, ...place })))
  }
  return found.slice(0, PLACES_MAX)
}

/**
 * Pointers to texts that the model did not copy exactly, ignoring a trailing slash. Property names count too, except
 * plain ones of the outermost object. Numbers and scraps occur anywhere, so they count only in bulk. Parts too long or
 * too deep to read count.
 */
export function findComposed(input: unknown, { untrusted, user }: ReadTexts): readonly string[] {
  const { texts, names, numbers, unseen } = listTexts(input)
  const scraps = [...numbers, ...texts.filter(([, text]) => text.length <= SCRAP_CHARS)]
  const scrapChars = scraps.reduce((sum, [, text]) => sum + text.length, 0)
  const own = [...texts, ...names].filter(([, text]) => {
    const bare = text.replace(/\/$/, '')
    return !user.includes(bare) && !untrusted.some((passage) => passage.text.includes(bare))
  })
  const found = [...own, ...(scrapChars > SCRAPS_CHARS ? scraps : [])].map(([path]) => path)
  return [...new Set([...found, ...unseen])]
}

const SCRAP_CHARS = 3
/**
 * UTF-16 units allowed for all numbers and scraps of a call: enough for a page, a count and a language, but not for an
 * account number.
 */
const SCRAPS_CHARS = 8
const PLAIN_NAME = /^[a-z_$][\w$.-]{0,31}$/i

type Found = readonly [path: string, text: string]

interface ListedTexts {
  readonly texts: readonly Found[]
  readonly names: readonly Found[]
  readonly numbers: readonly Found[]
  /** Places that were not searched in full; at most `PLACES_MAX`. */
  readonly unseen: readonly string[]
}

function listTexts(input: unknown): ListedTexts {
  const [texts, names, numbers, unseen]: [Found[], Found[], Found[], string[]] = [[], [], [], []]
  let left = INPUT_CHARS
  const visit = (value: unknown, path: string, depth: number): void => {
    if (left <= 0 || depth > DEPTH_MAX) {
      if (unseen.length < PLACES_MAX) unseen.push(path)
    } else if (typeof value === 'string') {
      texts.push([path, value.slice(0, left)])
      if (value.length > left) unseen.push(path)
      left -= value.length
    } else if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
      numbers.push([path, typeof value === 'boolean' ? '1' : String(value)])
    else if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) {
        const below = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
        if (!Array.isArray(value) && (depth > 0 || !PLAIN_NAME.test(name))) {
          names.push([below, name])
          left -= name.length
        }
        visit(item, below, depth + 1)
        if (unseen.length >= PLACES_MAX) return
      }
  }
  visit(input, '', 0)
  return { texts, names, numbers, unseen }
}

type Place = Omit<CopiedText, 'path'>

function findPassages(text: string, { untrusted, user }: ReadTexts, grams: ReadonlySet<number>): readonly Place[] {
  const places: Place[] = []
  let next = 0
  for (const [from, hash] of hashGrams(text)) {
    if (from < next || !grams.has(hash)) continue
    const gram = text.slice(from, from + PASSAGE)
    const source = untrusted.find((passage) => passage.text.includes(gram))
    if (!source) continue
    const to =
      from + PASSAGE + countSame(text.slice(from + PASSAGE), source.text.slice(source.text.indexOf(gram) + PASSAGE))
    next = to
    if (!user.includes(text.slice(from, to))) places.push({ from, to, tool: source.tool })
  }
  return places
}

function countSame(one: string, other: string): number {
  let count = 0
  while (count < one.length && one[count] === other[count]) count += 1
  return count
}

function findWords(text: string, { untrusted, user }: ReadTexts): readonly Place[] {
  return [...text.matchAll(/[^\s"'<>()[\]{},;]+/gu)].slice(0, WORDS_MAX).flatMap(({ 0: found, index: from }) => {
    const word = trimMarks(found)
    if (word.length < WORD_CHARS || !/[\d@./:_-]/u.test(word) || user.includes(word)) return []
    const source = untrusted.find((passage) => passage.text.includes(word))
    return source ? [{ from, to: from + word.length, tool: source.tool }] : []
  })
}

/**
 * Removes trailing marks. A regular expression would start at each of them, and a long row of dots would take seconds.
 */
function trimMarks(word: string): string {
  let end = word.length
  while (end > 0 && '.:!?'.includes(word.charAt(end - 1))) end -= 1
  return word.slice(0, end)
}

function hashAll(passages: readonly Passage[]): ReadonlySet<number> {
  const hashes = new Set<number>()
  for (const { text } of passages) for (const [, hash] of hashGrams(text)) hashes.add(hash)
  return hashes
}

/** A rolling hash of each passage of `PASSAGE` units. */
function* hashGrams(text: string): Generator<readonly [from: number, hash: number]> {
  let hash = 0
  for (let index = 0; index < text.length; index += 1) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0
    if (index >= PASSAGE) hash = (hash - Math.imul(HIGHEST, text.charCodeAt(index - PASSAGE))) | 0
    if (index >= PASSAGE - 1) yield [index - PASSAGE + 1, hash]
  }
}

/** 31 to the power of `PASSAGE`, in 32 bits. */
const HIGHEST = Array.from({ length: PASSAGE }).reduce<number>((power) => Math.imul(power, 31), 1)
