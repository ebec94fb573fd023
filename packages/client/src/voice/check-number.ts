// Checks the numbers that an app gives to a voice and to its speakers.
import { createError } from '../client-error.ts'

/** @throws ClientError `invalid_option` for a value that is no number from `least` to `most` */
export function checkNumber(name: string, value: number, [least, most]: readonly [least: number, most: number]): void {
  if (value >= least && value <= most) return
  const limits = most === Infinity ? `${least} or more` : `from ${least} to ${most}`
  throw createError('invalid_option', `${name} must be ${limits}, not ${String(value)}`)
}
