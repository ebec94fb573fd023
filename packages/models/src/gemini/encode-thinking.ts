// How a request tells Gemini how much to think: 2.5 by a budget, 3 and later by a level, older ones not at all.
import type { ModelTraits } from '../traits/model-traits.ts'
import type { ThinkingPlan } from '../traits/thinking-plan.ts'
import type { WireThinking } from './wire.ts'

/** Absent for models that do not know the field (400 "Thinking budget is not supported"). */
export function encodeThinking({ thinking }: ModelTraits, plan: ThinkingPlan): WireThinking | undefined {
  const shown = plan.isAsked ? { includeThoughts: true as const } : {}
  if (thinking.kind === 'budget') return { ...shown, thinkingBudget: plan.budget }
  if (thinking.kind !== 'effort' || plan.effort === undefined) return undefined
  return { ...shown, thinkingLevel: plan.effort }
}
