// Fields of a request's body that a user gives for one provider: they go out as they are, over Baton's own.
import type { ModelSettings } from '@baton/core'
import { BatonError, isJsonObject } from '@baton/core'

/** What Baton answers for: without its history, its model and its stream an answer could not be read. */
const BATONS_OWN: ReadonlySet<string> = new Set(['messages', 'input', 'contents', 'model', 'stream'])

/**
 * The body with the provider's own fields; objects are joined, one level deep.
 * @throws BatonError `model_invalid_request` for a field that is Baton's
 */
export function addProviderFields<Body extends object>(body: Body, settings: ModelSettings, provider: string): Body {
  const fields = settings.provider?.[provider]
  if (!fields) return body
  const added = { ...body } as Record<string, unknown> // an object of fields, whatever they are
  for (const [name, value] of Object.entries(fields)) {
    if (BATONS_OWN.has(name))
      throw new BatonError({
        code: 'model_invalid_request',
        message: `settings.provider.${provider} has the field "${name}", which is Baton's own`,
        hint: 'Leave it out: the history, the model and streaming cannot be set for a provider.',
      })
    const before = added[name]
    added[name] = isJsonObject(before) && isJsonObject(value) ? { ...before, ...value } : value
  }
  return added as Body // the body of before, with fields that the provider's own types do not know here
}
