// The name that a misspelt model's name may mean: words that no listed model of its provider has are compared with those that
// they have. Versions are numbers and never corrected, so a model that is newer than the list is left alone.
import type { Model } from '@baton/core'
import { BatonError, findNearName, isBatonError } from '@baton/core'
import { findProvider } from '@pydantic/genai-prices'
import { LISTED_PROVIDERS } from './listed-providers.ts'

/** Letters of a word that is compared: of shorter ones too many are near. */
const WORD_LETTERS = 4

/** `claude-sonnet-5` for `claude-sonet-5` of Anthropic; undefined where every word is known, or none is near. */
export function findMeantModel(provider: string, model: string): string | undefined {
  const providerId = Object.hasOwn(LISTED_PROVIDERS, provider) ? LISTED_PROVIDERS[provider] : undefined
  const listed = providerId === undefined ? undefined : findProvider({ providerId })?.models
  if (!listed) return undefined
  const words = new Set(listed.flatMap(({ id }) => id.toLowerCase().match(/[a-z]+/g) ?? []))
  const long = [...words].filter((word) => word.length >= WORD_LETTERS)
  const meant = model.replaceAll(/[a-z]+/g, (word) => {
    if (words.has(word) || word.length < WORD_LETTERS - 1) return word
    return findNearName(long, word) ?? word
  })
  return meant === model ? undefined : meant
}

/** The same model; where its provider does not know it, the error says which name may be meant. */
export function withMeantName(model: Model, meant: string): Model {
  const run: Model['run'] = async (...given) => {
    try {
      return await model.run(...given)
    } catch (cause) {
      if (!isBatonError(cause) || cause.code !== 'model_not_found') throw cause
      const { code, message, data } = cause
      throw new BatonError({
        code,
        message: `${message}; did you mean "${meant}"?`,
        hint: `Name the model "${meant}", or see \`baton models\`.`,
        cause,
        ...(data !== undefined && { data }),
      })
    }
  }
  return { ...model, capabilities: { ...model.capabilities, meantId: meant }, run }
}
