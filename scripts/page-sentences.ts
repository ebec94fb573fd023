// Splits pages into sentences and says which of them promise something by their words. What a code block, a heading or a
// generated part says is no sentence: code decides it, and other checks compare it with the code.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from './source-files.ts'

/** Words of promises. A name in backticks is not one: a `once` tool promises nothing by its name. */
const PROMISING: readonly RegExp[] = [
  /\b(?:never|always|at most|no more than|no longer than|at least|survives?|until)\b/i,
  // Neither "at once" nor "once you have".
  /(?<!\bat )\bonce\b(?! (?:you|it|they|the|a|an|this|that|all|each|somebody|nobody)\b)/i,
  /\bup to \d/i,
  /\b(?:is|are|be) refused\b|\brefuses?\b/i,
]

const MEASURE =
  /\b\d[\d,.]*\s?(?:ms|milliseconds?|seconds?|s|minutes?|hours?|h|days?|weeks?|KB|MB|GB|KiB|MiB|GiB|bytes?|characters?|levels)\b/

/** Pages of measured figures: a benchmark writes down what it saw, and promises no number. */
const MEASURED: ReadonlySet<string> = new Set([
  'docs/comparison.md',
  'docs/mutation.md',
  'docs/performance.md',
  'docs/scaling.md',
])

/** Written by `npm run docs` as a whole. */
const GENERATED: ReadonlySet<string> = new Set([
  'docs/errors.md',
  'docs/log.md',
  'docs/promises.md',
  'docs/protocol-2-reference.md',
  'docs/tools.md',
])

/** Pages whose sentences are read, by their paths in the repository, the README first. */
export function listPages(): readonly string[] {
  const pages = globSync(['docs/*.md', 'packages/*/README.md'], { cwd: REPOSITORY })
  return ['README.md', ...pages.map((path) => path.replaceAll('\\', '/')).toSorted()].filter(
    (path) => !GENERATED.has(path),
  )
}

/** Sentences of the page that have a word or a measure of a promise, in order, each once, without Markdown. */
export function promisingSentences(page: string): readonly string[] {
  const sentences = splitSentences(readFileSync(join(REPOSITORY, page), 'utf8'))
  return [...new Set(sentences.filter((sentence) => promises(sentence, !MEASURED.has(page))).map(plain))]
}

/** True for a sentence that has one of the words; with `hasMeasures` also for one with a number and a unit. */
export function promises(sentence: string, hasMeasures = true): boolean {
  const words = sentence.replace(/`[^`]*`/g, '``')
  return [...PROMISING, ...(hasMeasures ? [MEASURE] : [])].some((pattern) => pattern.test(words))
}

/** Sentences of a page in order. A row of a table is one. */
export function splitSentences(page: string): readonly string[] {
  const prose = page
    .replace(/^---\n[^]*?^---$/m, '')
    .replace(/^<!-- generated: [^]*?^<!-- end generated -->$/gm, '')
    .replace(/^[ \t]*(```|~~~)[^]*?^[ \t]*\1[ \t]*$/gm, '')
    .replace(/<!--[^]*?-->/g, '')
  const blocks: string[] = []
  let isOpen = false
  for (const line of prose.split('\n')) {
    const text = line.trim()
    const isRow = text.startsWith('|')
    const begins = /^(?:[-*]|\d+\.)\s/.test(text)
    if (text === '' || text.startsWith('#') || /^\|[-\s|:]+\|$/.test(text)) isOpen = false
    else if (isOpen && !isRow && !begins) blocks.push(`${blocks.pop()} ${text}`)
    else {
      blocks.push(text.replace(/^(?:[-*]|\d+\.)\s+/, ''))
      isOpen = !isRow
    }
  }
  return blocks.flatMap((block) =>
    block.startsWith('|') ? [block] : block.split(/(?<=[.!?]["'”)*`]*)\s+(?=["'“(*`[]*[\p{Lu}\d`])/u),
  )
}

/** The sentence without links, stress and the bars of a row. Code keeps its backticks. */
function plain(sentence: string): string {
  return sentence
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*/g, '')
    .replace(/^\|\s*|\s*\|$/g, '')
    .replace(/\s+/g, ' ')
}
