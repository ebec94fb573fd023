// Errors of `context.generate`, for the `errors` of tools that ask a model.
import type { ErrorCode } from '@baton/core'

export const MODEL_ERRORS: readonly ErrorCode[] = [
  'invalid_output',
  'unknown_model',
  'model_auth_failed',
  'model_not_configured',
  'model_not_found',
  'model_network_failed',
  'model_overloaded',
  'model_provider_failed',
  'model_rate_limited',
  'model_timeout',
]
