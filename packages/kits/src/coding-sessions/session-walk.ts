// Walks through a session record by record within the time limit of a call, and counts what could not be read.
import * as z from 'zod'
import type { CallBudget } from '@baton/tools/internal'
import type { HistoryEvent, ReadLine, SessionFile } from './session-events.ts'
import { READERS, openSession, parseLine } from './session-source.ts'

/** Maximum unknown line types counted by name. */
const TYPES_MAX = 20
const TYPE_CHARS = 60
/** Lines between two checks of the clock. */
const LINES_AT_ONCE = 256
/** Maximum events remembered per session, to show each only once. */
const EVENTS_MAX = 50_000
/** Maximum characters of a remembered key. */
const KEY_CHARS = 300

export const skippedLines = z
  .object({
    broken: z.int().describe('Lines, or files of one message or part, that are not JSON objects'),
    tooLong: z.int().describe('Lines or files larger than 8 MiB'),
    unreadable: z.int().describe('Files that could not be opened'),
    withheld: z.int().describe('Texts that contain a private key or a token'),
    longLines: z.int().optional().describe('Lines of text too long for the pattern'),
    unknown: z.array(z.object({ type: z.string(), lines: z.int() })).describe('Line types unknown to this reader'),
  })
  .describe('What is missing from this answer')

export class SkippedLines {
  broken = 0
  tooLong = 0
  unreadable = 0
  /** The line or record that was next when the time ended. */
  stoppedAt: number | undefined
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
  /** Results that already appeared; Codex writes one as shown on screen and one as the model sees it. */
  readonly repeats: readonly HistoryEvent[]
}

/** Ends early once the budget is spent, which `budget.hasStopped` reports. */
export async function* walkLines(
  file: SessionFile,
  skipped: SkippedLines,
  budget: CallBudget,
): AsyncGenerator<WalkedLine> {
  const opened = await openSession(file)
  if (!opened) {
    skipped.unreadable += 1
    return
  }
  const read = READERS[file.provider]()
  const seen = new Set<string>()
  try {
    for await (const { number, text } of opened.records) {
      if (number % LINES_AT_ONCE === 0 && budget.isSpent()) {
        skipped.stoppedAt = number
        return
      }
      const line = text === undefined ? undefined : parseLine(text, read)
      if (line) {
        if (line.unknown !== undefined) skipped.takeUnknown(line.unknown)
        const again = line.events.filter((event) => isSeen(event, seen))
        const events = line.events.filter((event) => !again.includes(event))
        yield { ...line, number, events, repeats: again.filter(({ type }) => type === 'result') }
      } else if (text === undefined) skipped.tooLong += 1
      else if (text.trim() !== '') skipped.broken += 1
    }
  } finally {
    await opened.close()
  }
}

function isSeen({ type, callId, key }: HistoryEvent, seen: Set<string>): boolean {
  const name = type === 'result' && callId !== undefined ? `result ${callId}` : key
  if (name === undefined || name.length > KEY_CHARS) return false
  if (seen.has(name)) return true
  if (seen.size < EVENTS_MAX) seen.add(name)
  return false
}
