// Suggests a correction for a misspelled model name, by comparing unknown words with those in the provider's listed
// models. Versions are numbers and never corrected, so models newer than the list are left alone.
import type { Model } from '@baton/core/internal'
import { BatonError, findNearName, isBatonError } from '@baton/core/internal'
import { findListedWords } from './listed-models.ts'

/** Minimum letters of a compared word; shorter ones resemble too many others. */
const WORD_LETTERS = 4

/**
 * Returns `claude-sonnet-5` for Anthropic's `claude-sonet-5`; `undefined` if every word is known or none is similar.
 */
export function findMeantModel(provider: string, model: string): string | undefined {
  const words = findListedWords(provider)
  if (!words) return undefined
  const long = [...words].filter((word) => word.length >= WORD_LETTERS)
  const meant = model.replaceAll(/[a-z]+/g, (word) => {
    if (words.has(word) || word.length < WORD_LETTERS - 1) return word
    return findNearName(long, word) ?? word
  })
  return meant === model ? undefined : meant
}

/** Wraps the model so that, if its provider does not know it, the error suggests the intended name. */
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
        hint: `Use the model "${meant}", or see \`baton models\`.`,
        cause,
        ...(data !== undefined && { data }),
      })
    }
  }
  return { ...model, capabilities: { ...model.capabilities, meantId: meant }, run }
}
