// How many tokens a model's window has, by the list of @pydantic/genai-prices, which is kept up to date by others. Nothing is
// fetched. The table of traits comes first; this list fills in a window that the table does not have.
import { calcPrice } from '@pydantic/genai-prices'
import { LISTED_PROVIDERS } from '../listed-providers.ts'

/** Undefined where the provider or the model is not listed, or the list has no window of it. */
export function findListedWindow(provider: string, model: string): number | undefined {
  const providerId = Object.hasOwn(LISTED_PROVIDERS, provider) ? LISTED_PROVIDERS[provider] : undefined
  if (providerId === undefined) return undefined
  try {
    return calcPrice({ input_tokens: 0, output_tokens: 0 }, model, { providerId })?.model.context_window
  } catch {
    return undefined // a name or a price that the list cannot make sense of
  }
}
