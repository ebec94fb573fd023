// `session.search`: searches sessions with a regular expression.
import { tool } from '@baton/core'
import * as z from 'zod'
import type { CallBudget } from '@baton/tools/internal'
import { LineSearch } from '@baton/tools/internal'
import type { HistoryEvent, SessionProvider } from './session-events.ts'
import type { SessionHead } from './session-files.ts'
import type { SessionKit } from './session-kit.ts'
import { SESSION_ERRORS, findSessions, provider, sessionIds, shorten, showText } from './session-kit.ts'
import { SkippedLines, skippedLines, walkLines } from './session-walk.ts'

const PATTERN_CHARS = 1000
const SNIPPET_CHARS = 100
/** Characters of a line shown around a match. */
const CONTEXT_CHARS = 200

const match = z.object({
  sessionId: z.string(),
  provider,
  lineNumber: z.int().describe('Value for startLine of session.read'),
  role: z.enum(['user', 'assistant', 'tool', 'note']),
  tool: z.string().optional(),
  snippet: z.string(),
  before: z.array(z.string()).optional(),
  after: z.array(z.string()).optional(),
})
type Match = z.infer<typeof match>

export function searchSessionsTool(kit: SessionKit) {
  return tool({
    name: 'session.search',
    title: 'Search coding sessions',
    kind: 'search',
    description:
      'Search what was said and done in coding sessions with a regular expression (RE2 syntax): messages, tool calls and their results, newest session first.',
    effect: 'pure',
    network: false,
    trust: kit.trust,
    timeoutMs: kit.timeMs + 10_000,
    errors: SESSION_ERRORS,
    describe: ({ pattern }) => ({ title: `Search sessions for ${pattern}` }),
    input: z.object({
      pattern: z
        .string()
        .min(1)
        .describe('Text or regular expression to search for; start it with (?i) to ignore case'),
      provider: provider.optional(),
      sessionIds: sessionIds.optional().describe('Search only these sessions'),
      maxResults: z.int().min(1).max(200).default(100).describe('Maximum number of matches to show; all are counted'),
      contextLines: z.int().min(0).max(10).default(2).describe('Lines of the same text to show around each match'),
    }),
    output: z.object({
      totalMatches: z.int(),
      matches: z.array(match),
      sessionsSearched: z.int(),
      skipped: skippedLines.omit({ withheld: true }),
      truncated: z.boolean().describe('Whether there are more matches than were shown or could be found in time'),
    }),
    execute: async (input, context) => {
      const search = new SessionSearch(input, kit.startBudget(context))
      await search.run(kit)
      return search.result()
    },
  })
}

interface Wanted {
  readonly pattern: string
  readonly provider?: SessionProvider | undefined
  readonly sessionIds?: readonly string[] | undefined
  readonly maxResults: number
  readonly contextLines: number
}

class SessionSearch {
  readonly #wanted: Wanted
  readonly #lines: LineSearch
  readonly #budget: CallBudget
  readonly #matches: Match[] = []
  readonly #skipped = new SkippedLines()
  #total = 0
  #longLines = 0

  /** @throws BatonError `invalid_arguments` if the pattern is not a valid expression */
  constructor(wanted: Wanted, budget: CallBudget) {
    this.#wanted = wanted
    this.#lines = new LineSearch(wanted.pattern, PATTERN_CHARS)
    this.#budget = budget
  }

  async run(kit: SessionKit): Promise<void> {
    for await (const head of findSessions(kit, this.#wanted, this.#budget)) {
      for await (const line of walkLines(head, this.#skipped, this.#budget))
        for (const event of line.events) if (await this.#isSpentOn(event, head, line.number)) return
      if (!this.#budget.hasStopped) this.#budget.filesSearched += 1
    }
  }

  result() {
    return {
      totalMatches: this.#total,
      matches: this.#matches,
      sessionsSearched: this.#budget.filesSearched,
      skipped: this.#describeSkipped(),
      truncated: this.#budget.hasStopped || this.#total > this.#matches.length,
    }
  }

  #describeSkipped() {
    const { withheld: _, ...skipped } = this.#skipped.result(0)
    return { ...skipped, longLines: this.#longLines }
  }

  async #isSpentOn(event: HistoryEvent, head: SessionHead, number: number): Promise<boolean> {
    const text = event.tool === undefined ? event.text : `${event.tool} ${event.text}`
    const found = await this.#lines.find(text, 1, this.#budget)
    const tells = found.matches.length > 0 || found.longLines > 0
    // A withheld text never matches, since even a count would reveal its contents.
    if (tells && !(await showText(text)).isWithheld) {
      this.#total += found.matches.length
      this.#longLines += found.longLines
      for (const { line } of found.matches.slice(0, this.#wanted.maxResults - this.#matches.length))
        this.#matches.push(this.#show(text.split('\n'), line, { event, head, number }))
    }
    return found.stoppedAt !== undefined
  }

  #show(
    lines: readonly string[],
    line: number,
    of: { readonly event: HistoryEvent; readonly head: SessionHead; readonly number: number },
  ): Match {
    const { contextLines } = this.#wanted
    const around = (from: number, to: number) =>
      lines.slice(Math.max(0, from), to).map((one) => shorten(one, CONTEXT_CHARS))
    const before = around(line - 1 - contextLines, line - 1)
    const after = around(line, line + contextLines)
    return {
      sessionId: of.head.id,
      provider: of.head.provider,
      lineNumber: of.number,
      role: of.event.role,
      ...(of.event.tool !== undefined && { tool: of.event.tool }),
      snippet: this.#snippet(lines[line - 1] ?? ''),
      ...(before.length > 0 && { before }),
      ...(after.length > 0 && { after }),
    }
  }

  /** The match with some preceding text. */
  #snippet(line: string): string {
    const start = this.#lines.startIn(line)
    if (start + SNIPPET_CHARS / 2 <= SNIPPET_CHARS || line.length <= SNIPPET_CHARS) return shorten(line, SNIPPET_CHARS)
    return shorten(`…${line.slice(start - SNIPPET_CHARS / 5)}`, SNIPPET_CHARS)
  }
}
