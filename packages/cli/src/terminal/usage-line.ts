// Tokens, cost and context in a few words, for the dim line below an answer.
import type { ContextUse, Usage } from '@baton/core/internal'

export interface UsageSaid {
  readonly model: string
  readonly usage: Usage
  readonly context?: ContextUse | undefined
}

/** `openai/gpt-5 · 1,234 tokens in, 56 out · $0.0012 · context 12 %`; unknown parts are left out. */
export function describeUsage({ model, usage, context }: UsageSaid): string {
  const { inputTokens, outputTokens, costMicros } = usage
  const parts = [
    model,
    inputTokens !== undefined || outputTokens !== undefined
      ? `${count(inputTokens ?? 0)} tokens in, ${count(outputTokens ?? 0)} out`
      : undefined,
    costMicros === undefined ? undefined : `$${describeCost(costMicros)}`,
    context && describeContext(context),
  ]
  return parts.filter((part) => part !== undefined).join(' · ')
}

function describeContext({ used, size }: ContextUse): string {
  if (size === undefined || size <= 0) return `context ${count(used)} tokens`
  return `context ${Math.min(100, Math.round((used / size) * 100))} %`
}

function count(tokens: number): string {
  return tokens.toLocaleString('en-US')
}

const MICROS = 1_000_000

/** Two significant digits for small amounts, cents for larger ones. */
function describeCost(micros: number): string {
  const dollars = micros / MICROS
  return dollars >= 1 || micros === 0
    ? dollars.toFixed(2)
    : dollars.toFixed(Math.min(6, 1 - Math.floor(Math.log10(dollars))))
}
