// The options that choose an agent and its model, for every command that runs one.
import type { Variables } from '@baton/models/internal'
import { withBaseUrl } from '@baton/models/choose-model'

export const MODEL_HELP = `  --agent FILE   a TypeScript or JavaScript file that exports an agent by default (default: explore this folder)
  --model NAME   "<provider>/<model>" or "offline"; see "baton models" for providers (default: the agent's own, then
                 MODEL_PROVIDER, then a provider whose key is set, then "offline")
  --base-url URL use another address for that provider; on its own it implies openai-compatible`

const ANY_SERVER = 'openai-compatible'

/**
 * Returns the variables and the model, with the given address assigned to its provider.
 * @throws BatonError `unknown_model`, `invalid_option`
 */
export function withAddress(
  variables: Variables,
  model: string | undefined,
  baseUrl: string | undefined,
): { readonly variables: Variables; readonly model: string | undefined } {
  if (baseUrl === undefined) return { variables, model }
  const named = model ?? (variables['MODEL_PROVIDER']?.trim() || ANY_SERVER)
  return { variables: withBaseUrl(variables, named, baseUrl), model: named }
}
