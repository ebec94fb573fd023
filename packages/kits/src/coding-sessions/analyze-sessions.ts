// `session.analyze`: statistics about what sessions did and cost.
import { tool } from '@baton/core'
import * as z from 'zod'
import type { SessionKit } from './session-kit.ts'
import { SESSION_ERRORS, findSessions, provider, sessionIds, shorten, titleOf } from './session-kit.ts'
import type { Metric } from './session-metrics.ts'
import { METRICS, SessionMetrics } from './session-metrics.ts'
import { SkippedLines, skippedLines, walkLines } from './session-walk.ts'

/** Number of sessions analyzed if none are named. */
const NEWEST = 20
/** Maximum tools and files listed. */
const LISTED = 20
const NAME_CHARS = 300

const measured = z.object({
  turns: z.int().optional().describe('User messages'),
  tools: z.array(z.object({ name: z.string(), calls: z.int(), errors: z.int() })).optional(),
  files: z
    .object({ count: z.int(), most: z.array(z.object({ path: z.string(), times: z.int() })) })
    .optional()
    .describe('Files named by calls'),
  time: z
    .object({ elapsedMs: z.int(), activeMs: z.int() })
    .optional()
    .describe('activeMs excludes pauses longer than five minutes'),
  errors: z.int().optional().describe('Failed calls, and errors of the agent itself'),
  tokens: z
    .object({ input: z.int(), output: z.int(), cacheRead: z.int(), cacheWrite: z.int() })
    .optional()
    .describe('input excludes tokens read from a cache'),
})

export function analyzeSessionsTool(kit: SessionKit) {
  return tool({
    name: 'session.analyze',
    title: 'Analyze coding sessions',
    kind: 'read',
    description:
      'Count what coding sessions did: turns, tool calls and their errors, files, time and tokens, per session and in total. Covers the newest 20 sessions unless you name some.',
    effect: 'pure',
    network: false,
    trust: kit.trust,
    timeoutMs: kit.timeMs + 10_000,
    errors: SESSION_ERRORS,
    describe: () => ({ title: 'Analyze coding sessions' }),
    input: z.object({
      sessionIds: sessionIds.optional().describe('Only these sessions'),
      provider: provider.optional(),
      metrics: z.array(z.enum(METRICS)).min(1).optional().describe('What to count; everything by default'),
    }),
    output: z.object({
      sessions: z.array(
        measured.extend({
          sessionId: z.string(),
          provider,
          title: z.string().optional(),
          startedAt: z.string().optional(),
          endedAt: z.string().optional(),
        }),
      ),
      total: measured,
      skipped: skippedLines,
      truncated: z.boolean().describe('Whether more sessions exist than were counted'),
    }),
    execute: async (input, context) => {
      const budget = kit.startBudget(context)
      const skipped = new SkippedLines()
      const total = new SessionMetrics()
      const metrics = new Set<Metric>(input.metrics ?? METRICS)
      const sessions = []
      let hasMore = false
      for await (const head of findSessions(kit, input, budget)) {
        hasMore = input.sessionIds === undefined && sessions.length === NEWEST
        if (hasMore) break
        const own = new SessionMetrics()
        for await (const line of walkLines(head, skipped, budget)) own.take(line)
        // Partial numbers of a session would look like complete ones.
        if (budget.hasStopped) break
        total.join(own)
        const title = await titleOf(head)
        sessions.push({
          sessionId: head.id,
          provider: head.provider,
          ...(title !== undefined && { title }),
          ...(own.startedMs !== undefined && { startedAt: new Date(own.startedMs).toISOString() }),
          ...(own.endedMs !== undefined && { endedAt: new Date(own.endedMs).toISOString() }),
          ...show(own, metrics),
        })
      }
      return {
        sessions,
        total: show(total, metrics),
        skipped: skipped.result(0),
        truncated: hasMore || budget.hasStopped,
      }
    },
  })
}

function show(of: SessionMetrics, metrics: ReadonlySet<Metric>): z.infer<typeof measured> {
  const { turns, errors, activeMs, elapsedMs } = of
  const tools = [...of.tools].toSorted(([, one], [, other]) => other.calls - one.calls).slice(0, LISTED)
  const files = [...of.files].toSorted(([, one], [, other]) => other - one).slice(0, LISTED)
  return {
    ...(metrics.has('turns') && { turns }),
    ...(metrics.has('tools') && { tools: tools.map(([name, use]) => ({ name: shorten(name, NAME_CHARS), ...use })) }),
    ...(metrics.has('files') && {
      files: {
        count: of.files.size,
        most: files.map(([path, times]) => ({ path: shorten(path, NAME_CHARS), times })),
      },
    }),
    ...(metrics.has('time') && { time: { elapsedMs, activeMs } }),
    ...(metrics.has('errors') && { errors }),
    ...(metrics.has('tokens') && { tokens: of.tokens() }),
  }
}
