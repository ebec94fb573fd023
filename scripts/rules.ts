// Finds comments in core, runtime, host and server that state a rule, and compares them with rules.json. `node
// scripts/rules.ts` prints comments without a row, and rows without a comment.
import { readSource, isTest, sourcePaths } from './source-files.ts'
import { EXPLANATIONS, RULES, UNPLAYED } from './rule-list.ts'

export interface StatedRule {
  readonly file: string
  readonly line: number
  /** The comment's lines, joined. */
  readonly text: string
}

const PLACES = /^packages\/(?:core|runtime|host|server)\/src\//
const RULE_WORDS = /\b(?:never|only|at most|at least|once|first|before|until|always|must|no more than)\b/i

/** Line comments inside code that contain a word of a rule, in file order. */
export function listRules(): readonly StatedRule[] {
  return sourcePaths()
    .filter((path) => PLACES.test(path) && !path.includes('/testing/') && !isTest(path))
    .flatMap(readRules)
}

function readRules(path: string): readonly StatedRule[] {
  const { comments, program, lineOf, text } = readSource(path)
  const begin = program.body[0]?.start ?? text.length
  const joined: { line: number; end: number; text: string }[] = []
  for (const comment of comments) {
    if (comment.type !== 'Line' || comment.start < begin) continue
    const last = joined.at(-1)
    const said = comment.value.trim()
    if (last && text.slice(last.end, comment.start).trim() === '' && !isBehindCode(text, comment.start)) {
      last.text += ` ${said}`
      last.end = comment.end
    } else joined.push({ line: lineOf(comment.start), end: comment.end, text: said })
  }
  return joined
    .filter((one) => RULE_WORDS.test(one.text))
    .map((one) => ({ file: path, line: one.line, text: one.text }))
}

function isBehindCode(text: string, start: number): boolean {
  return text.slice(text.lastIndexOf('\n', start) + 1, start).trim() !== ''
}

/** Rules without a row. */
export function listNew(): readonly StatedRule[] {
  const known = new Set(listRows())
  return listRules().filter(({ file, text }) => !known.has(`${file} ${text}`))
}

/** Rows whose comment was removed or reworded. */
export function listStale(): readonly string[] {
  const stated = new Set(listRules().map(({ file, text }) => `${file} ${text}`))
  return listRows().filter((key) => !stated.has(key))
}

function listRows(): readonly string[] {
  return [...RULES, ...EXPLANATIONS, ...UNPLAYED].map(({ file, rule }) => `${file} ${rule}`)
}

if (process.argv[1] === import.meta.filename) {
  for (const { file, line, text } of listNew()) console.log(`${file}:${line}: ${text}`)
  for (const key of listStale()) console.log(`gone: ${key}`)
}
