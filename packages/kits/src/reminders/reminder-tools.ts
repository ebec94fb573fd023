// Reminders that a model sets for its own session, lists and cancels. Those of the program are not shown to it, and stay.
import type { ErrorCode, Reminder, ToolContext } from '@baton/core/internal'
import { BatonError, checkFields, describeValue, tool } from '@baton/core/internal'
import * as z from 'zod'

/** Options of `reminderTools`. */
export interface ReminderToolsOptions {
  /** The time zone of times without an offset, and of cron expressions, unless the model names another. Default: `UTC`. */
  readonly zone?: string
  /** Whether a person approves each reminder before it is set or cancelled. Default: true. */
  readonly approval?: boolean
  /** Maximum reminders of the model that wait; a session has at most 32 of all kinds. Default: 10. */
  readonly most?: number
}

const FIELDS = new Set(['zone', 'approval', 'most'])
const MOST = 10
const SESSION_MOST = 32
const MESSAGE_CHARS = 2000
/** Start of the ids of a model's reminders. */
const OWN = 'model.'
const ERRORS: readonly ErrorCode[] = [
  'invalid_event',
  'rate_limited',
  'input_too_large',
  'unknown_input',
  'illegal_input',
]

const shown = z.object({
  id: z.string(),
  due: z.string().describe('Its next time'),
  repeats: z.string().optional().describe('When it comes again'),
  message: z.string(),
})

/**
 * `reminders.set`, `reminders.list` and `reminders.cancel`: `tools: [...reminderTools({ zone: 'Europe/Berlin' })]`. What
 * a model sets after it has read untrusted text counts as untrusted when it comes.
 * @throws BatonError `invalid_option`
 */
export function reminderTools(options: ReminderToolsOptions = {}) {
  checkFields(options, { what: 'reminderTools', code: 'invalid_option', fields: FIELDS })
  const { zone = 'UTC', approval = true, most = MOST } = options
  if (!Number.isSafeInteger(most) || most < 1 || most > SESSION_MOST)
    throw new BatonError({
      code: 'invalid_option',
      message: `most must be a whole number from 1 to ${SESSION_MOST}, not ${String(most)}`,
    })
  checkZone(zone)
  return [setTool({ zone, approval, most }), listTool(zone), cancelTool(approval)] as const
}

/** Refuses an unknown zone here, where the program can correct it: the model cannot. */
function checkZone(zone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch (cause) {
    throw new BatonError({
      code: 'invalid_option',
      message: `reminderTools: there is no time zone ${describeValue(zone)}`,
      hint: 'Use a name such as "Europe/Berlin" or "UTC".',
      cause,
    })
  }
}

const Wanted = z.object({
  message: z.string().trim().min(1).max(MESSAGE_CHARS).describe('What you are to be told then, complete in itself'),
  at: z.string().optional().describe('For once: 2026-12-24T09:00, or with an offset'),
  cron: z.string().optional().describe('For again and again: minute hour day month weekday, such as 0 9 * * 1-5'),
  everyMinutes: z.int().min(1).max(527_040).optional().describe('For again and again: minutes between two times'),
  zone: z.string().optional().describe('Time zone of at and cron, such as Europe/Berlin'),
})

function setTool({ zone, approval, most }: Required<ReminderToolsOptions>) {
  return tool({
    name: 'reminders.set',
    title: 'Set a reminder',
    kind: 'other',
    trust: 'trusted',
    description: `Sets a reminder for this conversation: you are told its message at its time. Give one of at, cron and everyMinutes. Times are local to ${zone}; reminders.list says what time it is.`,
    // Its id is that of the call, so a repeated run sets the same one.
    effect: 'idempotent',
    approval,
    errors: ERRORS,
    describe: ({ message }) => ({ title: `Set a reminder: ${message.slice(0, 160)}` }),
    input: Wanted,
    output: shown,
    execute: async ({ message, at, cron, everyMinutes, zone: own = zone }, context) => {
      const id = `${OWN}${context.callId}`
      const session = await context.reminders()
      const others = (await listOwn(context)).filter((one) => one.id !== id)
      if (others.length >= most)
        throw new BatonError({
          code: 'rate_limited',
          message: `${others.length} reminders wait, and no more are allowed; cancel one first`,
        })
      if ([at, cron, everyMinutes].filter((given) => given !== undefined).length !== 1)
        throw new BatonError({ code: 'invalid_event', message: 'give exactly one of at, cron and everyMinutes' })
      const named = { id, zone: own }
      const set =
        at === undefined
          ? await session.every(cron ?? (everyMinutes ?? 0) * 60_000, message, named)
          : await session.at(at, message, named)
      return show(set)
    },
  })
}

function listTool(zone: string) {
  return tool({
    name: 'reminders.list',
    title: 'List reminders',
    kind: 'read',
    trust: 'trusted',
    description: 'Lists the reminders that you have set and that wait, the next one first, and says what time it is.',
    effect: 'pure',
    errors: ERRORS,
    describe: () => ({ title: 'List the reminders' }),
    input: z.object({}),
    output: z.object({ now: z.string(), reminders: z.array(shown) }),
    execute: async (_, context) => {
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
      return { now: `${format.format(Date.now())} ${zone}`, reminders: (await listOwn(context)).map(show) }
    },
  })
}

function cancelTool(approval: boolean) {
  return tool({
    name: 'reminders.cancel',
    title: 'Cancel a reminder',
    kind: 'other',
    trust: 'trusted',
    description: 'Cancels a reminder that you have set, by its id.',
    effect: 'idempotent',
    approval,
    errors: ERRORS,
    describe: ({ id }) => ({ title: `Cancel the reminder ${id.slice(0, 100)}` }),
    input: z.object({ id: z.string().min(1).max(100).describe('Of reminders.set or reminders.list') }),
    output: z.object({ cancelled: z.boolean() }),
    execute: async ({ id }, context) => {
      const session = await context.reminders()
      const waits = (await listOwn(context)).some((one) => one.id === id)
      if (!waits && context.attempt > 1) return { cancelled: true } // by an earlier run of this call
      if (!waits)
        throw new BatonError({
          code: 'unknown_input',
          message: `no reminder "${id}" of yours waits; reminders.list has them`,
        })
      await session.cancelReminder(id)
      return { cancelled: true }
    },
  })
}

async function listOwn(context: Pick<ToolContext, 'reminders'>): Promise<readonly Reminder[]> {
  const session = await context.reminders()
  return (await session.reminders()).filter(({ id }) => id.startsWith(OWN))
}

function show({ id, due, rule, event }: Reminder): z.infer<typeof shown> {
  const repeats = rule && ('cron' in rule ? rule.cron : `every ${rule.everyMs / 60_000} min`)
  return { id, due, ...(repeats !== undefined && { repeats }), message: event.message ?? '' }
}
