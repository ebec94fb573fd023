// What went wrong, as one line for a person.
import { isBatonError } from '@baton/core'
import { escapeLine } from './escape-controls.ts'

/** What happened, and what to do where the message does not say so itself. */
export function errorLine(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const line = escapeLine(message.replace(/\s*\n\s*/g, ' ').trim())
  if (!isBatonError(cause)) return line
  return cause.code.startsWith('model_') && cause.code !== 'model_not_configured'
    ? `${cause.code}: ${line} (${cause.hint})`
    : line
}
