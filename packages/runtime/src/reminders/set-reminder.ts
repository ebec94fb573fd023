// Sets reminders: what a program says becomes a command with a first time, and what waits is shown to it.
import type { Decoded, Reminder, ReminderInput, ReminderOptions } from '@baton/core/internal'
import { BatonError, decodeReminderInput, decodeReminderOptions } from '@baton/core/internal'
import type { InputOf, Reminder as Waiting, State } from '@baton/core/machine'
import { checkZone, findNext, formatMoment, readMoment, readRule } from './times.ts'

/** Maximum milliseconds that a given moment may lie in the past. */
const PAST_MS = 60_000

export interface ReminderParts {
  readonly newId: () => string
  /** The wall clock. */
  readonly nowMs: number
}

interface Said {
  readonly input: ReminderInput
  readonly options: ReminderOptions | undefined
}

type SetReminder = InputOf<'set-reminder'>

/** @throws BatonError `invalid_event`, `invalid_option` */
export async function readAt(
  { time, ...said }: Said & { readonly time: unknown },
  parts: ReminderParts,
): Promise<SetReminder> {
  const command = readSaid(said, parts)
  const dueMs = await readMoment(time, command.zone)
  const { nowMs } = parts
  if (dueMs >= nowMs - PAST_MS) return { ...command, dueMs }
  const [due, now] = [dueMs, nowMs].map((ms) => formatMoment(ms, command.zone))
  throw new BatonError({
    code: 'invalid_event',
    message: `the time ${due} has passed; it is ${now}`,
    // Seconds, or a delay, in place of milliseconds since 1970.
    ...(typeof time === 'number' && {
      hint: 'A number is milliseconds since 1970: in a minute is Date.now() + 60_000.',
    }),
  })
}

/** @throws BatonError `invalid_event`, `invalid_option` */
export async function readEvery(
  { rule, ...said }: Said & { readonly rule: unknown },
  parts: ReminderParts,
): Promise<SetReminder> {
  const command = readSaid(said, parts)
  const read = await readRule(rule, command.zone)
  const dueMs = await findNext(read, parts.nowMs, parts.nowMs)
  if (dueMs !== undefined) return { ...command, rule: read, dueMs }
  throw new BatonError({ code: 'invalid_event', message: `the rule "${String(rule)}" has no time to come` })
}

function readSaid({ input, options = {} }: Said, { newId }: ReminderParts): Omit<SetReminder, 'dueMs'> {
  const event = demand(decodeReminderInput(input))
  const { id = newId(), zone = 'UTC', asks, trust } = demand(decodeReminderOptions(options))
  return {
    type: 'set-reminder',
    reminder: id,
    zone: checkZone(zone),
    event: { ...event, ...(trust === 'untrusted' && { untrusted: 'reminders.set' }) },
    ...(asks !== undefined && { asks }),
  }
}

/** @throws BatonError naming the field */
function demand<T>(given: Decoded<T>): T {
  if (given.ok) return given.value
  throw new BatonError(given.refusal)
}

/** Reminders that wait, the next one first. */
export function viewReminders({ reminders }: State): readonly Reminder[] {
  return reminders.toSorted((one, other) => one.dueMs - other.dueMs).map(view)
}

/** The waiting reminder; if it was due at once, the given one. */
export function findReminder({ reminders }: State, set: SetReminder): Reminder {
  return view(reminders.find(({ reminder }) => reminder === set.reminder) ?? set)
}

function view({
  reminder,
  dueMs,
  rule,
  zone,
  event,
}: Pick<Waiting, 'reminder' | 'dueMs' | 'rule' | 'zone' | 'event'>): Reminder {
  return { id: reminder, dueMs, due: formatMoment(dueMs, zone), ...(rule && { rule }), zone, event }
}
