// Values of a tree of sessions: what a delegated call carries, what a child may spend, what it asks and what it did. A child
// is the session of a delegated call; the root is the session without a parent.
import { StoredPart } from '../messages.ts'
import { Deciders, CALL_TOOL, EffectClass } from './values.ts'
import * as s from '../shape/shape.ts'

/** Usage of a session and everything below it: absolute totals, so that a repeated report adds nothing. */
export const Spent = s.fields({
  tokens: s.amount,
  /** Cost in millionths of a US dollar, of the calls whose cost is known. */
  costMicros: s.amount,
  /** Steps with calls. */
  rounds: s.count,
  calls: s.count,
})
export interface Spent extends s.Infer<typeof Spent> {}

export const NOTHING_SPENT: Spent = { tokens: 0, costMicros: 0, rounds: 0, calls: 0 }

/** The most that a child and everything below it may spend; absent: no limit from above. */
export const Allowance = s.fields({
  tokens: s.optional(s.amount),
  costMicros: s.optional(s.amount),
  rounds: s.optional(s.count),
  calls: s.optional(s.count),
})
export interface Allowance extends s.Infer<typeof Allowance> {}

/** The allowance of a child, with its share of the tree. */
export const Grant = s.fields({
  ...Allowance.fields,
  /** Levels that may be below the child. */
  depth: s.count,
  /** Children that the child and all below it may have open at once. */
  sessions: s.count,
})
export interface Grant extends s.Infer<typeof Grant> {}

/** The host's findings about a delegated call when it checked its arguments. */
export const Delegation = s.fields({
  /** Name of the child's agent. */
  agent: s.text,
  /** The child's message. */
  task: s.list(StoredPart),
  /** Tools whose untrusted results the caller's model had read; absent: none. */
  untrusted: s.optional(s.list(s.text)),
  /** Addresses in the task that the caller's model did not compose; absent: none. */
  known: s.optional(s.list(s.text)),
  /** The child, or an agent that it may delegate to, has tools that are not pure, or tools that come and go. */
  acts: s.flag,
  /** Limits of the delegating tool. */
  limits: s.optional(s.fields({ ...Allowance.fields, sessions: s.optional(s.count) })),
})
export interface Delegation extends s.Infer<typeof Delegation> {}

/** One level between a session and a call below it. */
export const PathStep = s.fields({
  /** The delegating call. */
  callId: s.text,
  /** The agent that it calls. */
  agent: s.text,
})
export interface PathStep extends s.Infer<typeof PathStep> {}

const ASKED_CALL = {
  /** The child's call. */
  callId: s.text,
  name: s.text,
  /** JSON text. */
  arguments: s.text,
  argumentsHash: s.text,
  /** The description for people. */
  about: s.optional(s.object),
}

/** A request of a child: an approval, a question of a tool, or a call for a client. */
export const Asking = s.variant('type', {
  approval: s.fields({
    ...ASKED_CALL,
    effect: EffectClass,
    asksFor: s.optional(s.text),
    asksEach: s.optional(s.word(true)),
    deciders: s.optional(Deciders),
    /** The child's answer is approved, and not a tool. `by`: the principals that may decide. */
    answer: s.optional(s.fields({ by: s.optional(s.list(s.text)) })),
    /** Milliseconds to decide it, from when the root shows it. */
    withinMs: s.ms,
  }),
  question: s.fields({
    callId: s.text,
    n: s.count,
    message: s.text,
    schema: s.object,
    withinMs: s.ms,
  }),
  call: s.fields({
    ...ASKED_CALL,
    ...CALL_TOOL,
    /** Milliseconds that it waits while no client can run it. */
    awayMs: s.ms,
    /** The child's host runs it if no client took it in that time. */
    fallback: s.optional(s.word(true)),
  }),
})
export type Asking = s.Infer<typeof Asking>

/** A call with an effect that began below a delegated call. */
export const Deed = s.fields({ callId: s.text, name: s.text, settlement: s.text })
export interface Deed extends s.Infer<typeof Deed> {}

/** The calls with an effect that began below a delegated call, oldest first. */
export const Deeds = s.fields({
  calls: s.list(Deed),
  /** There are more. */
  more: s.optional(s.word(true)),
})
export interface Deeds extends s.Infer<typeof Deeds> {}

/** `never`: it never began, and no former owner can begin it. The others as in `TurnStop` of session events. */
export const ChildStop = s.word(
  'never',
  'end',
  'tool',
  'max-tokens',
  'silent',
  'refused',
  'failed',
  'cancelled',
  'stopped',
)
export type ChildStop = s.Infer<typeof ChildStop>
