// Times of reminders: moments, cron expressions in time zones, and intervals. Calendars and daylight saving are croner's.
// Nothing here reads a clock. croner is loaded when it is first needed, because most programs have no reminders.
import { BatonError, describeValue } from '@baton/core/internal'
import type { InputOf, Reminder, ReminderRule, State } from '@baton/core/machine'
import { RULES } from '@baton/core/machine'
import type * as Croner from 'croner'

/** The latest time that a JavaScript date has. */
const LATEST_MS = 8_640_000_000_000_000
const TEXT_CHARS_MAX = 200
/** A reminder counts as late after this delay, in milliseconds. */
const LATE_MS = 60_000

/** @throws BatonError `invalid_event` for a zone that the platform does not know */
export function checkZone(zone: string): string {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone && zone
  } catch {
    throw refuse(`there is no time zone "${zone.slice(0, 60)}"`, 'Use a name such as "Europe/Berlin" or "UTC".')
  }
}

/**
 * A moment: a date, milliseconds since 1970, or ISO 8601 text. Text without an offset is the local time of the zone.
 * @throws BatonError `invalid_event`
 */
export async function readMoment(time: unknown, zone: string): Promise<number> {
  const ms = time instanceof Date ? time.getTime() : typeof time === 'string' ? await readText(time, zone) : time
  if (typeof ms === 'number' && Math.abs(ms) <= LATEST_MS) return Math.round(ms)
  const given = typeof time === 'string' ? `"${time.slice(0, 60)}"` : describeValue(time)
  throw refuse(`the time of a reminder must be a date, not ${given}`, MOMENT_FORM)
}

const MOMENT_FORM =
  'Write a Date, milliseconds since 1970, "2026-12-24T09:00:00Z", or "2026-12-24T09:00" with zone: "Europe/Berlin".'
const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?$/
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/

async function readText(text: string, zone: string): Promise<number | undefined> {
  const day = text.slice(0, 10)
  // Otherwise the 30th of February would be a day of March.
  const midnight = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day)) return undefined
  if (WITH_OFFSET.test(text)) return Date.parse(text)
  if (!LOCAL.test(text)) return undefined
  const { Cron } = await loadCroner()
  try {
    return new Cron(text, { timezone: zone }).nextRun(new Date(0))?.getTime()
  } catch {
    return undefined // no such day or hour
  }
}

/**
 * A rule: a cron expression with five fields (minute, hour, day, month, weekday), or milliseconds.
 * @throws BatonError `invalid_event`
 */
export async function readRule(rule: unknown, zone: string): Promise<ReminderRule> {
  const least = RULES.reminderMs
  if (typeof rule === 'number') {
    if (Number.isSafeInteger(rule) && rule >= least) return { everyMs: rule }
    throw refuse(
      `the interval of a reminder must be ${least} ms or more, not ${rule}`,
      'Write every(30 * 60_000, …) for half an hour, or a cron expression such as "0 9 * * 1-5".',
    )
  }
  if (typeof rule !== 'string' || rule.length > TEXT_CHARS_MAX)
    throw refuse(
      `a reminder comes again by a cron expression or after milliseconds, not by ${describeValue(rule)}`,
      'Write every("0 9 * * 1-5", input, { zone: "Europe/Berlin" }), or every(30 * 60_000, input).',
    )
  if (/^\d{4}-\d/.test(rule)) throw refuse(`"${rule}" is a moment, and no cron expression`, 'Set it with at.')
  const croner = await loadCroner()
  try {
    createCron(croner, rule, zone)
  } catch (cause) {
    const fields = rule.match(/\S+/g) ?? []
    const said = cause instanceof Error ? cause.message.replace(/^\w+: /, '') : String(cause)
    const why = fields.length === 5 ? said : `5 fields are needed, not ${fields.length}`
    const hint = 'Write minute, hour, day, month and weekday, such as "0 9 * * 1-5"; for an interval, milliseconds.'
    throw refuse(`the cron expression "${rule}" cannot be read: ${why}`, hint)
  }
  return { cron: rule, zone }
}

function loadCroner(): Promise<typeof Croner> {
  return import('croner')
}

function createCron({ Cron }: typeof Croner, pattern: string, zone: string): Croner.Cron {
  return new Cron(pattern, { timezone: zone, mode: '5-part' })
}

/**
 * The next time of a rule after `afterMs`; undefined if there is none. Intervals are counted from `sinceMs`, so that a
 * late one moves no later one.
 */
export async function findNext(rule: ReminderRule, sinceMs: number, afterMs: number): Promise<number | undefined> {
  if ('everyMs' in rule) {
    const nextMs = sinceMs + Math.floor(Math.max(0, afterMs - sinceMs) / rule.everyMs + 1) * rule.everyMs
    return nextMs <= LATEST_MS ? nextMs : undefined
  }
  const croner = await loadCroner()
  try {
    return createCron(croner, rule.cron, rule.zone).nextRun(new Date(afterMs))?.getTime()
  } catch {
    return undefined // this platform cannot read the rule
  }
}

/** Everything due by the wall clock: one input for each reminder, however many of its times have passed. */
export async function listDue(
  { reminders }: Pick<State, 'reminders'>,
  wallMs: number,
): Promise<readonly InputOf<'reminder-due'>[]> {
  const due = reminders.filter(({ dueMs }) => dueMs <= wallMs)
  const ordered = due.toSorted((one, other) => one.dueMs - other.dueMs)
  return await Promise.all(ordered.map((one) => describeDue(one, wallMs)))
}

/** Builds the input of a due reminder. This clock may be behind the one that found the reminder due. */
export async function describeDue(
  { reminder, dueMs, rule, zone }: Reminder,
  wallMs: number,
): Promise<InputOf<'reminder-due'>> {
  const lateMs = Math.max(0, wallMs - dueMs)
  const nextMs = rule && (await findNext(rule, dueMs, dueMs + lateMs))
  const told = { due: formatMoment(dueMs, zone), ...(lateMs >= LATE_MS && { late: formatLateness(lateMs) }) }
  return { type: 'reminder-due', reminder, dueMs, ...(nextMs !== undefined && { nextMs }), told }
}

/** `2026-12-24 09:00 Europe/Berlin`. */
export function formatMoment(ms: number, zone: string): string {
  try {
    // The Swedish form is that of ISO 8601.
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
    return `${format.format(ms)} ${zone}`
  } catch {
    return new Date(ms).toISOString()
  }
}

function formatLateness(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)]
  const parts = [days > 0 && `${days} d`, hours > 0 && `${hours} h`, minutes % 60 > 0 && `${minutes % 60} min`]
  return parts.filter((part) => part !== false).join(' ')
}

function refuse(message: string, hint?: string): BatonError {
  return new BatonError({ code: 'invalid_event', message, ...(hint !== undefined && { hint }) })
}
