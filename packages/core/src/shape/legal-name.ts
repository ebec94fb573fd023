// The one definition of a legal name: ids of sessions, people, inputs, calls, clients and connections, keys of blobs,
// and everything that people read as a name.
import { BatonError } from '../errors.ts'

/** Maximum UTF-16 units of a name. */
export const NAME_CHARS_MAX = 256

/** C0 and C1 controls, line separators, halves of surrogate pairs, and bidirectional controls. */
const ILLEGAL = /[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\p{Bidi_Control}]/u
const SURROGATE = /\p{Surrogate}/u

/**
 * Whether the value can be an id: text of 1 to 256 UTF-16 units without control characters, line separators,
 * bidirectional controls and halves of surrogate pairs.
 */
export function isLegalName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= NAME_CHARS_MAX && !ILLEGAL.test(value)
}

/** Why the value is not a legal name, worded to follow "must": `be text, not null`. Undefined if it is legal. */
export function findNameIssue(value: unknown): string | undefined {
  if (typeof value !== 'string') return `be text, not ${value === null ? 'null' : typeof value}`
  if (value === '' || value.length > NAME_CHARS_MAX)
    return `have 1 to ${NAME_CHARS_MAX} characters, not ${value.length}`
  const at = value.search(ILLEGAL)
  if (at < 0) return undefined
  const code = `U+${(value.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  const kind = SURROGATE.test(value[at] ?? '') ? 'half of a surrogate pair' : 'a control character'
  return `have no control characters; position ${at} has ${code}, ${kind}`
}

/** Like `findNameIssue`, for session ids: they appear in addresses, where these two mean a folder. */
export function findSessionIdIssue(value: unknown): string | undefined {
  if (value === '.' || value === '..') return `not be "${value}", which an HTTP address cannot contain`
  return findNameIssue(value)
}

/** @throws BatonError `invalid_option` with the reason */
export function checkSessionId(value: unknown): asserts value is string {
  const issue = findSessionIdIssue(value)
  if (issue !== undefined) throw new BatonError({ code: 'invalid_option', message: `a session’s id must ${issue}` })
}

/**
 * Asserts a legal name. `what` names the value: `a blob’s name`.
 * @throws BatonError `invalid_option` with the reason
 */
export function checkName(what: string, value: unknown): asserts value is string {
  const issue = findNameIssue(value)
  if (issue !== undefined) throw new BatonError({ code: 'invalid_option', message: `${what} must ${issue}` })
}
