// A turn's use of its limits, the `limit` events already emitted, and its texts so far.
import type { Usage } from '../messages.ts'
import { USAGE_COUNTS } from '../messages.ts'
import { wholeChars } from '../machine/size.ts'
import type { FactOf, TurnOutcome } from '../machine/fact.ts'
import type { Limits } from '../machine/spec.ts'
import type { State, Turn } from '../machine/state.ts'
import { TEXT_SEPARATOR } from '../machine/turn.ts'
import type { EventBody, LimitName, MessageId, TurnStop } from './session-event.ts'

/** The agent's limits that apply to a turn. */
export type TurnLimits = Pick<Limits, 'toolRounds' | 'callsPerTurn' | 'turnTokens' | 'turnCostMicros' | 'turnMs'>

export interface TurnAccountOptions {
  /** Null while its clock is paused. */
  readonly deadlineMs: number | null
  readonly turnMs: number
  readonly limits: TurnLimits | undefined
}

export type LimitEvent = Extract<EventBody, { readonly type: 'limit' }>

/** Share of a limit at which the first event is emitted. */
const WARNED_AT = 0.8

/** Codes with which a turn ends at a limit. */
const LIMIT_CODES: Readonly<Record<string, LimitName>> = {
  tool_round_limit_exceeded: 'rounds',
  turn_tokens_exceeded: 'tokens',
  turn_cost_exceeded: 'cost',
  turn_time_exceeded: 'time',
}

export class TurnAccount {
  readonly #limits: TurnLimits | undefined
  readonly #turnMs: number
  #deadlineMs: number | null
  #remainingMs: number
  #rounds = 0
  #calls = 0
  #tokens = 0
  #costMicros = 0
  #usage: Usage | undefined
  /** Why the model stopped in its newest step. */
  #finish = ''
  readonly #told = new Map<LimitName, 'near' | 'reached'>()
  #events: LimitEvent[] = []

  constructor({ deadlineMs, turnMs, limits }: TurnAccountOptions) {
    this.#limits = limits
    this.#deadlineMs = deadlineMs
    this.#turnMs = turnMs
    this.#remainingMs = turnMs
  }

  /** Continues the account of a turn that began earlier. Its limit events are not emitted again. */
  static goOn({ nowMs, attempt }: State, turn: Turn, limits: TurnLimits | undefined): TurnAccount {
    const { deadline, remainingMs } = turn
    const account = new TurnAccount({
      deadlineMs: deadline?.atMs ?? null,
      turnMs: limits?.turnMs ?? remainingMs,
      limits,
    })
    account.#remainingMs = remainingMs
    account.#rounds = turn.rounds
    account.#calls = turn.calls
    account.#tokens = turn.tokens
    account.#costMicros = turn.costMicros
    account.#warnAll()
    if (attempt?.purpose === 'step' && attempt.choice === 'none') account.endRounds()
    account.takeEvents(nowMs)
    return account
  }

  get usage(): Usage {
    return this.#usage ?? {}
  }

  /** Why a turn with this outcome ended. */
  findStop(outcome: TurnOutcome): TurnStop {
    if (outcome !== 'answered') return STOPS[outcome]
    if (this.#finish === 'max-tokens') return 'max-tokens'
    return this.#told.get('rounds') === 'reached' ? 'limit' : 'end'
  }

  finishStep({ usage, calls, finish }: FactOf<'step-finished'>): void {
    if (calls.length > 0) this.#rounds += 1
    this.#calls += calls.length
    this.#finish = finish
    this.addUsage(usage)
    if (finish === 'max-tokens') this.#reach('output', usage.outputTokens, undefined)
  }

  addUsage(usage: Usage): void {
    this.#usage = addUsage(this.#usage, usage)
    this.#tokens += (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
    this.#costMicros += usage.costMicros ?? 0
    this.#warnAll()
  }

  /** Called when the model's tool calls of this turn are used up. */
  endRounds(): void {
    this.#reach('rounds', this.#rounds, this.#limits?.toolRounds)
  }

  /** Counts usage outside of steps, and messages that leave because the window is full. */
  takeFact(fact: FactOf<'summary-started' | 'window-moved' | 'summary-finished' | 'model-used'>): void {
    if ('usage' in fact) this.addUsage(fact.usage)
    else if (fact.messages !== undefined) this.#reach('messages', undefined, fact.messages)
  }

  refuseCall(code: string): void {
    if (code === 'call_limit_exceeded') this.#reach('calls', this.#calls, this.#limits?.callsPerTurn)
  }

  setClock({ deadlineMs, remainingMs }: FactOf<'turn-clock-set'>): void {
    this.#deadlineMs = deadlineMs
    this.#remainingMs = remainingMs
  }

  finish(code: string | undefined): void {
    const limit = code === undefined ? undefined : LIMIT_CODES[code]
    if (limit) this.#reach(limit, ...this.#measure(limit))
  }

  /** Limit events that are due. */
  takeEvents(nowMs: number): readonly LimitEvent[] {
    const leftMs = this.#deadlineMs === null ? this.#remainingMs : this.#deadlineMs - nowMs
    this.#warn('time', this.#turnMs - leftMs, this.#turnMs)
    if (this.#events.length === 0) return []
    const events = this.#events
    this.#events = []
    return events
  }

  #measure(limit: LimitName): readonly [used: number | undefined, max: number | undefined] {
    switch (limit) {
      case 'rounds':
        return [this.#rounds, this.#limits?.toolRounds]
      case 'tokens':
        return [this.#tokens, this.#limits?.turnTokens]
      case 'cost':
        return [this.#costMicros, this.#limits?.turnCostMicros]
      case 'time':
        return [this.#turnMs, this.#turnMs]
      default:
        return [undefined, undefined]
    }
  }

  #warnAll(): void {
    this.#warn('rounds', this.#rounds, this.#limits?.toolRounds)
    this.#warn('calls', this.#calls, this.#limits?.callsPerTurn)
    this.#warn('tokens', this.#tokens, this.#limits?.turnTokens)
    this.#warn('cost', this.#costMicros, this.#limits?.turnCostMicros)
  }

  #warn(limit: LimitName, used: number, max: number | undefined): void {
    // A step that uses up the limit leaves nothing to warn of: the next event says that it applies.
    if (max === undefined || used >= max || used < WARNED_AT * max || this.#told.has(limit)) return
    this.#told.set(limit, 'near')
    this.#events.push({ type: 'limit', limit, used, max, reached: false })
  }

  #reach(limit: LimitName, used: number | undefined, max: number | undefined): void {
    if (this.#told.get(limit) === 'reached') return
    this.#told.set(limit, 'reached')
    this.#events.push({
      type: 'limit',
      limit,
      ...(used !== undefined && { used }),
      ...(max !== undefined && { max }),
      reached: true,
    })
  }
}

/** Adds usage. A sum of costs is unknown if one of them is. */
export function addUsage(one: Usage | undefined, other: Usage): Usage {
  if (!one) return other
  const sum: { -readonly [Name in keyof Usage]: Usage[Name] } = {}
  for (const name of USAGE_COUNTS) {
    const [before, more] = [one[name], other[name]]
    const isKnown = name === 'costMicros' ? before !== undefined && more !== undefined : (before ?? more) !== undefined
    if (isKnown) sum[name] = (before ?? 0) + (more ?? 0)
  }
  return sum
}

export interface StepText {
  readonly step: number
  readonly text: string
}

/** The answer of a turn by step, for a turn that is interrupted. */
export class TurnTexts {
  #steps: readonly StepText[]

  constructor(steps: readonly StepText[] = []) {
    this.#steps = steps
  }

  note(step: number, text: string): void {
    if (text !== '') this.#steps = [...this.#steps, { step, text }]
  }

  /** Cuts the texts of steps; an answer that was not accepted leaves none. */
  cut(fact: FactOf<'answer-cut' | 'output-refused'>): void {
    const cuts = fact.type === 'answer-cut' ? fact.cuts : [{ step: fact.step, keepChars: 0 }]
    this.#steps = this.#steps.map(({ step, text }) => {
      const keepChars = cuts.find((cut) => cut.step === step)?.keepChars ?? text.length
      return { step, text: text.slice(0, wholeChars(text, keepChars)) }
    })
  }

  join(): string {
    return this.#steps
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .join(TEXT_SEPARATOR)
  }
}

export const STOPS: Readonly<Record<TurnOutcome, TurnStop>> = {
  answered: 'end',
  tool: 'tool',
  silent: 'silent',
  interrupted: 'cancelled',
  stopped: 'stopped',
  refused: 'refused',
  failed: 'failed',
}

/** Facts of turns that ended without an answer have no text: their text is in the steps. */
export const ENDED_EARLY: ReadonlySet<TurnOutcome> = new Set<TurnOutcome>(['tool', 'interrupted', 'stopped', 'failed'])

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

/** @param size tokens of the model's window */
export function createStepEnd(
  message: MessageId,
  { step, finish, usage, interrupted }: FactOf<'step-finished'>,
  size: number | undefined,
): EventBody {
  const event: Writable<Extract<EventBody, { readonly type: 'step-finished' }>> = {
    type: 'step-finished',
    message,
    step,
    finish: interrupted ? 'interrupted' : finish,
    usage,
  }
  const used = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
  if (used > 0) event.context = size === undefined ? { used } : { used, size }
  if (interrupted) event.interrupted = interrupted
  return event
}

/** Emitted text that does not stay. */
export function takeBack(
  fact: FactOf<'answer-cut' | 'output-refused'>,
  messageOf: (step: number) => MessageId,
): readonly EventBody[] {
  if (fact.type === 'answer-cut')
    return fact.cuts.map((cut) => ({ type: 'text-cut', message: messageOf(cut.step), ...cut }))
  const of = { message: messageOf(fact.step), step: fact.step }
  return [
    { ...fact, ...of },
    { type: 'step-reset', ...of, reason: 'refused' },
  ]
}
