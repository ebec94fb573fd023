// Walks through a session's file line by line, within the time of a call, and counts what could not be read.
import * as z from 'zod'
import type { CallBudget } from '../workspace/call-budget.ts'
import type { HistoryEvent, ReadLine } from './session-events.ts'
import type { SessionFile } from './session-files.ts'
import { openPlain, parseLine } from './session-files.ts'
import { readLines } from './session-lines.ts'

/** Types of lines that are counted by name. */
const TYPES_MAX = 20
const TYPE_CHARS = 60
/** Lines between two looks at the clock. */
const LINES_AT_ONCE = 256
/** Results that are remembered of one session, to show each once. */
const CALLS_MAX = 50_000

export const skippedLines = z
  .object({
    broken: z.int().describe('Lines that are not JSON objects'),
    tooLong: z.int().describe('Lines of more than 8 MiB'),
    unreadable: z.int().describe('Files that could not be opened'),
    withheld: z.int().describe('Texts that hold a private key or a token'),
    longLines: z.int().optional().describe('Lines of text too long for the pattern'),
    unknown: z
      .array(z.object({ type: z.string(), lines: z.int() }))
      .describe('Types of lines that this reader does not know'),
  })
  .describe('What is missing in this answer')

export class SkippedLines {
  broken = 0
  tooLong = 0
  unreadable = 0
  readonly #unknown = new Map<string, number>()

  takeUnknown(type: string): void {
    const short = type.slice(0, TYPE_CHARS).toWellFormed()
    const name = this.#unknown.has(short) || this.#unknown.size < TYPES_MAX ? short : 'other'
    this.#unknown.set(name, (this.#unknown.get(name) ?? 0) + 1)
  }

  result(withheld: number): z.infer<typeof skippedLines> {
    const { broken, tooLong, unreadable } = this
    return {
      broken,
      tooLong,
      unreadable,
      withheld,
      unknown: [...this.#unknown].map(([type, lines]) => ({ type, lines })),
    }
  }
}

export interface WalkedLine extends ReadLine {
  readonly number: number
  /** Results that stood in the file before; Codex writes one as the screen shows it and one as the model sees it. */
  readonly repeats: readonly HistoryEvent[]
}

/** Ends early when the budget is spent; `budget.hasStopped` says so. */
export async function* walkLines(
  file: SessionFile,
  skipped: SkippedLines,
  budget: CallBudget,
): AsyncGenerator<WalkedLine> {
  const handle = await openPlain(file.path)
  if (!handle) {
    skipped.unreadable += 1
    return
  }
  const settled = new Set<string>()
  try {
    for await (const { number, text } of readLines(handle, file.bytes)) {
      if (number % LINES_AT_ONCE === 0 && budget.isSpent()) return
      const read = text === undefined ? undefined : parseLine(text, file.provider)
      if (read) {
        if (read.unknown !== undefined) skipped.takeUnknown(read.unknown)
        const repeats = read.events.filter((event) => isRepeat(event, settled))
        yield { ...read, number, events: read.events.filter((event) => !repeats.includes(event)), repeats }
      } else if (text === undefined) skipped.tooLong += 1
      else if (text.trim() !== '') skipped.broken += 1
    }
  } finally {
    await handle.close()
  }
}

function isRepeat({ type, callId }: HistoryEvent, settled: Set<string>): boolean {
  if (type !== 'result' || callId === undefined) return false
  if (settled.has(callId)) return true
  if (settled.size < CALLS_MAX) settled.add(callId)
  return false
}
