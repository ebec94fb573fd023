// What went wrong, as one line for a person.
import { isBatonError } from '@baton/core'
import { redact, redactAddresses, secretsIn } from '@baton/models/choose-model'
import { describeThrown } from '@baton/runtime'
import { escapeLine } from './escape-controls.ts'
import type { Variables } from './words.ts'

/** What happened, and what to do where the message does not say so itself; without secrets of the variables and of addresses. */
export function errorLine(cause: unknown, variables: Variables = {}): string {
  const message = redactAddresses(redact(describeThrown(cause), secretsIn(variables)))
  const line = escapeLine(message.replace(/\s*\n\s*/g, ' ').trim())
  if (!isBatonError(cause)) return line
  return cause.code.startsWith('model_') && cause.code !== 'model_not_configured'
    ? `${cause.code}: ${line} (${cause.hint})`
    : line
}
