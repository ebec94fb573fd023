// Decodes a program's reminder, except for its time, which needs a calendar.
import * as s from '../shape/shape.ts'
import { decoder, decodeWith, describeValue } from '../shape/value-reader.ts'
import type { Decoded } from '../shape/value-reader.ts'
import type { ReminderEvent, ReminderRule } from '../machine/values.ts'
import { Label } from './decode-command.ts'
import { EVENT_ELSEWHERE, REMINDER_ELSEWHERE } from './names-elsewhere.ts'

/** Maximum UTF-16 units of a reminder's id, which is a part of its input's id. */
const ID_CHARS_MAX = 100

const ReminderId = s.refine(s.name, (id, reader) =>
  id.length <= ID_CHARS_MAX ? id : reader.refuse(`must have ${ID_CHARS_MAX} characters at most, not ${id.length}`),
)

const OPTIONS = {
  /** Its name, at most 100 characters: a reminder that is set again under its name replaces the former. A new one by default. */
  id: s.optional(ReminderId),
  /** The time zone of the times, such as `Europe/Berlin`. `UTC` by default. */
  zone: s.optional(s.textBetween(1, 64)),
  /** Whether a person can be asked in its turn; true by default. */
  asks: s.optional(s.flag),
  /** `untrusted`: a stranger may have written its text. */
  trust: s.optional(s.word('trusted', 'untrusted')),
}
const Options = s.fields('the options of a reminder', OPTIONS, REMINDER_ELSEWHERE)
/** Options of `session.at` and `session.every`. */
export interface ReminderOptions extends s.Infer<typeof Options> {}

const CONTENT = {
  /** `due` by default. */
  name: s.optional(s.name),
  /** Label in brackets before the name, for the model; `Reminder` by default. */
  label: s.optional(Label),
  detail: s.optional(s.object),
  /** Text for the model. */
  message: s.optional(s.text),
}
const Content = s.fields('a reminder', CONTENT, EVENT_ELSEWHERE)
/** The event that a reminder becomes. A text is its message. All of it has 4,000 characters at most, as JSON. */
export type ReminderInput = string | s.Infer<typeof Content>

/** A reminder that waits, from `session.reminders()`. */
export interface Reminder {
  readonly id: string
  /** Its next time, in milliseconds since 1970. */
  readonly dueMs: number
  /** The same for people, such as `2026-12-24 09:00 Europe/Berlin`. */
  readonly due: string
  /** The repetition; absent if it fires once. */
  readonly rule?: ReminderRule
  readonly zone: string
  readonly event: ReminderEvent
}

/** Decodes the options of `at` and `every`. Never throws. */
export const decodeReminderOptions = decoder<ReminderOptions>('the options', Options)

/** Decodes the input of a reminder. Never throws. */
export function decodeReminderInput(given: unknown): Decoded<ReminderEvent> {
  if (typeof given !== 'string' && (typeof given !== 'object' || given === null)) {
    const message = `a reminder must be text, or an object such as { name, message }, not ${describeValue(given)}`
    return { ok: false, refusal: { code: 'invalid_event', message } }
  }
  const read = decodeWith('the reminder', typeof given === 'string' ? { message: given } : given, Content.read)
  if (!read.ok) return read
  const { name = 'due', label = 'Reminder', detail, message } = read.value
  const rest = { ...(detail && { detail }), ...(message !== undefined && { message }) }
  return { ok: true, value: { name, label, ...rest } }
}
