// Chooses where prompt cache marks go in a history. A provider caches everything before a mark and looks it up at the
// marks of the next request; Claude also looks up to 20 blocks further back, Nova does not.

/** Maximum marks per request; a fifth is rejected ("A maximum of 4 blocks with cache_control may be provided"). */
const MARKS_MAX = 4

/**
 * Returns the messages to mark at their end: the last message, for the next request, and the message that ended the
 * previous request, whose mark the provider already has. A step with many calls puts more blocks between the two than
 * Claude looks back over.
 * @param free number of unused marks
 */
export function findMarkedMessages(messages: readonly { readonly role: string }[], free: number): readonly number[] {
  const last = messages.length - 1
  const answer = messages.findLastIndex(({ role }) => role === 'assistant')
  const before = messages.slice(0, Math.max(0, answer)).findLastIndex(({ role }) => role === 'user')
  return [last, before].filter((index, at) => index >= 0 && at < free)
}

/** Number of marks left after the adapter's `own` ones and those in the user's own fields. */
export function countFreeMarks(own: number, field: string, ...given: readonly unknown[]): number {
  const others = given.reduce<number>((sum, value) => sum + countFields(value, field), 0)
  return Math.max(0, MARKS_MAX - own - others)
}

function countFields(value: unknown, field: string): number {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 0
  return JSON.stringify(value).split(`"${field}":`).length - 1
}
