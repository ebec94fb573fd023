// Options of a tool with separate types, and the checks of those that are objects. It does not know the tool.
import { BatonError } from '../errors.ts'
import { checkFields } from '../shape/known-fields.ts'
import * as s from '../shape/shape.ts'
import { describeValue } from '../shape/value-reader.ts'

/** The kind of work that a tool does. Editors and chats show it to people. */
export const ToolKind = s.word('read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'other')
export type ToolKind = s.Infer<typeof ToolKind>

/** A description of one call for people, made from its validated input. */
export const CallDescription = s.fields({
  /** One line, such as `Read src/index.ts`; at most 200 characters. */
  title: s.optional(s.text),
  /** Places in files; at most 32. `line` starts at 1. */
  locations: s.optional(s.list(s.fields({ path: s.text, line: s.optional(s.count) }))),
  /** The changes it would make; at most 32 files and 65,536 characters in total. `oldText` is null for a new file. */
  diff: s.optional(s.list(s.fields({ path: s.text, oldText: s.nullable(s.text), newText: s.text }))),
  /**
   * The target of its write or send: a path, an address, an account; at most 1,024 characters. A taint policy asks once
   * per destination, and for every call of a tool that names none.
   */
  destination: s.optional(s.text),
})
export interface CallDescription extends s.Infer<typeof CallDescription> {}

/** Whether a tool's results can be trusted: data from outside may contain instructions. */
export type Trust = 'trusted' | 'untrusted'

/** Maximum characters of waiting words: half a minute of speech. */
export const WAITING_CHARS_MAX = 500

/** Words for a voice to say while a call runs. */
export const WaitingWords = s.fields({
  /** Milliseconds after the start of the call. */
  afterMs: s.count,
  /** At most 500 characters. */
  say: s.text,
})
export interface WaitingWords extends s.Infer<typeof WaitingWords> {}

/**
 * `say`: the words, or a function that makes them from the validated input. Its errors are logged, and the voice stays
 * silent; words over 500 characters are cut, and logged.
 */
export interface WaitingOptions<Input = unknown> {
  readonly afterMs: number
  readonly say: string | ((input: Input) => string)
}

/**
 * Repeats a tool that throws, within the same call: with the same `idempotencyKey` and within its `timeoutMs`. A
 * BatonError and a service's status say whether they can be retried; any other error always is.
 */
export interface ToolRetry {
  /** Total number of tries, 2 to 10. */
  readonly attempts: number
  /** Milliseconds before the second try, doubled for each further one; 500 by default. */
  readonly baseMs?: number
  /** Maximum wait, even if the error names a longer one (`retryAfterMs`); 10,000 by default. */
  readonly maxMs?: number
}

/** Bounds of a child beyond its agent's own. A child never gets more than its caller has left. */
export interface DelegateLimits {
  /** Input and output tokens of the child and all children below it. */
  readonly tokens?: number
  /** Millionths of a US dollar, for models with known prices. */
  readonly costMicros?: number
  /** Steps with calls. */
  readonly rounds?: number
  /** Calls. */
  readonly calls?: number
  /** Children below the child that may be open at once. */
  readonly sessions?: number
}

/** How calls of a delegating tool become children. */
export interface DelegateRules {
  /** The other agent; `findDelegate` returns it with its type. */
  readonly agent: () => { readonly name: string }
  readonly prompt: (input: unknown) => string
  readonly limits: DelegateLimits
  readonly inherits: { readonly policies: boolean; readonly permissions: boolean }
}

/** Maximum delay of a browser timer; a longer one fires at once. */
const TIMER_MS = 2_147_483_647
const ATTEMPTS_MAX = 10

/** @throws BatonError `invalid_tool` */
export function checkWaiting(name: string, waiting: WaitingOptions<never>): void {
  const what = `tool "${name}": waiting`
  checkFields(waiting, { what, code: 'invalid_tool', fields: new Set(['afterMs', 'say']) })
  const { afterMs, say } = waiting
  if (!Number.isSafeInteger(afterMs) || afterMs < 0 || afterMs > TIMER_MS)
    throw wrong(name, `waiting.afterMs must be whole milliseconds from 0 to ${TIMER_MS}, not ${describeValue(afterMs)}`)
  if (typeof say !== 'function' && (typeof say !== 'string' || say.trim() === ''))
    throw wrong(name, `waiting.say must be words or a function that gives them, not ${describeValue(say)}`)
  if (typeof say === 'string' && say.length > WAITING_CHARS_MAX)
    throw wrong(name, `waiting.say must have at most ${WAITING_CHARS_MAX} characters, not ${say.length}`)
}

interface Retried {
  readonly effect: 'pure' | 'idempotent' | 'once'
  readonly runsHere: boolean
}

/** @throws BatonError `invalid_tool` */
export function checkRetry(name: string, retry: ToolRetry, { effect, runsHere }: Retried): void {
  const what = `tool "${name}": retry`
  checkFields(retry, { what, code: 'invalid_tool', fields: new Set(['attempts', 'baseMs', 'maxMs']) })
  if (effect === 'once')
    throw wrong(name, 'retry is for a tool that may run twice; set effect: "pure" or "idempotent", or leave retry out')
  if (!runsHere) throw wrong(name, 'retry is for a tool with execute, but a client runs this one')
  const { attempts, baseMs = 0, maxMs = 0 } = retry
  if (!Number.isSafeInteger(attempts) || attempts < 2 || attempts > ATTEMPTS_MAX)
    throw wrong(name, `retry.attempts must be a whole number from 2 to ${ATTEMPTS_MAX}, not ${describeValue(attempts)}`)
  for (const [field, value] of Object.entries({ baseMs, maxMs }))
    if (!Number.isSafeInteger(value) || value < 0 || value > TIMER_MS)
      throw wrong(name, `retry.${field} must be whole milliseconds from 0 to ${TIMER_MS}, not ${describeValue(value)}`)
}

function wrong(name: string, why: string): BatonError {
  return new BatonError({ code: 'invalid_tool', message: `tool "${name}": ${why}` })
}
