// Describes a thrown value in words. Anything can be thrown: a value that is no error, or one that cannot be turned into text.
import { isBatonError, isErrorCode } from '@baton/core'
import type { Failure } from '@baton/core/machine'

/** Empty where there is nothing to say. Never throws. */
export function describeThrown(thrown: unknown): string {
  try {
    const said: unknown = thrown instanceof Error ? thrown.message : thrown
    if (typeof said === 'string') return said
    if (said === undefined || said === null) return ''
    // A primitive has a text of its own; an object's is rarely more than its brackets.
    const text: unknown =
      typeof said === 'object' ? JSON.stringify(said) : String(said as number | bigint | boolean | symbol)
    return typeof text === 'string' ? text : ''
  } catch {
    return ''
  }
}

/** The text without the secrets; those of fewer than 4 characters are words, and stay. */
export function hideSecrets(text: string, secrets: readonly string[] = []): string {
  let shown = text
  // Longest first: another secret may be the beginning of one, whose rest would stay.
  for (const secret of secrets.toSorted((one, other) => other.length - one.length)) {
    if (secret.length < 4) continue
    const encoded = encodeURIComponent(secret.toWellFormed())
    shown = shown.replaceAll(secret, '[redacted]').replaceAll(encoded, '[redacted]')
  }
  return shown
}

/** UTF-16 units of a failure's message, which the log keeps. */
const MESSAGE_CHARS = 4096

/** The machine's failure for what a model threw. Never throws, whatever was thrown. */
export function describeFailure(cause: unknown, secrets?: readonly string[]): Failure {
  // Hidden before it is cut: half a key is still too much.
  const said = hideSecrets(describeThrown(cause), secrets).slice(0, MESSAGE_CHARS).toWellFormed()
  const message = said || 'the model did not say why it failed'
  try {
    if (isBatonError(cause)) {
      const { code, retryable, data } = cause
      const { retryAfterMs: ms, contextTokens: tokens } = (data ?? {}) as Readonly<Record<string, unknown>>
      const told = { ...(isCount(ms) && { retryAfterMs: ms }), ...(isCount(tokens) && { contextTokens: tokens }) }
      // Checked again: an error of another copy of Baton may have a code that this one does not know, or a different one each time.
      if (isErrorCode(code)) return { code, message, retryable: retryable === true, ...told }
    }
  } catch {
    // It has a getter that throws.
  }
  return { code: 'model_provider_failed', message, retryable: false }
}

/** JSON writes NaN as null. Above what a number holds exactly, sums would be wrong, and in the end infinite. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}
