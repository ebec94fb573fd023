// What was thrown, in words. Anything can be thrown: a value that is no error, or one that cannot be turned into text.

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
  for (const secret of secrets) {
    if (secret.length < 4) continue
    shown = shown.replaceAll(secret, '[redacted]').replaceAll(encodeURIComponent(secret), '[redacted]')
  }
  return shown
}
