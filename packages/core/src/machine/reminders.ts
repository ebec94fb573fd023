// Reminders: facts of the session with a time of the wall clock. When a host says that the time has come, the reminder becomes
// an input in the same record, so that no crash can lose or repeat it. Calendars and time zones are the host's.
import type { Refusal } from '../errors.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { FactOf } from './fact.ts'
import type { InputOf } from './input.ts'
import { acceptUrgent } from './queue.ts'
import { jsonChars } from './size.ts'
import { RULES } from './spec.ts'
import type { Reminder, State } from './state.ts'

/** Start of the ids of inputs that reminders become. Inputs from outside may not have it. */
export const REMINDER_INPUT = 'baton.reminder.'

/** Wall-clock time at which a host has to open the session; null if no reminder waits, or while it is stopped. */
export function findDue({ reminders, phase }: State): number | null {
  if (reminders.length === 0 || phase === 'stopped') return null
  return reminders.reduce((least, { dueMs }) => Math.min(least, dueMs), Infinity)
}

export function checkReminder(state: State, input: InputOf<'set-reminder'>): Refusal | undefined {
  const refuse = (code: Refusal['code'], message: string): Refusal => ({ code, message })
  if (state.parent !== null) return refuse('illegal_input', 'the session of a call has no reminders; its root may have')
  const chars = jsonChars(input.event)
  const { reminderChars, reminders, reminderMs } = RULES
  if (chars > reminderChars)
    return refuse(
      'input_too_large',
      `the reminder has ${chars} characters as JSON; at most ${reminderChars} are allowed`,
    )
  const { rule } = input
  if (rule && 'everyMs' in rule && rule.everyMs < reminderMs)
    return refuse('invalid_event', `a reminder may come every ${reminderMs} ms at most, not every ${rule.everyMs} ms`)
  const others = state.reminders.filter(({ reminder }) => reminder !== input.reminder)
  if (others.length < reminders) return undefined
  return refuse('rate_limited', `a session has ${reminders} reminders at most; cancel one first`)
}

/** Setting the same reminder again keeps its next time. */
export function setReminder(draft: Draft, input: InputOf<'set-reminder'>): void {
  const { reminder, dueMs, rule, zone, event, asks } = input
  const set: Reminder = { reminder, dueMs, ...(rule && { rule }), zone, event, ...(asks === false && { asks }) }
  const known = draft.state.reminders.find((one) => one.reminder === reminder)
  if (known && isSame(known, set)) return
  emit(draft, { type: 'reminder-set', ...set })
}

/** Compares everything except the next time of a repeated reminder. */
function isSame(known: Reminder, set: Reminder): boolean {
  const list = ({ reminder, dueMs, rule, zone, event, asks }: Reminder): string => {
    const { name, label, detail, message, untrusted } = event
    const when = rule ? ('cron' in rule ? [rule.cron, rule.zone] : [rule.everyMs]) : dueMs
    return JSON.stringify([reminder, when, zone, name, label, detail, message, untrusted, asks])
  }
  return list(known) === list(set)
}

export function checkCancelReminder(
  { reminders }: State,
  { reminder }: InputOf<'cancel-reminder'>,
): Refusal | undefined {
  if (reminders.some((one) => one.reminder === reminder)) return undefined
  const message = `the session has no reminder "${reminder.slice(0, 100)}": its time has come, it was cancelled, or is unknown`
  return { code: 'unknown_input', message }
}

export function cancelReminder(draft: Draft, { reminder }: InputOf<'cancel-reminder'>): void {
  emit(draft, { type: 'reminder-cancelled', reminder })
}

export function checkDue({ nextMs, dueMs }: InputOf<'reminder-due'>): Refusal | undefined {
  if (nextMs === undefined || nextMs > dueMs) return undefined
  return { code: 'illegal_input', message: `the next time of a reminder must be after ${dueMs}, not ${nextMs}` }
}

/** Ignores a time that has passed already, or was replaced. */
export function passReminder(draft: Draft, input: InputOf<'reminder-due'>): void {
  const { reminder, dueMs, nextMs, told } = input
  const due = draft.state.reminders.find((one) => one.reminder === reminder && one.dueMs === dueMs)
  if (!due) return
  const start = `${REMINDER_INPUT}${reminder}.`
  // The earlier one waits unread.
  const skipped = draft.state.queue.some(({ inputId }) => inputId.slice(0, inputId.lastIndexOf('.') + 1) === start)
  const next = nextMs !== undefined && { nextMs }
  emit(draft, { type: 'reminder-passed', reminder, dueMs, ...next, ...(skipped && { skipped }) })
  if (skipped) return
  const { event, asks } = due
  const detail = { ...event.detail, reminder, ...told }
  acceptUrgent(draft, {
    type: 'urgent-event',
    inputId: `${start}${dueMs}`,
    ...event,
    detail,
    ...(asks === false && { asks }),
  })
}

type ReminderFact = FactOf<'reminder-set' | 'reminder-cancelled' | 'reminder-passed'>

export function applyReminderFact(state: State, fact: ReminderFact): State {
  const others = state.reminders.filter(({ reminder }) => reminder !== fact.reminder)
  switch (fact.type) {
    case 'reminder-set':
      return { ...state, reminders: [...others, readSet(fact)] }
    case 'reminder-cancelled':
      return { ...state, reminders: others }
    case 'reminder-passed': {
      const { reminder, nextMs } = fact
      if (nextMs === undefined) return { ...state, reminders: others }
      return {
        ...state,
        reminders: state.reminders.map((one) => (one.reminder === reminder ? { ...one, dueMs: nextMs } : one)),
      }
    }
    default:
      return fact satisfies never
  }
}

function readSet({ reminder, dueMs, rule, zone, event, asks }: FactOf<'reminder-set'>): Reminder {
  return { reminder, dueMs, ...(rule && { rule }), zone, event, ...(asks === false && { asks }) }
}
