// Which of a user's wishes for sampling a model takes: what it refuses is left out, for a refused field refuses the request.
import type { ModelSettings } from '@baton/core'
import type { ModelTraits } from './model-traits.ts'

export type Sampling = Pick<ModelSettings, 'temperature' | 'topP'>

/** @param temperatureMax where the provider's scale ends */
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
