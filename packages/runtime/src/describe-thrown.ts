// Describes a thrown value in words. Any value can be thrown, even one without a text.
import { isBatonError, isErrorCode } from '@baton/core/internal'
import type { Failure } from '@baton/core/machine'

/** Returns an empty string if the value says nothing. Never throws. */
export function describeThrown(thrown: unknown): string {
  try {
    const said: unknown = thrown instanceof Error ? thrown.message : thrown
    if (typeof said === 'string') return said
    if (said === undefined || said === null) return ''
    // Primitives convert to useful text; objects rarely do.
    const text: unknown =
      typeof said === 'object' ? JSON.stringify(said) : String(said as number | bigint | boolean | symbol)
    return typeof text === 'string' ? text : ''
  } catch {
    return ''
  }
}

/** Removes secrets from the text. Secrets under 4 characters are ordinary words and stay. */
export function hideSecrets(text: string, secrets: readonly string[] = []): string {
  let shown = text
  // Longest first: a shorter secret may be a prefix of a longer one, whose rest would stay.
  for (const secret of secrets.toSorted((one, other) => other.length - one.length)) {
    if (secret.length < 4) continue
    const encoded = encodeURIComponent(secret.toWellFormed())
    shown = shown.replaceAll(secret, '[redacted]').replaceAll(encoded, '[redacted]')
  }
  return shown
}

/** Maximum length of a failure's message in the log, in UTF-16 units. */
const MESSAGE_CHARS = 4096

/** The machine's failure for an error thrown by a model. Never throws. */
export function describeFailure(cause: unknown, secrets?: readonly string[]): Failure {
  // Hide before cutting: half a key is still too much.
  const said = hideSecrets(describeThrown(cause), secrets).slice(0, MESSAGE_CHARS).toWellFormed()
  const message = said || 'the model did not say why it failed'
  try {
    if (isBatonError(cause)) {
      const { code, retryable, data } = cause
      const { retryAfterMs: ms, contextTokens: tokens } = (data ?? {}) as Readonly<Record<string, unknown>>
      const told = { ...(isCount(ms) && { retryAfterMs: ms }), ...(isCount(tokens) && { contextTokens: tokens }) }
      // Checked here: an error from another copy of Baton may have a code that this copy does not know, or a getter
      // that returns a new one each time.
      if (isErrorCode(code)) return { code, message, retryable: retryable === true, ...told }
    }
  } catch {
    // It has a throwing getter.
  }
  return { code: 'model_provider_failed', message, retryable: false }
}

/** JSON writes NaN as null. Beyond the safe integers sums lose precision, and finally become infinite. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}
