// An error as one line for a person.
import { ERROR_CODES, isBatonError } from '@baton/core/internal'
import { redact, redactAddresses, secretsIn } from '@baton/models/internal'
import { describeThrown } from '@baton/runtime'
import { escapeControls, escapeLine } from '../terminal/escape-controls.ts'
import type { Variables } from './words.ts'

/**
 * Describes an error, with its hint unless the message already says that; without secrets from variables and addresses.
 */
export function errorLine(cause: unknown, variables: Variables = {}): string {
  const makeLine = (text: string): string => {
    const safe = redactAddresses(redact(text, secretsIn(variables)))
    return escapeLine(safe.replace(/\s*\n\s*/g, ' ').trim())
  }
  const line = makeLine(describeThrown(cause))
  if (!isBatonError(cause)) return line
  if (cause.code.startsWith('model_') && cause.code !== 'model_not_configured')
    return `${cause.code}: ${line} (${makeLine(cause.hint)})`
  // The hint of a code repeats its message, but a custom hint was written for this very error.
  return cause.hint === ERROR_CODES[cause.code].solve ? line : `${line} (${makeLine(cause.hint)})`
}

/** The stack of an error and its causes, without secrets and safe for a terminal. */
export function errorStack(cause: unknown, variables: Variables = {}): string {
  const stacks: string[] = []
  for (let each = cause; each instanceof Error && stacks.length < CAUSES_MAX; each = each.cause)
    stacks.push(each.stack ?? String(each))
  const text = redactAddresses(redact(stacks.join('\ncaused by '), secretsIn(variables)))
  return escapeControls(text)
}

const CAUSES_MAX = 8
