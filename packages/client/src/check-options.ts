// Checks options of JavaScript and TypeScript programs: an invalid one is refused by name, with its value. Knows no
// option itself.
import { createError, createUnknownError } from './client-error.ts'

/** A misspelt option would silently have no effect. @throws ClientError `invalid_option` */
export function checkOptionNames(what: string, options: object, names: readonly string[]): void {
  // JavaScript may pass anything.
  const given: unknown = options
  if (typeof given !== 'object' || given === null)
    throw createError('invalid_option', `${what} needs options, not ${String(given)}`, `Options: ${names.join(', ')}`)
  const wrong = Object.keys(options).find((name) => !names.includes(name))
  if (wrong !== undefined) throw createUnknownError(`${what} has no option`, wrong, names)
}

/** A number from `least` to `most`; undefined passes. @throws ClientError `invalid_option` */
export function checkOptionNumber(what: string, value: unknown, [least, most]: readonly [number, number]): void {
  if (value === undefined || (typeof value === 'number' && value >= least && value <= most)) return
  const shown =
    typeof value === 'string' ? JSON.stringify(value) : typeof value === 'number' ? String(value) : typeof value
  throw createError('invalid_option', `${what} must be a number from ${least} to ${most}, not ${shown}`)
}
