// The options that choose an agent and its model, for every command that runs one.
import type { Variables } from '@baton/models/choose-model'
import { withBaseUrl } from '@baton/models/choose-model'

export const MODEL_HELP = `  --agent FILE   a TypeScript or JavaScript file whose default export is an agent (it explores this folder)
  --model NAME   "<provider>/<model>" or "offline"; "baton models" lists the providers. By default the agent's own,
                 then that of MODEL_PROVIDER, then one whose key is set, then "offline"
  --base-url URL another address of that provider; alone it means openai-compatible`

const ANY_SERVER = 'openai-compatible'

/**
 * The variables and the model, with the address that was given put to its provider.
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
