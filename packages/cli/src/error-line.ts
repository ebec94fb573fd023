// What went wrong, as one line for a person.
import { ERROR_CODES, isBatonError } from '@baton/core'
import { redact, redactAddresses, secretsIn } from '@baton/models/choose-model'
import { describeThrown } from '@baton/runtime'
import { escapeLine } from './escape-controls.ts'
import type { Variables } from './words.ts'

/** What happened, and what to do where the message does not say so itself; without secrets of the variables and of addresses. */
export function errorLine(cause: unknown, variables: Variables = {}): string {
  const makeLine = (text: string): string => {
    const safe = redactAddresses(redact(text, secretsIn(variables)))
    return escapeLine(safe.replace(/\s*\n\s*/g, ' ').trim())
  }
  const line = makeLine(describeThrown(cause))
  if (!isBatonError(cause)) return line
  if (cause.code.startsWith('model_') && cause.code !== 'model_not_configured')
    return `${cause.code}: ${line} (${makeLine(cause.hint)})`
  // The hint of a code says what its message says already; one of its own was written for this very error.
  return cause.hint === ERROR_CODES[cause.code].solve ? line : `${line} (${makeLine(cause.hint)})`
}
