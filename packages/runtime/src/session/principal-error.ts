// The error for a principal that is not an object.
import { BatonError, describeValue } from '@baton/core/internal'

export function createPrincipalError(given: unknown): BatonError {
  return new BatonError({
    code: 'invalid_option',
    message: `principal must be an object with an id, not ${describeValue(given)}`,
    hint: 'Write principal: { id: userId }.',
  })
}
