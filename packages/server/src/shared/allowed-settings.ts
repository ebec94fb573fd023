// Settings that apps and pages may choose for a turn. Default: none, because models and output limits affect the
// server's costs.
import type { JsonValue } from '@baton/core'

export interface AllowedSettings {
  /** Models that may be chosen; `any` allows all models of the agent. */
  readonly models?: readonly string[] | 'any'
  readonly temperature?: boolean
  /** The largest value that may be chosen. */
  readonly maxOutputTokens?: number
}

/** Hint for a refused choice. */
export const CHOICE_HINT =
  'Leave it out, or allow it on the server: with `allow` of its front, or --allow-model, --allow-temperature and --allow-output-tokens of "baton serve".'

/** Returns why a choice is refused; `undefined` if it is allowed. The values come from a wire. */
export function findChoiceIssue(
  { model, settings }: { readonly model?: unknown; readonly settings?: unknown },
  { models = [], temperature = false, maxOutputTokens = 0 }: AllowedSettings,
): string | undefined {
  const isAllowed = models === 'any' || models.some((name) => name === model)
  if (model !== undefined && !isAllowed) return `model ${showValue(model)} may not be chosen here`
  if (typeof settings !== 'object' || settings === null) return undefined
  for (const [name, value] of Object.entries(settings)) {
    if (name === 'temperature' && temperature) continue
    if (name !== 'maxOutputTokens' || maxOutputTokens === 0) return `${name.slice(0, 80)} may not be set here`
    if (!(typeof value === 'number' && value <= maxOutputTokens))
      return `maxOutputTokens must be at most ${maxOutputTokens}`
  }
  return undefined
}

/** Shows no nested value, because this may be JSON of any depth. */
function showValue(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value as JsonValue).slice(0, 100) // from JSON
}
