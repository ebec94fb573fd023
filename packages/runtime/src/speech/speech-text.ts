// Extracts the words of an answer for a voice, without Markdown, addresses and code. Models write the text: patterns
// should be linear, and each sees a piece of bounded length, so that a slow one costs little.
import { wholeEnd } from '@baton/core/internal'

/** UTF-16 units of an answer to speak: about two hours. */
export const SPOKEN_CHARS = 100_000
/** Maximum UTF-16 units passed to a pattern; a longer line is spoken in pieces. */
export const LINE_CHARS = 4096

/** Returns an empty string if nothing can be spoken. Text after `SPOKEN_CHARS` is dropped. */
export function extractSpeech(text: string): string {
  const [spoken = ''] = cutPieces(text, SPOKEN_CHARS)
  const lines = dropCodeBlocks(spoken.split(/\r\n|[\r\n]/)).flatMap((line) =>
    [...cutPieces(line, LINE_CHARS)].flatMap(speakLine),
  )
  return lines
    .map((line) => tidyLine(speakInline(line)))
    .filter((line) => line !== '')
    .join('\n')
}

/** Splits the text into pieces of at most `most` characters, at blanks where possible and never within a character. */
export function* cutPieces(text: string, most: number): Generator<string> {
  let start = 0
  while (text.length - start > most) {
    const half = start + Math.floor(most / 2)
    const blank = text.slice(half, start + most + 1).lastIndexOf(' ')
    const end = blank >= 0 ? half + blank : wholeEnd(text, start + most)
    yield text.slice(start, end)
    start = end
  }
  yield text.slice(start)
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** An open fence extends to the end: the answer may have been cut off inside it. */
function dropCodeBlocks(lines: readonly string[]): readonly string[] {
  const kept: string[] = []
  let fence: string | undefined
  for (const line of lines) {
    const mark = FENCE.exec(line)?.[1]
    if (fence === undefined && mark !== undefined) fence = mark
    else if (fence !== undefined && mark?.startsWith(fence) && line.trim() === mark) fence = undefined
    else if (fence === undefined) kept.push(line)
  }
  return kept
}

/** Removes marks at the start of a line; rules and the lines below a table's head are dropped. */
function speakLine(line: string): readonly string[] {
  const bare = line.trim()
  if (/^(?:[-*_=][ \t]*){3,}$/.test(bare) || /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:-]*)+$/.test(bare)) return []
  if (/^\[[^\]]{1,200}\]:[ \t]/.test(bare)) return [] // a link reference definition
  const text = bare
    .replace(/^(?:>[ \t]?)+/, '')
    .replace(/^#{1,6}[ \t]+/, '')
    .replace(/^[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?/, '')
  const isRow = text.startsWith('|') && text.endsWith('|') && text.length > 1
  return [isRow ? splitCells(text).join(', ') : text]
}

function splitCells(row: string): readonly string[] {
  const cells = row.slice(1, -1).split('|')
  return cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
}

const ADDRESS = /(?:https?|ftp|wss?|file|mailto):[^\s<>()[\]"'`]+|www\.[^\s<>()[\]"'`]+/gi

/** The punctuation after an address. Scans from the end, since a pattern would try every place. */
function readPunctuation(address: string): string {
  let end = address.length
  while (end > 0 && '.,;:!?'.includes(address.charAt(end - 1))) end -= 1
  return address.slice(end)
}

const LINK = /!?\[([^[\]]{0,500})\](?:\([^()\s]{0,2000}(?:[ \t]"[^"]{0,500}")?\)|\[[^[\]]{0,200}\])/g
const TAG = /<\/?[a-zA-Z][^<>]{0,200}>|<>/g

/** Replaces addresses and tags with blanks, so that spoken text keeps its offsets. */
export function blankUnspoken(text: string): string {
  const blank = (found: string): string => ' '.repeat(found.length)
  return text
    .replace(LINK, (link: string, label: string) => {
      const start = link.indexOf('[') + 1
      return blank(link.slice(0, start)) + label + blank(link.slice(start + label.length))
    })
    .replace(ADDRESS, blank)
    .replace(TAG, blank)
}

function speakInline(line: string): string {
  return (
    line
      .replace(LINK, '$1')
      .replace(ADDRESS, readPunctuation)
      // A name in code marks is a word of its sentence; only the marks are removed.
      .replace(/`+/g, '')
      .replace(TAG, ' ')
      .replace(/(?<!\\)\*{1,3}(?=\S)|(?<=[^\s\\])\*{1,3}/g, '')
      .replace(/(?<![\p{L}\p{N}_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}_])/gu, '')
      .replace(/~~/g, '')
      .replace(/\\([\\`*_{}[\]()#+\-.!~|>])/g, '$1')
  )
}

/** Removes the empty brackets and the spaces before punctuation that are left over. */
function tidyLine(line: string): string {
  return line
    .replace(/\([ \t]*\)|\[[ \t]*\]/g, '')
    .replace(/[ \t]{2,}/g, ' ')
    .replace(/[ \t]([.,;:!?](?:\s|$))/g, '$1')
    .trim()
}
