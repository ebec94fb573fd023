// Encodes how much Gemini should think: 2.5 takes a budget, 3 and later a level, older models nothing.
import type { ModelTraits } from '../traits/model-traits.ts'
import type { ThinkingPlan } from '../traits/thinking-plan.ts'
import type { WireThinking } from './wire.ts'

/** Returns `undefined` for models without the field (400 "Thinking budget is not supported"). */
export function encodeThinking({ thinking }: ModelTraits, plan: ThinkingPlan): WireThinking | undefined {
  const shown = plan.isAsked ? { includeThoughts: true as const } : {}
  if (thinking.kind === 'budget') return { ...shown, thinkingBudget: plan.budget }
  if (thinking.kind !== 'effort' || plan.effort === undefined) return undefined
  return { ...shown, thinkingLevel: plan.effort }
}
