// Selects the sampling settings that a model accepts. Rejected ones are dropped, since a single one fails the whole
// request.
import type { ModelSettings } from '@baton/core'
import type { ModelTraits } from './model-traits.ts'

export type Sampling = Pick<ModelSettings, 'temperature' | 'topP'>

/** @param temperatureMax upper end of the provider's scale */
export function chooseSampling(
  { sampling }: ModelTraits,
  { temperature, topP }: ModelSettings,
  { thinks, temperatureMax }: { readonly thinks: boolean; readonly temperatureMax: number },
): Sampling {
  if (sampling === 'refused' || (thinks && sampling !== 'free')) return {}
  const both = temperature === undefined || sampling !== 'one'
  return {
    ...(temperature !== undefined && { temperature: Math.min(temperature, temperatureMax) }),
    ...(topP !== undefined && both && { topP: Math.min(topP, 1) }),
  }
}
