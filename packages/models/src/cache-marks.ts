// Places of prompt cache marks in a history. A provider keeps everything before a mark, and looks it up
// at the marks of the next request: Claude 20 blocks further back too, Nova nowhere else.

/** Marks that a request may have; a fifth is refused ("A maximum of 4 blocks with cache_control may be provided"). */
const MARKS_MAX = 4

/**
 * The messages whose ends are marked: the last one, for the next request, and the one with which the request before this one
 * ended, whose mark the provider knows. A step with many calls puts more blocks between them than Claude looks back over.
 * @param free marks that nobody else uses
 */
export function findMarkedMessages(messages: readonly { readonly role: string }[], free: number): readonly number[] {
  const last = messages.length - 1
  const answer = messages.findLastIndex(({ role }) => role === 'assistant')
  const before = messages.slice(0, Math.max(0, answer)).findLastIndex(({ role }) => role === 'user')
  return [last, before].filter((index, at) => index >= 0 && at < free)
}

/** Number of the four marks that are left beside `own` of the adapter and those of the user's own fields. */
export function countFreeMarks(own: number, field: string, ...given: readonly unknown[]): number {
  const others = given.reduce<number>((sum, value) => sum + countFields(value, field), 0)
  return Math.max(0, MARKS_MAX - own - others)
}

function countFields(value: unknown, field: string): number {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 0
  return JSON.stringify(value).split(`"${field}":`).length - 1
}
