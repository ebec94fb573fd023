// `session.read`: the events of one session.
import { tool } from '@baton/core'
import { refused } from '@baton/tools/internal'
import * as z from 'zod'
import type { HistoryEvent } from './session-events.ts'
import type { SessionKit } from './session-kit.ts'
import { SESSION_ERRORS, findSession, provider, sessionId, shorten, showText } from './session-kit.ts'
import { SkippedLines, skippedLines, walkLines } from './session-walk.ts'

/** Maximum characters of one event's text. */
const TEXT_CHARS = 2000
/** Maximum characters of all texts of one call. */
const TOTAL_CHARS = 48_000

const event = z.object({
  line: z.int(),
  at: z.string().optional(),
  role: z
    .enum(['user', 'assistant', 'tool', 'note'])
    .describe('note: written by a program, not by a person or a model'),
  type: z.enum(['text', 'reasoning', 'call', 'result', 'image']),
  text: z.string(),
  cut: z.int().optional().describe('Number of omitted characters'),
  tool: z.string().optional(),
  callId: z.string().optional(),
  isError: z.literal(true).optional(),
  isSidechain: z.literal(true).optional().describe('From a subagent'),
})

export function readSessionTool(kit: SessionKit) {
  return tool({
    name: 'session.read',
    title: 'Read a coding session',
    kind: 'read',
    description:
      'Read what happened in one coding session: the messages of the user and the agent, its tool calls and their results.',
    effect: 'pure',
    network: false,
    trust: kit.trust,
    timeoutMs: kit.timeMs + 10_000,
    errors: SESSION_ERRORS,
    describe: (input) => ({ title: `Read session ${input.sessionId}` }),
    input: z.object({
      sessionId,
      provider: provider.optional().describe('Which coding agent; required if several have a session with this id'),
      startLine: z
        .int()
        .min(1)
        .default(1)
        .describe(
          'First line of the file to read, as reported by session.search. For sessions in other formats: the first record',
        ),
      endLine: z.int().min(1).optional().describe('Last line or record'),
      maxEvents: z.int().min(1).max(200).default(100).describe('Maximum number of events'),
    }),
    output: z.object({
      sessionId: z.string(),
      provider,
      events: z.array(event),
      skipped: skippedLines,
      truncated: z.boolean(),
      next: z.object({ startLine: z.int() }).optional().describe('Arguments to change to continue reading'),
    }),
    execute: async (input, context) => {
      const budget = kit.startBudget(context)
      const head = await findSession(kit, input, budget)
      const skipped = new SkippedLines()
      const { endLine = Number.MAX_SAFE_INTEGER } = input
      const page = new Page(input.maxEvents)
      let next: number | undefined
      for await (const line of walkLines(head, skipped, budget)) {
        if (line.number > endLine) break
        if (line.number < input.startLine) continue
        if (!page.hasRoomFor(line.events)) {
          next = line.number
          break
        }
        for (const one of line.events) await page.add(one, line)
      }
      const { stoppedAt } = skipped
      if (stoppedAt !== undefined && stoppedAt <= endLine) {
        // The same call would get no further, and one from a later line would leave this one out.
        if (stoppedAt <= input.startLine) throw describeLate(kit, input.startLine)
        next = stoppedAt
      }
      return {
        sessionId: head.id,
        provider: head.provider,
        events: page.events,
        skipped: skipped.result(page.withheld),
        truncated: next !== undefined,
        ...(next !== undefined && { next: { startLine: next } }),
      }
    },
  })
}

function describeLate({ timeMs }: SessionKit, startLine: number): Error {
  const message = `reading did not reach line ${startLine} within ${timeMs} ms: try again, or read earlier lines`
  return refused('tool_failed', message)
}

/** The events that fit in one call. */
class Page {
  readonly events: z.infer<typeof event>[] = []
  readonly #eventsMax: number
  #characters = 0
  withheld = 0

  constructor(eventsMax: number) {
    this.#eventsMax = eventsMax
  }

  /**
   * A line is shown in full or on the next page, so none of its events is lost. The first line of a page always fits.
   */
  hasRoomFor(events: readonly HistoryEvent[]): boolean {
    if (this.events.length === 0 || events.length === 0) return true
    const characters = events.reduce((sum, { text }) => sum + Math.min(text.length, TEXT_CHARS), this.#characters)
    return this.events.length + events.length <= this.#eventsMax && characters <= TOTAL_CHARS
  }

  async add(
    { text, files: _files, key: _key, ...rest }: HistoryEvent,
    { number, atMs }: { readonly number: number; readonly atMs?: number },
  ): Promise<void> {
    const shown = await showText(text)
    if (shown.isWithheld) this.withheld += 1
    const cut = shown.text.length - TEXT_CHARS
    this.#characters += Math.min(shown.text.length, TEXT_CHARS)
    this.events.push({
      line: number,
      ...(atMs !== undefined && { at: new Date(atMs).toISOString() }),
      ...rest,
      text: shorten(shown.text, TEXT_CHARS),
      ...(cut > 0 && { cut }),
    })
  }
}
