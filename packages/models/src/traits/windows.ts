// Context windows from the list of @pydantic/genai-prices. Nothing is fetched. The traits table takes precedence; this
// list fills its gaps.
import { calcPrice } from '@pydantic/genai-prices'
import { LISTED_PROVIDERS } from '../listed-providers.ts'

/** Returns `undefined` if the provider or the model is not listed, or has no window in the list. */
export function findListedWindow(provider: string, model: string): number | undefined {
  const providerId = Object.hasOwn(LISTED_PROVIDERS, provider) ? LISTED_PROVIDERS[provider] : undefined
  if (providerId === undefined) return undefined
  try {
    return calcPrice({ input_tokens: 0, output_tokens: 0 }, model, { providerId })?.model.context_window
  } catch {
    return undefined // a name or a price that the list cannot interpret
  }
}
