// What was thrown, in words. Anything can be thrown: also what is no error, and what cannot be turned into text.

/** Empty where there is nothing to say. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    const said: unknown = thrown instanceof Error ? thrown.message : thrown
    if (typeof said === 'string') return said
    if (said === undefined || said === null) return ''
    // What is no object has a text of its own; an object's is rarely more than its brackets.
    return typeof said === 'object' ? JSON.stringify(said) : String(said as number | bigint | boolean | symbol)
  } catch {
    return ''
  }
}
