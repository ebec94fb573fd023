// Judges whether a submission is valid for payout: the scan comes first by rule, every verdict cites its calls, and a verdict
// of low confidence is a person's.
import { defineAgent, tool } from '@baton/host'
import { z } from 'zod'
import { getContentDetails } from './content.ts'
import { analyzeImage } from './image-verdict.ts'
import { createScriptedReviewer } from './scripted-reviewer.ts'
import { scanText } from './text-scan.ts'

/** Below it a person decides. */
const CONFIDENT = 0.7
const WEEK_MS = 7 * 24 * 60 * 60 * 1000

const askPerson = tool({
  name: 'ask_a_person',
  description: `Lets a person confirm a verdict whose confidence is below ${CONFIDENT}`,
  input: z.object({
    verdict: z.enum(['valid', 'invalid']),
    confidence: z.number().min(0).max(1),
    reason: z.string(),
  }),
  effect: 'pure',
  approval: true, // it runs once a person has said yes
  execute: ({ verdict }) => ({ confirmed: verdict }),
})

const Verdict = z.object({
  verdict: z.enum(['valid', 'invalid', 'unclear']),
  confidence: z.number().min(0).max(1),
  reasons: z.array(z.string()).min(1),
  evidence: z.array(z.string()).min(1), // ids of calls
})

export default defineAgent({
  name: 'goal-review',
  model: createScriptedReviewer(),
  instructions: `Judge whether a submission meets the requirements of its bounty: it explains what a lease is for, and its
image has at least 800 x 600 pixels. Cite as evidence the ids of the calls that your verdict rests on. If your confidence is
below ${CONFIDENT}, call ask_a_person before you answer; if the person says no, the verdict is "unclear".`,
  tools: [scanText, getContentDetails, analyzeImage, askPerson],
  output: Verdict,
  limits: { turnCostMicros: 50_000, approvalMs: WEEK_MS }, // five US cents; a person has a week
  // The first step of a goal may only scan.
  prepareStep: ({ messages }) =>
    messages.at(-1)?.role === 'user'
      ? { tools: [scanText.name], toolChoice: { type: 'tool', name: scanText.name } }
      : undefined,
})
