// `plan.set` and `explore.report`: the model writes a plan that people see, and finally what it found. A report with
// citations that no call supports is rejected, naming those citations.
import type { Tool, ToolContext } from '@baton/core'
import { BatonError, tool } from '@baton/core'
import * as z from 'zod'
import type { Citation, ShownResults } from './evidence.ts'
import { citation } from './evidence.ts'
import type { PlanProgress } from './plan-progress.ts'
import { PLAN_TOOL, planEntries } from './plan-progress.ts'

export const REPORT_TOOL = 'explore.report'

const cited = z.object({
  text: z.string().trim().min(1).max(600),
  evidence: z.array(citation).min(1).max(10).describe('What the results of your calls have shown'),
})
export const report = z.object({
  findings: z.array(cited).min(1).max(20).describe('What you found, each with its evidence'),
  followUps: z.array(cited).max(10).default([]).describe('What to look at next, each with its evidence'),
})
export type Report = z.infer<typeof report>

export function planTool(progress: PlanProgress): Tool {
  return tool({
    name: PLAN_TOOL,
    title: 'Plan',
    kind: 'think',
    description: 'Sets your plan, which the user sees. Each later call ticks off an entry of its tool.',
    describe: () => ({ title: 'Plan the exploration' }),
    effect: 'pure',
    trust: 'trusted', // its result is a number
    network: false,
    errors: ['invalid_arguments'],
    input: z.object({ entries: planEntries.describe('What to do, in order') }),
    output: z.object({ entries: z.int() }),
    execute: ({ entries }, context) => {
      progress.set(context, entries)
      return { entries: entries.length }
    },
  })
}

/** `shownTo` returns what the session's calls have shown. */
export function reportTool(shownTo: (context: ToolContext) => Promise<ShownResults>): Tool {
  return tool({
    name: REPORT_TOOL,
    title: 'Report',
    kind: 'think',
    description:
      'Reports what you found and what to look at next. For each, cite a path (and a line) or a sessionId that a result of your calls has shown. This ends the exploration.',
    describe: ({ findings }) => ({ title: `Report ${findings.length} findings` }),
    effect: 'pure',
    trust: 'trusted', // its result is a number
    network: false,
    errors: ['invalid_arguments'],
    input: report,
    output: z.object({ accepted: z.int().describe('Citations supported by calls') }),
    execute: async ({ findings, followUps }, context) => {
      const shown = await shownTo(context)
      const all = [...findings, ...followUps].flatMap(({ evidence }) => evidence)
      const refused = all.filter((one) => !shown.find(one))
      if (refused.length === 0) return { accepted: all.length }
      throw new BatonError({
        code: 'invalid_arguments',
        message: `no call has shown ${refused.slice(0, 10).map(nameCitation).join(', ')}: cite what a result names, look there first, or leave it out`,
        data: { accepted: all.length - refused.length, refused: refused.length },
      })
    },
  })
}

function nameCitation({ path, line, sessionId }: Citation): string {
  const name = path ?? sessionId ?? ''
  return JSON.stringify(line === undefined ? name : `${name}:${line}`)
}
