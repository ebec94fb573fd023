// Extracts the message of an error, in whatever format a service or gateway sends it.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'

/** Fields that may hold a message; the first non-empty one is used. */
const WORDS = [
  'message',
  'Message',
  'msg',
  'error_description',
  'error_message',
  'errorMessage',
  'error_msg',
  'detail',
  'faultstring',
  'reason',
  'title',
] as const
/** Fields that may hold one or more errors. */
const HOLDERS = ['error', 'errors', 'fault', 'detail', 'details', 'message'] as const
const DEPTH_MAX = 4
const ERRORS_MAX = 5

/** Returns an empty string if there is no message. `{ error: 'a', error_description: 'b' }` becomes `a: b`. */
export function findWords(value: JsonValue | undefined, depth = 0): string {
  if (typeof value === 'string') return value.trim()
  if (depth > DEPTH_MAX) return ''
  if (Array.isArray(value)) {
    const said = (value as readonly JsonValue[]).slice(0, ERRORS_MAX).map((one) => findWords(one, depth + 1))
    return [...new Set(said.filter((words) => words !== ''))].join('; ')
  }
  if (!isJsonObject(value)) return ''
  const field = WORDS.map((name) => value[name]).find((words) => typeof words === 'string' && words.trim() !== '')
  const own = typeof field === 'string' ? field.trim() : ''
  const { error } = value
  if (typeof error === 'string') return [...new Set([error.trim(), own])].filter((words) => words !== '').join(': ')
  if (own !== '') return own
  for (const name of HOLDERS) {
    const words = findWords(value[name], depth + 1)
    if (words !== '') return words
  }
  return ''
}

/** Whether an object that is not an answer reports a failure. A code of 0 or 200 means success. */
export function saysFailure(value: JsonObject): boolean {
  const { code, success } = value
  if (code === 0 || code === '0' || code === 200 || code === '200') return false
  return (
    success === false ||
    ['msg', 'error_msg', 'error_message', 'errorMessage', 'errors', 'fault'].some(
      (name) => findWords(value[name]) !== '',
    )
  )
}
