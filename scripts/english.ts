// `node scripts/english.ts [FOLDER…] [--list]`: counts comment lines that begin with a word or contain a phrase which
// native engineers do not write, by package or for the named folders. `--list` prints the lines. A test keeps each
// folder under 1 %.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseSync } from 'oxc-parser'
import { REPOSITORY } from './source-files.ts'

/** First words that hide the subject of a comment. */
const STARTS = /^(?:Of|Whose|Where|What|To who|To whom|Who|From which|That|By who|For who)\b/

/** Phrases of a literal translation, each with a suggestion. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [
    /(?<!there )\b(?:is|are|was|were|be|it's) no (?!longer\b|more than\b|less than\b|different\b|need\b|way\b|such\b|\S+er\b)[a-z`]/i,
    'is not a …',
  ],
  [/\b(?:by|to|of|for|with|from|than) who\b/i, 'name the person or the part: the caller, the owner'],
  [
    /\bwhat (?:comes?|came|stands?|stood|goes|went|is said|was said|is told|was told|is gone|is there|was there)\b/i,
    'name the thing',
  ],
  [
    /(?:^|[.;:,] )(?:what|who|whoever) (?:is|are|was|were|has|have|had|can|does|did|may|must|reads?|asks?|waits?|needs?|runs?|holds?|writes?|comes?)\b/i,
    'name the thing',
  ],
  [
    /\b(?:stands?|stood) (?:there|here|in|at|on|under|beside|before|behind|for|still|once|twice|alone|first|as|where|yet|already|nowhere)\b/i,
    'is, has, is listed, is stopped',
  ],
  [
    /\b(?:is|are|was|were|been) (?:there|here) (?:already|no more|any more|yet|not|for|when|where|and|only|as)\b/i,
    'exists, is present',
  ],
  [/\blet(?:s|ting)? (?:\S+ )?go of\b/i, 'releases, closes'],
  [/\b(?:go|goes|went|going|gone) on\b/i, 'continues'],
  [/\b(?:give|gives|gave|given|giving) back\b/i, 'returns'],
  [
    /\b(?:is|are|was|were|be|been) (?:told|said)\b(?! to\b| (?:by )?(?:the )?(?:model|person|user|client|app)\b)/i,
    'is reported, is sent, is logged',
  ],
  [/\b(?:told|tells?) (?:apart|so|once|twice|at once|of itself)\b/i, 'distinguishes, reports once'],
  [
    /\b(?:comes|came|coming|come) (?:between|in between|again|later|late|after|before|too|along|of|out of|through|meanwhile|in its place|anew|first|last|next|back)\b/i,
    'arrives, follows, is repeated',
  ],
  [/\bin between\b/i, 'meanwhile, between them'],
  [/\b(?:somebody|someone|nobody|everybody) else(?:'s)?\b/i, 'another owner, another process'],
  [/\b(?:somebody|nobody|everybody)(?:'s)?\b/i, 'name the reader, owner, client'],
  [/\bof (?:its|their|his|one's|\S+'s) own\b/i, 'its own …'],
  [/\bof one's own\b/i, 'your own'],
  [/\banew\b/i, 'again'],
  [/\bany more\b(?! [a-z]+s\b)/i, 'any longer, now'],
  [/\b(?:by|behind|under|beside|over|before|after) which\b/i, 'that …, where, when'],
  [/\bfrom (?:here|there|then|now|which) on\b/i, 'from now on, after that'],
  [/\b(?:takes?|took|taken|taking) (?:in|along|over with)\b/i, 'accepts, reads'],
  [/\b(?:hand|hands|handed|handing) (?:on|along|back)\b/i, 'passes, returns'],
  [/\b(?:bring|brings|brought|bringing)\b/i, 'sends, returns, delivers'],
  [/\b(?:as far as|so far as|so long as|in so far)\b/i, 'if, while, up to'],
  [/\b(?:hence|whosoever|wherever|thereby|thereof|whereby)\b/i, 'so, any'],
  [
    /\b(?:the|these|those|a|an) (?:\S+ )?(?:\S+ )?(?:that|which) (?:is|are|was|were) (?:meant|asked|given|left|said|named|known|held|kept|told|there|open|over|gone)\b/i,
    'the given …, the open …',
  ],
  [/\b(?:one|ones|those|that) (?:that|which|who|whose|of which)\b/i, 'name the thing'],
  [/\b(?:beside|besides)\b/i, 'next to, with, except'],
  [/\b(?:else'?s)\b/i, 'another'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fixes, repairs'],
  [/\bat (?:the )?most\b.*\bat (?:the )?least\b/i, 'from … to …'],
  [/\b(?:has|have|had) (?:no|not any) (?:\S+ )?of (?:its|their) own\b/i, 'has none'],
  [/\b(?:so many|as many|so much|so long)\b/i, 'that many, this long'],
  [/\b(?:is|are|was|were) (?:over|gone|out)\b(?! (?:a|an|the|of|by)\b)/i, 'has ended, was removed'],
  [
    /\b(?:is|are|was|were|be|been) (?:looked|asked|waited|meant|spoken|thought|heard|cared) (?:at|for|of|to|after)\b/i,
    'active verb',
  ],
  [
    /\bto be had\b|\bto its end\b|\bwithout end\b|\bfor ever\b|\bat all times\b|\ball the same\b|\bas good as\b|\bno more\b/i,
    'plain words',
  ],
]

export interface Slip {
  readonly line: number
  readonly text: string
  readonly instead: string
}

/** The words of each comment line, without comment markers. */
export function commentLines(
  path: string,
  text: string,
): readonly { readonly line: number; readonly text: string; readonly isStart: boolean }[] {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const lineAt = (offset: number): number => {
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
  let last = -1
  return parseSync(path, text, { sourceType: 'module' }).comments.flatMap(({ type, value, start }) => {
    const first = lineAt(start)
    const isContinued = type === 'Line' && first === last + 1
    const lines = value
      .split('\n')
      .map((line, index) => ({ line: first + index, text: line.replace(/^[\s*/]+/, '').trim() }))
    last = first + lines.length - 1
    const spoken = lines.filter((line) => /[a-z]/i.test(line.text))
    return spoken.map((line, index) => ({ ...line, isStart: index === 0 && !isContinued }))
  })
}

/** Comment lines that a native engineer would phrase differently. */
export function findSlips(path: string, text: string): readonly Slip[] {
  return commentLines(path, text).flatMap(({ line, text: words, isStart }) => {
    if (isStart && STARTS.test(words)) return [{ line, text: words, instead: 'begin with a noun or a verb' }]
    const found = PHRASES.find(([phrase]) => phrase.test(words.replaceAll(/`[^`]*`/g, '`x`')))
    return found ? [{ line, text: words, instead: found[1] }] : []
  })
}

/** Counts the comment lines and the slips of a folder. `isListed` prints each slip. */
export function countSlips(folder: string, isListed = false): { readonly lines: number; readonly slips: number } {
  let lines = 0
  let slips = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (
      !entry.isFile() ||
      !/\.tsx?$/.test(path) ||
      /\.d\.ts$|\/(?:node_modules|dist)\//.test(path.slice(folder.length))
    )
      continue
    const text = readFileSync(path, 'utf8')
    lines += commentLines(path, text).length
    const found = findSlips(path, text)
    slips += found.length
    if (isListed) for (const slip of found) console.log(`${path}:${slip.line}: ${slip.text} [${slip.instead}]`)
  }
  return { lines, slips }
}

/** The folders of this repository that have source. */
export function listFolders(): readonly string[] {
  const packages = readdirSync(join(REPOSITORY, 'packages')).map((name) => join('packages', name, 'src'))
  return [...packages, 'packages/console/page', 'scripts', 'examples', 'bench']
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { list: { type: 'boolean', default: false } },
  })
  console.log('| folder | comment lines | slips | share |\n| --- | --- | --- | --- |')
  for (const folder of positionals.length > 0 ? positionals : listFolders()) {
    const { lines, slips } = countSlips(resolve(REPOSITORY, folder), values.list)
    console.log(`| ${folder} | ${lines} | ${slips} | ${((100 * slips) / lines).toFixed(1)} % |`)
  }
}
