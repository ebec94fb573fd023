// `session.list`: the available sessions.
import { tool } from '@baton/core'
import * as z from 'zod'
import type { SessionKit } from './session-kit.ts'
import { SESSION_ERRORS, findSessions, provider, titleOf } from './session-kit.ts'

export function listSessionsTool(kit: SessionKit) {
  return tool({
    name: 'session.list',
    title: 'List coding sessions',
    kind: 'read',
    description:
      'List the sessions that coding agents (Claude Code, Codex, Gemini CLI, OpenCode) had in this workspace, newest first: what each was about, when it ran, and with which model.',
    effect: 'pure',
    network: false,
    trust: kit.trust,
    timeoutMs: kit.timeMs + 10_000,
    errors: SESSION_ERRORS,
    describe: () => ({ title: 'List coding sessions' }),
    input: z.object({
      provider: provider.optional(),
      topK: z.int().min(1).max(200).default(20).describe('Maximum number of sessions'),
      since: z
        .string()
        .max(40)
        .refine((text) => !Number.isNaN(Date.parse(text)), 'write a date such as 2026-05-01 or 2026-05-01T12:00:00Z')
        .optional()
        .describe('Only sessions used at or after this time: a date such as 2026-05-01, optionally with a time'),
    }),
    output: z.object({
      sessions: z.array(
        z.object({
          sessionId: z.string(),
          provider,
          title: z.string().optional(),
          folder: z.string().optional(),
          branch: z.string().optional(),
          model: z.string().optional(),
          startedAt: z.string().optional(),
          updatedAt: z.string(),
          bytes: z.int().optional().describe('Size of its file; absent if the session is not a single file'),
        }),
      ),
      truncated: z.boolean().describe('Whether there are more; raise topK, or set since'),
    }),
    execute: async (input, context) => {
      const budget = kit.startBudget(context)
      const sinceMs = input.since === undefined ? 0 : Date.parse(input.since)
      const sessions = []
      for await (const head of findSessions(kit, { provider: input.provider }, budget)) {
        if (head.updatedMs < sinceMs) break
        if (sessions.length === input.topK) return { sessions, truncated: true }
        const { facts, startedMs } = head
        const title = await titleOf(head)
        sessions.push({
          sessionId: head.id,
          provider: head.provider,
          ...(title !== undefined && { title }),
          ...(facts.cwd !== undefined && { folder: facts.cwd }),
          ...(facts.branch !== undefined && { branch: facts.branch }),
          ...(facts.model !== undefined && { model: facts.model }),
          ...(startedMs !== undefined && { startedAt: new Date(startedMs).toISOString() }),
          updatedAt: new Date(head.updatedMs).toISOString(),
          ...(head.bytes !== undefined && { bytes: head.bytes }),
        })
      }
      return { sessions, truncated: budget.hasStopped }
    },
  })
}
