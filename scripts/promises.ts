// The ledger of promises: which test plays each sentence of a page that promises something (scripts/promises.json).
// `npm run docs:check` refuses an entry missing on either side; `node scripts/promises.ts --list-new` prints what to
// add for new sentences, and `--renew` moves the marks of reworded sentences to their new wording.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'prettier'
import { listPages, promisingSentences } from './page-sentences.ts'
import { REPOSITORY } from './source-files.ts'

/** How a test observes whether the promise holds, in the order of the page's last table. */
export const WITNESSES = {
  client: 'messages and events that a client, a reader of events or a page received',
  model: 'requests that a model or its server received',
  world: 'external effects: tool runs, files, requests that other servers received, memory, processes',
  command: 'the output and the exit code of a command',
  caller: 'what a public function returned or threw to its caller',
  compile: 'the compiler',
  inside: 'an internal value, which users cannot see',
  log: 'the log alone',
} as const

export type Witness = keyof typeof WITNESSES

/** Tests that play one or several sentences. */
export interface PromiseEntry {
  readonly witness: Witness
  /** `FILE: TITLE` of each test, exactly as in the repository. */
  readonly tests: readonly string[]
}

/**
 * A sentence as written on its page, without Markdown, with its promises, or with the reason why it does not make any.
 */
export type SentenceEntry =
  | { readonly sentence: string; readonly promises: readonly string[] }
  | { readonly sentence: string; readonly noPromise: string }

export interface Ledger {
  readonly promises: Readonly<Record<string, PromiseEntry>>
  /** Sentences by page. */
  readonly sentences: Readonly<Record<string, readonly SentenceEntry[]>>
  /** How many sentences of a page have not been reviewed yet. A number may only shrink. */
  readonly notYetCovered: Readonly<Record<string, number>>
  /** How many promises have no witness but `inside` and `log`. It may only shrink. */
  readonly insideAtMost: number
}

/** Sentences with promising words, by page. */
export type PageSentences = ReadonlyMap<string, readonly string[]>

const LEDGER = 'scripts/promises.json'
const ADVICE = `node scripts/promises.ts --list-new prints what to add to ${LEDGER}; --renew does it for reworded sentences`

export function readLedger(): Ledger {
  // Written by hand and read only by this file: `findFaults` reports entries that do not fit.
  return JSON.parse(readFileSync(join(REPOSITORY, LEDGER), 'utf8')) as Ledger
}

export function readPageSentences(): PageSentences {
  return new Map(listPages().map((page) => [page, promisingSentences(page)]))
}

/**
 * Missing and superfluous entries of the ledger, one line each. `readTest` returns the text of a test file, or
 * undefined if the file does not exist.
 */
export function findFaults(
  ledger: Ledger,
  pages: PageSentences,
  readTest: (path: string) => string | undefined = readTestFile,
): readonly string[] {
  const marked = Object.entries(ledger.sentences).flatMap(([page, entries]) =>
    entries.map((entry) => ({ page, entry })),
  )
  const used = new Set(marked.flatMap(({ entry }) => ('promises' in entry ? entry.promises : [])))
  return [
    ...[...pages].flatMap(([page, sentences]) => findUncovered(ledger, page, sentences)),
    ...Object.keys(ledger.notYetCovered)
      .filter((page) => !pages.has(page))
      .map((page) => `${LEDGER}: notYetCovered names ${page}, which is not a page`),
    ...marked.flatMap(({ page, entry }) => findWrongEntry(ledger, pages.get(page) ?? [], page, entry)),
    ...Object.entries(ledger.promises).flatMap(([id, entry]) => [
      ...(used.has(id) ? [] : [`${LEDGER}: no sentence makes the promise "${id}"`]),
      ...findWrongPromise(id, entry, readTest),
    ]),
    ...findTooManyInside(ledger),
  ]
}

function findUncovered(ledger: Ledger, page: string, sentences: readonly string[]): readonly string[] {
  const known = new Set(ledger.sentences[page]?.map(({ sentence }) => sentence))
  const added = sentences.filter((sentence) => !known.has(sentence))
  const most = ledger.notYetCovered[page] ?? 0
  if (added.length > most)
    return added.map(
      (sentence) => `${page}: this sentence promises something and names no test: "${sentence}". ${ADVICE}`,
    )
  return added.length < most
    ? [`${LEDGER}: notYetCovered says ${most} for ${page}, which has ${added.length}: update it`]
    : []
}

function findWrongEntry(
  ledger: Ledger,
  sentences: readonly string[],
  page: string,
  entry: SentenceEntry,
): readonly string[] {
  const at = `${LEDGER}, ${page}: "${entry.sentence}"`
  if (!sentences.includes(entry.sentence)) return [`${at} is no longer on the page: remove it. ${ADVICE}`]
  if (!('promises' in entry)) return entry.noPromise.trim() === '' ? [`${at} does not say why it is not a promise`] : []
  if (entry.promises.length === 0) return [`${at} names neither a promise nor a reason for having none`]
  return entry.promises
    .filter((id) => ledger.promises[id] === undefined)
    .map((id) => `${at} names the promise "${id}", which has no tests`)
}

function findWrongPromise(
  id: string,
  { witness, tests }: PromiseEntry,
  readTest: (path: string) => string | undefined,
): readonly string[] {
  const at = `${LEDGER}: the promise "${id}"`
  return [
    ...(Object.hasOwn(WITNESSES, witness) ? [] : [`${at} has the witness "${witness}", which does not exist`]),
    ...(tests.length === 0 ? [`${at} has no test`] : []),
    ...tests.flatMap((test) => {
      const { file, title } = splitTest(test)
      const text = readTest(file)
      if (text === undefined) return [`${at} names ${file}, which is not a test file`]
      return ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`))
        ? []
        : [`${at}: ${file} has no test "${title}"`]
    }),
  ]
}

function findTooManyInside({ promises, insideAtMost }: Ledger): readonly string[] {
  const inside = Object.values(promises).filter(({ witness }) => witness === 'inside' || witness === 'log').length
  if (inside === insideAtMost) return []
  return [
    inside > insideAtMost
      ? `${LEDGER}: ${inside} promises are observed only from inside, and ${insideAtMost} may be: test the new one from outside`
      : `${LEDGER}: insideAtMost is ${insideAtMost}, and ${inside} promises are observed only from inside: update it`,
  ]
}

/** Splits `FILE: TITLE` into its parts. */
export function splitTest(test: string): { readonly file: string; readonly title: string } {
  const at = test.indexOf(': ')
  return { file: test.slice(0, at), title: test.slice(at + 2) }
}

function readTestFile(path: string): string | undefined {
  const isTest =
    /\.test\.tsx?$|-situations\.ts$|-contract\.ts$|\.test-kit\.ts$/.test(path) && existsSync(join(REPOSITORY, path))
  return isTest ? readFileSync(join(REPOSITORY, path), 'utf8') : undefined
}

interface NewSentence {
  readonly page: string
  readonly sentence: string
  /** The entry of a removed sentence that shares most of its words. */
  readonly was: SentenceEntry | undefined
}

/** Sentences without an entry, each with the entry that it probably had with its former wording. */
export function listNew(ledger: Ledger, pages: PageSentences): readonly NewSentence[] {
  return [...pages].flatMap(([page, sentences]) => {
    const entries = ledger.sentences[page] ?? []
    const known = new Set(entries.map(({ sentence }) => sentence))
    const gone = entries.filter(({ sentence }) => !sentences.includes(sentence))
    return sentences
      .filter((sentence) => !known.has(sentence))
      .map((sentence) => ({ page, sentence, was: gone.find((entry) => isAlike(entry.sentence, sentence)) }))
  })
}

/** Whether two sentences share two thirds of their words. */
function isAlike(one: string, other: string): boolean {
  const [ones, others] = [new Set(one.split(/\W+/)), new Set(other.split(/\W+/))]
  return [...ones].filter((word) => others.has(word)).length * 3 >= Math.max(ones.size, others.size) * 2
}

/** The ledger with the marks of reworded sentences moved to their new wording, and without removed sentences. */
export function renew(ledger: Ledger, pages: PageSentences): Ledger {
  const added = listNew(ledger, pages)
  const sentences = [...pages].flatMap(([page, present]) => {
    const entries = present.flatMap((sentence) => {
      const was = added.find((each) => each.page === page && each.sentence === sentence)?.was
      const entry = ledger.sentences[page]?.find((each) => each.sentence === sentence) ?? was
      return entry === undefined ? [] : [{ ...entry, sentence }]
    })
    return entries.length === 0 ? [] : [[page, entries] as const]
  })
  return { ...ledger, sentences: Object.fromEntries(sentences) }
}

if (process.argv[1] === import.meta.filename) {
  const pages = readPageSentences()
  const isRenewal = process.argv.includes('--renew')
  const ledger = isRenewal ? renew(readLedger(), pages) : readLedger()
  if (isRenewal) {
    const text = JSON.stringify(ledger, undefined, 2)
    writeFileSync(join(REPOSITORY, LEDGER), await format(text, { parser: 'json', printWidth: 120 }))
  }
  for (const { page, sentence, was } of listNew(ledger, pages)) {
    const entry = { ...(was ?? { promises: ['ID of a promise'] }), sentence }
    console.log(`${page}\n  ${JSON.stringify(entry)},${was ? `\n  was: ${was.sentence}` : ''}`)
  }
}
