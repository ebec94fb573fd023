// A session for tests: concise inputs, a manual clock, and every decision checked for purity and invariants.
import type { StoredMessage } from '../messages.ts'
import type { ModelPart } from '../agent/model.ts'
import type { ErrorCode } from '../errors.ts'
import { createInvariantChecker } from './invariants.ts'
import { applyRecord } from '../machine/apply.ts'
import type { Decision } from '../machine/decide.ts'
import { decide, openSession, makeRecord } from '../machine/decide.ts'
import type { AwaitedEffect, Effect } from '../machine/effect.ts'
import { effectKey, effectsBetween, outstanding } from '../machine/effect.ts'
import type { Fact, FactOf, FactType } from '../machine/fact.ts'
import type { History } from '../machine/history.ts'
import { createHistory } from '../machine/history.ts'
import type { CallCheck, Input, InputOf, Outcome } from '../machine/input.ts'
import type { SessionRecord } from '../machine/record.ts'
import { FORMAT_VERSION } from '../machine/record.ts'
import type { Limits, Spec, ToolSpec, WindowSpec } from '../machine/spec.ts'
import { DEFAULT_BATCH, DEFAULT_INTERRUPT_MS, DEFAULT_LIMITS, DEFAULT_RETRY, DEFAULT_WINDOW } from '../machine/spec.ts'
import type { Call, State } from '../machine/state.ts'
import { findCall, initialState } from '../machine/state.ts'

export const START_MS = 1_000_000

/** A tool for tasks, which the machine runs. */
export function taskTool(name: string): ToolSpec {
  return { ...SERVER, name, runs: 'machine' }
}

/** A tool that no child runs. */
type PlainTool = ToolSpec & { readonly runs: 'server' | 'client' }

const SERVER: Omit<PlainTool, 'name'> = {
  effect: 'pure',
  runs: 'server',
  timeoutMs: 30_000,
  parallel: true,
  onInterrupt: 'cancel',
}

export function serverTool(name: string, more: Partial<PlainTool> = {}): PlainTool {
  return { ...SERVER, name, ...more }
}

export function clientTool(name: string, more: Partial<PlainTool> = {}): PlainTool {
  return { ...SERVER, name, runs: 'client', ...more }
}

export function childTool(name: string, more: Partial<ToolSpec> = {}): ToolSpec {
  return { ...SERVER, name, effect: 'once', timeoutMs: 600_000, ...more, runs: 'child' }
}

export const TOOLS: readonly ToolSpec[] = [
  serverTool('read'),
  serverTool('put', { effect: 'idempotent' }),
  serverTool('pay', { effect: 'once' }),
  clientTool('look'),
  clientTool('spawn', { effect: 'once' }),
]

export interface SpecChange {
  /** Not part of the spec: the prefix of the log's call ids. */
  readonly birth?: string
  /** Not part of the spec: the session's owner; none by default. */
  readonly principal?: string
  readonly hash?: string
  readonly models?: readonly string[]
  readonly tools?: readonly ToolSpec[]
  readonly limits?: Partial<Limits>
  readonly window?: Partial<WindowSpec>
  readonly retry?: Partial<Spec['retry']>
  readonly emptyAnswer?: Spec['emptyAnswer']
  readonly interruptMs?: number
  readonly firstTool?: string
  readonly order?: Spec['order']
  readonly stopWhen?: Spec['stopWhen']
  readonly checksAnswer?: true
}

/** Limits that a test reaches; tests override them explicitly. */
const SMALL = {
  limits: { toolRounds: 8, callsPerTurn: 64 },
  window: { exchanges: 20, summarise: false },
} satisfies { readonly limits: Partial<Limits>; readonly window: Partial<WindowSpec> }

export function testSpec(change: SpecChange = {}): Spec {
  return {
    agent: 'tested',
    hash: change.hash ?? 'v1',
    models: change.models ?? ['one'],
    tools: change.tools ?? TOOLS,
    limits: { ...DEFAULT_LIMITS, ...SMALL.limits, ...change.limits },
    window: { ...DEFAULT_WINDOW, ...SMALL.window, ...change.window },
    retry: { ...DEFAULT_RETRY, ...change.retry },
    batch: DEFAULT_BATCH,
    emptyAnswer: change.emptyAnswer ?? 'retry',
    interruptMs: change.interruptMs ?? DEFAULT_INTERRUPT_MS,
    ...(change.firstTool !== undefined && { firstTool: change.firstTool }),
    ...(change.order && { order: change.order }),
    ...(change.stopWhen && { stopWhen: change.stopWhen }),
    ...(change.checksAnswer && { checksAnswer: true }),
  }
}

/** A call by the model: its tool, its arguments (`{}`), whether a person must approve it. */
export interface Asked {
  readonly name: string
  readonly arguments?: string
  readonly approval?: boolean
  readonly asksFor?: string
  readonly asksEach?: boolean
  readonly invalid?: string
  readonly denied?: string
  readonly delegate?: CallCheck['delegate']
  readonly background?: boolean
  readonly operation?: CallCheck['operation']
}

export interface Saying {
  readonly text?: string
  readonly calls?: readonly (string | Asked)[]
  readonly more?: readonly ModelPart[]
  readonly finish?: InputOf<'model-finished'>['finish']
  readonly usage?: InputOf<'model-finished'>['usage']
}

export class TestSession {
  spec: Spec
  state: State
  nowMs = START_MS
  history: History = createHistory({ keepAll: true })
  readonly records: SessionRecord[] = []
  facts: readonly Fact[] = []
  effects: readonly Effect[] = []
  private checker = createInvariantChecker()
  private serial = 0

  constructor(change: SpecChange = {}) {
    this.spec = testSpec(change)
    const opening = openSession({
      session: 'tested',
      spec: this.spec,
      nowMs: START_MS,
      epoch: 1,
      ...(change.birth !== undefined && { birth: change.birth }),
      ...(change.principal !== undefined && { principal: change.principal }),
    })
    this.state = freeze(applyRecord(initialState('tested'), opening))
    this.keep(opening)
  }

  private keep(record: SessionRecord): void {
    this.records.push(record)
    this.history.fold(record)
  }

  /** Decides twice: the result must be the same, and the state must not change. */
  decide(input: Input): Decision {
    const decision = decide(this.spec, this.state, input, this.nowMs)
    const again = decide(this.spec, this.state, input, this.nowMs)
    if (JSON.stringify(decision) !== JSON.stringify(again)) throw new Error(`${input.type} is decided in two ways`)
    return decision
  }

  /** @throws Error if the machine refuses the input */
  send(input: Input): this {
    const decision = this.decide(input)
    if (decision.type === 'refused') throw new Error(`refused: ${decision.refusal.code} ${decision.refusal.message}`)
    this.facts = decision.facts
    this.effects = decision.effects
    if (decision.facts.length === 0) return this
    const record = makeRecord(input, decision)
    const before = this.state
    this.keep(record)
    this.state = freeze(decision.state)
    const { spec, history } = this
    this.checker.observe({
      spec,
      before,
      after: decision.state,
      input,
      record,
      effects: decision.effects,
      isDecided: true,
      history,
    })
    return this
  }

  /** Folds facts as an older Baton decided them. */
  replay(...facts: readonly Fact[]): this {
    const { state: before, spec, history, nowMs } = this
    const { pos, epoch } = before
    const record = { version: FORMAT_VERSION, pos: pos + 1, nowMs, epoch, input: { type: 'approval' }, facts } as const
    this.state = freeze(applyRecord(before, record))
    this.keep(record)
    this.facts = facts
    this.effects = effectsBetween(before, this.state, undefined)
    this.checker.observe({ spec, before, after: this.state, input: null, record, effects: this.effects, history })
    return this
  }

  /** The code of an input's refusal; undefined if it is accepted. */
  refusal(input: Input): ErrorCode | undefined {
    const decision = this.decide(input)
    return decision.type === 'refused' ? decision.refusal.code : undefined
  }

  after(ms: number): this {
    this.nowMs += ms
    return this
  }

  user(text: string, more: Partial<InputOf<'user-input'>> = {}): this {
    this.serial += 1
    return this.send({ type: 'user-input', inputId: `u${this.serial}`, parts: [{ type: 'text', text }], ...more })
  }

  says(said: string | Saying): this {
    return this.send(this.answer(said))
  }

  /** The answer of the running attempt. */
  answer(said: string | Saying, attempt = this.state.attempt?.attempt ?? 0): InputOf<'model-finished'> {
    const { text, calls = [], more = [], finish, usage = {} } = typeof said === 'string' ? { text: said } : said
    const asked = calls.map((call): Asked => (typeof call === 'string' ? { name: call } : call))
    const parts: ModelPart[] = [
      ...more,
      ...(text === undefined ? [] : [{ type: 'text', text } as const]),
      ...asked.map((call) => ({ type: 'call', name: call.name, arguments: call.arguments ?? '{}' }) as const),
    ]
    const checks = asked.map((call): CallCheck => ({
      argumentsHash: `hash of ${call.arguments ?? '{}'}`,
      ...(call.invalid !== undefined && { invalid: call.invalid }),
      ...(call.approval && { asks: true }),
      ...(call.asksFor !== undefined && { asks: true, asksFor: call.asksFor }),
      ...(call.asksEach && { asksEach: true }),
      ...(call.denied !== undefined && { denied: call.denied }),
      ...(call.delegate && { delegate: call.delegate }),
      ...(call.background && { background: true }),
      ...(call.operation && { operation: call.operation }),
    }))
    const textsBefore = this.history.turnTexts().map(({ text }) => text)
    const textBefore = textsBefore.join('\n\n')
    return {
      type: 'model-finished',
      attempt,
      model: 'one-2026',
      parts,
      checks,
      finish: finish ?? (calls.length > 0 ? 'tool-calls' : 'end'),
      usage,
      textBefore,
    }
  }

  modelFails(code: ErrorCode, more: { retryable?: boolean; retryAfterMs?: number; contextTokens?: number } = {}): this {
    const error = { code, message: `it failed: ${code}`, retryable: true, ...more }
    return this.send({ type: 'model-failed', attempt: this.state.attempt?.attempt ?? 0, error })
  }

  progress(text: string): this {
    const { attempt = 0, progressChars: offset = 0 } = this.state.attempt ?? {}
    return this.send({ type: 'attempt-progress', attempt, offset, text })
  }

  call(callId: string): Call {
    const call = findCall(this.state, callId)
    if (!call) throw new Error(`${callId} is not open`)
    return call
  }

  returns(callId: string, result: string | Outcome = 'done'): this {
    return this.send({ type: 'tool-finished', callId, attempt: this.call(callId).attempt, outcome: toOutcome(result) })
  }

  clientReturns(callId: string, result: string | Outcome = 'done', connection = 'phone'): this {
    return this.send({ type: 'tool-result', callId, connection, outcome: toOutcome(result) })
  }

  attach(connection = 'phone', more: Partial<InputOf<'client-attached'>> = {}): this {
    const can = { sequential: false, claims: true, reportsPlayback: true, asks: true }
    return this.send({ type: 'client-attached', connection, principal: 'ann', ...can, ...more })
  }

  detach(connection = 'phone'): this {
    return this.send({ type: 'client-detached', connection })
  }

  /** The client provides these tools, replacing its earlier ones. */
  brings(names: readonly string[], connection = 'phone', more: Partial<PlainTool> = {}): this {
    const tools = names.map((name) => ({ ...clientTool(name, more), description: '', inputSchema: {} }))
    return this.send({ type: 'client-tools', connection, tools })
  }

  claim(callId: string): this {
    const { connection = '', number: offer = 0 } = this.call(callId).offer ?? {}
    return this.send({ type: 'call-claimed', callId, connection, offer })
  }

  approval(
    callId: string,
    decision: 'approve' | 'deny' | 'edit',
    more: Partial<InputOf<'approval'>> = {},
  ): InputOf<'approval'> {
    const approvalId = this.call(callId).approval?.id ?? ''
    return { type: 'approval', approvalId, principal: 'ann', decision, ...more }
  }

  interrupt(heard: InputOf<'interrupt'>['heard'] = { type: 'all' }): this {
    return this.send({ type: 'interrupt', reason: 'barge_in', heard })
  }

  timers(): readonly string[] {
    return outstanding(this.state).flatMap((effect) => (effect.type === 'set-timer' ? [effect.timer] : []))
  }

  timer(name: string): Extract<AwaitedEffect, { type: 'set-timer' }> {
    const found = outstanding(this.state).find((effect) => effect.type === 'set-timer' && effect.timer === name)
    if (found?.type !== 'set-timer') throw new Error(`no timer ${name} runs, only ${this.timers().join(', ')}`)
    return found
  }

  /** Waits for a timer and lets it fire. */
  fire(name: string): this {
    const { atMs, generation } = this.timer(name)
    this.nowMs = Math.max(this.nowMs, atMs)
    return this.send({ type: 'timer-fired', timer: name, generation })
  }

  /** The process dies, is down for `downMs`, and restarts with the log. */
  restart(downMs = 0): this {
    this.nowMs += downMs
    this.history = createHistory({ keepAll: true })
    let state = initialState('tested')
    for (const record of this.records) {
      state = applyRecord(state, record)
      this.history.fold(record)
    }
    this.state = freeze({ ...state, epoch: state.epoch + 1 })
    return this.send({ type: 'host-restarted', downMs })
  }

  owes(): readonly string[] {
    return outstanding(this.state).map(effectKey)
  }

  fact<Type extends FactType>(type: Type): FactOf<Type> {
    const found = this.facts.find((fact) => fact.type === type)
    if (!found) throw new Error(`no ${type}, but ${this.factTypes().join(', ')}`)
    return found as FactOf<Type> // found by its type
  }

  factTypes(): readonly FactType[] {
    return this.facts.map((fact) => fact.type)
  }

  /** All facts of a type since the session was opened. */
  logged<Type extends FactType>(type: Type): readonly FactOf<Type>[] {
    return this.records.flatMap((record) => record.facts.filter((fact): fact is FactOf<Type> => fact.type === type))
  }

  /** The running model call's request, one line per part. */
  told(): readonly string[] {
    const { fromEntry, toEntry } = this.state.attempt ?? { fromEntry: 0, toEntry: Infinity }
    return this.history.messages(fromEntry, toEntry).flatMap(lines)
  }

  /** The whole history, one line per part. */
  lines(): readonly string[] {
    return this.history.messages(0, Infinity).flatMap(lines)
  }
}

export function toOutcome(result: string | Outcome): Outcome {
  return typeof result === 'string' ? { type: 'ok', content: [{ type: 'text', text: result }] } : result
}

function lines(message: StoredMessage): readonly string[] {
  return message.parts.map((part) => {
    switch (part.type) {
      case 'text':
        return `${message.role}: ${part.text}`
      case 'call':
        return `${part.callId} ${part.name} ${part.arguments}`
      case 'result': {
        const told = part.content.map((content) => (content.type === 'text' ? content.text : content.type)).join(' | ')
        return `${part.callId} = ${told}`
      }
      default:
        return `${message.role}: [${part.type}]`
    }
  })
}

/** Makes a decision that changes its state throw. */
function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}
