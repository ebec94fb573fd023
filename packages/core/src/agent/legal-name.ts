// The one definition of a legal name: ids of inputs, calls, clients and connections, and whatever people read as a name.

/** UTF-16 units. */
export const NAME_CHARS_MAX = 256

/** C0 and C1 controls, halves of surrogate pairs, and what turns the direction of writing in a log or on a screen. */
const ILLEGAL = /[\p{Cc}\p{Surrogate}\p{Bidi_Control}]/u

/**
 * Whether the value can be an id: text of 1 to 256 UTF-16 units without control characters, without controls of the
 * direction of writing and without a half of a surrogate pair.
 */
export function isLegalName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= NAME_CHARS_MAX && !ILLEGAL.test(value)
}
