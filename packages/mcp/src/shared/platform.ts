// Shared by client and server: defaults, the check of limits, the name of an extension.
import type { Logger, Timers } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'

export const SILENT: Logger = { info: () => {}, warn: () => {} }

export const PLATFORM_TIMERS: Timers = {
  start: (delayMs, callback, { isBackground = false } = {}) => {
    const timer = setTimeout(callback, delayMs)
    if (isBackground) timer.unref()
    return () => clearTimeout(timer)
  },
}

/** @throws BatonError `invalid_option` for a limit that is not a whole number above 0 */
export function checkLimits(what: string, limits: object): void {
  for (const [name, value] of Object.entries(limits))
    if (!Number.isSafeInteger(value) || Number(value) < 1)
      throw new BatonError({
        code: 'invalid_option',
        message: `${what}limits.${name} must be a whole number of at least 1, not ${String(value)}`,
      })
}

/** The text, or its beginning and how much was cut. Never splits a character. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  const note = ` […${text.length - most} characters omitted]`
  return text.slice(0, Math.max(0, most - note.length)).toWellFormed() + note
}

/** The extension of 2026-07-28 that lets a call be a task (SEP-2663). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
