// From facts and live frames to session events. Pure: the same records and frames give the same events, on every host.
import type { LiveFrame } from '../agent/session-api.ts'
import type { AssistantPart, SourcePart } from '../messages.ts'
import { readText } from '../messages.ts'
import type { Fact, FactOf, InputBody, TurnOutcome } from '../machine/fact.ts'
import type { CallFact } from './call-views.ts'
import { CallViews, isCallFact } from './call-views.ts'
import type {
  AnswerView,
  EventBody,
  EventCursor,
  EventError,
  MessageId,
  SessionEvent,
  TurnStop,
  UserMessageView,
} from './session-event.ts'
import type { TurnLimits } from './turn-account.ts'
import { TurnAccount } from './turn-account.ts'
import { WrittenStep } from './written-step.ts'

export interface ProjectionInit {
  /** Of the session, where it does not begin at its first record: ids of calls are made of it. */
  readonly birth?: string
  /** Where they are known, their use is told before they bite. */
  readonly limits?: TurnLimits
  /** Tokens that the window of a model has. */
  readonly contextTokens?: (model: string) => number | undefined
}

/** A record, or what a reader is shown of one. */
export interface ProjectedRecord {
  readonly pos: number
  readonly nowMs: number
  readonly wallMs?: number
  readonly facts: readonly Fact[]
}

interface TurnFold {
  readonly turn: number
  readonly exchange: number
  readonly message: MessageId
  readonly account: TurnAccount
  /** Why the model stopped in its newest step. */
  finish: string
}

export function nameAnswer(turn: number): MessageId {
  return `t${turn}`
}

export class SessionProjection {
  readonly #init: ProjectionInit
  readonly #calls = new CallViews()
  #birth: string
  #pos = 0
  #since: number | undefined
  #turn: TurnFold | undefined
  /** The answer that each step of the newest turn belongs to. */
  #steps = new Map<number, MessageId>()
  #written: WrittenStep | undefined
  /** The answer that begins: it is told behind what it answers. */
  #begins: AnswerView | undefined
  #isPaused = false
  #isStopped = false
  #activity: string = 'idle'
  /** Events of the record that is being projected. */
  #events: EventBody[] = []

  constructor(init: ProjectionInit = {}) {
    this.#init = init
    this.#birth = init.birth ?? ''
  }

  /** Where a reader that has read everything so far goes on. */
  get cursor(): EventCursor {
    const { pos, since, written } = { pos: this.#pos, since: this.#since, written: this.#written }
    return { pos, ...(since !== undefined && { since }), ...written?.cursor }
  }

  /** Takes up what a reader has read of the step that is being written, so that it is not told again. */
  resume(cursor: EventCursor): void {
    if (this.#written && cursor.attempt === this.#written.attempt) this.#written.resume(cursor)
  }

  /** The events of a record. Records come in their order; a reader may begin at `since` of its cursor. */
  takeRecord(record: ProjectedRecord): readonly SessionEvent[] {
    const { pos, nowMs, facts } = record
    const before = this.cursor
    this.#events = []
    for (const fact of facts) this.#takeFact(fact, record)
    this.#flush(nowMs)
    this.#tellActivity()
    this.#pos = pos + 1
    const last = this.#events.length - 1
    return this.#events.map((body, index) => ({
      ...body,
      cursor: index === last ? this.cursor : { ...before, pos, read: index + 1 },
    }))
  }

  /** Undefined for what was told before, or belongs to no step that is being written. */
  takeLive(frame: LiveFrame): SessionEvent | undefined {
    if (frame.type === 'tool-progress')
      return { type: 'call-progress', callId: frame.callId, note: frame.note, cursor: this.cursor }
    if (this.#written?.attempt !== frame.attempt) return undefined
    const body = this.#written.take(frame)
    return body && { ...body, cursor: this.cursor }
  }

  #tell(body: EventBody): void {
    for (const call of this.#calls.takeChanged()) this.#events.push({ type: 'call', call })
    this.#events.push(body)
  }

  #flush(nowMs: number): void {
    for (const call of this.#calls.takeChanged()) this.#events.push({ type: 'call', call })
    if (this.#turn) this.#events.push(...this.#turn.account.takeEvents(nowMs))
  }

  #tellActivity(): void {
    const activity = this.#isStopped
      ? 'stopped'
      : this.#isPaused
        ? 'paused'
        : !this.#turn
          ? 'idle'
          : this.#calls.waitForOthers()
            ? 'waiting'
            : 'running'
    if (activity === this.#activity) return
    this.#activity = activity
    this.#events.push({ type: 'session', activity })
  }

  #takeFact(fact: Fact, record: ProjectedRecord): void {
    if (isCallFact(fact)) {
      this.#takeCallFact(fact)
      return
    }
    switch (fact.type) {
      case 'session-opened':
        this.#birth = fact.birth
        this.#tell({ type: 'session', activity: 'idle', agent: fact.agent })
        break
      case 'agent-changed':
        if (fact.agent !== undefined) this.#tell({ type: 'session', agent: fact.agent })
        break
      case 'model-set':
        this.#tell({ type: 'session', model: fact.model })
        break
      case 'session-described': {
        const { title, meta } = fact
        this.#tell({ type: 'session', ...(title !== undefined && { title }), ...(meta && { meta }) })
        break
      }
      case 'plan-set':
        this.#tell({ type: 'session', plan: fact.entries })
        break
      case 'session-paused':
      case 'session-continued':
        this.#isPaused = fact.type === 'session-paused'
        break
      case 'session-stopped':
      case 'session-started':
        this.#isStopped = fact.type === 'session-stopped'
        break
      default:
        this.#takeMessageFact(fact, record)
    }
  }

  #takeMessageFact(fact: Fact, record: ProjectedRecord): void {
    switch (fact.type) {
      case 'input-accepted':
        this.#tell({ type: 'message-added', message: createUserMessage(fact.inputId, fact.body, readWallMs(record)) })
        break
      case 'inputs-entered':
        for (const { inputs } of fact.entries)
          for (const message of inputs) this.#tell({ type: 'message-entered', message, exchange: fact.exchange })
        this.#tellAnswer()
        break
      case 'history-rewound':
        this.#tell({ type: 'messages-removed', fromExchange: fact.exchange, keep: listEntered(record) })
        break
      case 'window-moved':
        this.#tell({ type: 'compacted', how: 'dropped' })
        break
      case 'summary-finished':
        this.#turn?.account.addUsage(fact.usage)
        this.#tell({ type: 'compacted', how: 'summary', text: fact.text })
        break
      case 'inputs-left-out':
        this.#tell({ type: 'content-left-out', messages: fact.inputs, reason: fact.reason })
        break
      case 'turn-started':
        this.#startTurn(fact, record)
        break
      case 'turn-clock-set':
        this.#turn?.account.setClock(fact)
        break
      case 'turn-finished':
        this.#finishTurn(fact, record)
        break
      default:
        this.#takeStepFact(fact)
    }
  }

  #takeStepFact(fact: Fact): void {
    switch (fact.type) {
      case 'model-started':
        this.#startStep(fact)
        break
      case 'attempt-progressed':
        if (this.#written?.attempt === fact.attempt) this.#tellAll(this.#written.write('text', fact.offset, fact.text))
        break
      case 'attempt-superseded':
      case 'attempt-failed': {
        const reason = fact.type === 'attempt-failed' ? 'failed' : fact.reason
        const { retryAtMs } = 'retryAtMs' in fact ? fact : {}
        this.#resetStep(reason, fact.error, retryAtMs)
        break
      }
      case 'step-finished':
        this.#finishStep(fact)
        break
      case 'step-salvaged': {
        const { step, textChars } = fact
        const message = this.#messageOf(step)
        if (this.#written) this.#tellAll(this.#written.cutTo(textChars))
        this.#written = undefined
        this.#tell({ type: 'step-finished', message, step, finish: 'end', usage: {}, interrupted: true })
        break
      }
      case 'step-closed':
        this.#tell({ type: 'step-closed', message: this.#messageOf(fact.step), step: fact.step })
        break
      case 'answer-cut':
        for (const { step, keepChars } of fact.cuts)
          this.#tell({ type: 'text-cut', message: this.#messageOf(step), step, keepChars })
        break
      default:
        break // facts of hosts and clients, and what other facts tell better
    }
  }

  #takeCallFact(fact: CallFact): void {
    if (fact.type === 'call-settled' && fact.settlement.type === 'denied')
      this.#turn?.account.refuseCall(fact.settlement.code)
    if (fact.type === 'approval-decided') {
      const { approvalId, callId, decision, principal, reason, remember } = fact
      const how = { ...(reason !== undefined && { reason }), ...(remember && { remember }) }
      this.#tell({ type: fact.type, approvalId, callId, decision, principal, ...how })
    }
    this.#calls.note(fact)
    const call = this.#calls.find(fact.callId)
    switch (fact.type) {
      case 'approval-requested':
        if (call) this.#tell({ type: fact.type, approvalId: fact.approvalId, call, expiresAtMs: fact.expiresAtMs })
        break
      case 'question-asked': {
        const { type, questionId, callId, message, schema, expiresAtMs } = fact
        this.#tell({ type, questionId, callId, message, schema, expiresAtMs })
        break
      }
      case 'question-answered': {
        const { type, questionId, callId } = fact
        const answer = 'value' in fact ? { value: fact.value } : { declined: fact.declined }
        this.#tell({ type, questionId, callId, ...answer })
        break
      }
      default:
        break
    }
  }

  #startTurn(fact: FactOf<'turn-started'>, record: ProjectedRecord): void {
    const { turn, exchange } = fact
    const message = nameAnswer(turn)
    this.#calls.clear()
    this.#steps = new Map()
    this.#since = record.pos
    this.#isPaused = false
    this.#isStopped = false
    this.#turn = {
      turn,
      exchange,
      message,
      finish: '',
      account: new TurnAccount(fact, record.nowMs, this.#init.limits),
    }
    this.#begins = { role: 'assistant', id: message, turn, exchange, atMs: readWallMs(record) }
  }

  #tellAnswer(): void {
    const message = this.#begins
    this.#begins = undefined
    if (message) this.#tell({ type: 'message-added', message })
  }

  #startStep({ attempt, step, model, choice }: FactOf<'model-started'>): void {
    const message = this.#turn?.message ?? ''
    this.#tellAnswer()
    this.#steps.set(step, message)
    this.#written = new WrittenStep({ message, step, attempt, model, callPrefix: nameCalls(this.#birth, step) })
    this.#tell({ type: 'step-started', message, step, attempt, model })
    if (choice === 'none') this.#turn?.account.endRounds()
  }

  #resetStep(reason: string, error: EventError | undefined, retryAtMs: number | undefined): void {
    const written = this.#written
    this.#written = undefined
    if (!written) return // of a summary
    this.#tell({
      type: 'step-reset',
      message: written.message,
      step: written.step,
      reason,
      ...(error && { error: { code: error.code, message: error.message } }),
      ...(retryAtMs !== undefined && { retryAtMs }),
    })
  }

  #finishStep(fact: FactOf<'step-finished'>): void {
    const { step, parts, finish, usage, interrupted } = fact
    const message = this.#messageOf(step)
    const written = this.#written
    this.#written = undefined
    if (written) {
      this.#tellAll(written.write('reasoning', 0, joinReasoning(parts)))
      this.#tellAll(written.finish(readText(parts)))
    }
    const sources = parts.filter((part): part is SourcePart => part.type === 'source')
    if (sources.length > 0) this.#tell({ type: 'sources', message, step, sources })
    this.#calls.propose(message, fact)
    if (this.#turn) {
      this.#turn.finish = finish
      this.#turn.account.finishStep(fact)
    }
    const used = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
    const size = this.#init.contextTokens?.(fact.model)
    this.#tell({
      type: 'step-finished',
      message,
      step,
      finish,
      usage,
      ...(used > 0 && { context: { used, ...(size !== undefined && { size }) } }),
      ...(interrupted && { interrupted }),
    })
  }

  #finishTurn(fact: FactOf<'turn-finished'>, { nowMs }: ProjectedRecord): void {
    const { turn, outcome, text, error } = fact
    this.#tellAnswer()
    // What an interrupt left of an answer was nothing.
    if (this.#written?.hasSaid) this.#resetStep('interrupted', undefined, undefined)
    this.#written = undefined
    const fold = this.#turn
    fold?.account.finish(error?.code)
    this.#flush(nowMs)
    this.#turn = undefined
    this.#tell({
      type: 'turn-finished',
      message: nameAnswer(turn),
      turn,
      stop: findStop(outcome, fold),
      text,
      usage: fold?.account.usage ?? {},
      ...(error && { error }),
    })
  }

  #tellAll(bodies: readonly EventBody[]): void {
    for (const body of bodies) this.#tell(body)
  }

  #messageOf(step: number): MessageId {
    return this.#steps.get(step) ?? this.#turn?.message ?? ''
  }
}

const STOPS: Readonly<Record<TurnOutcome, TurnStop>> = {
  answered: 'end',
  silent: 'silent',
  interrupted: 'cancelled',
  stopped: 'cancelled',
  refused: 'refused',
  failed: 'failed',
}

function findStop(outcome: TurnOutcome, fold: TurnFold | undefined): TurnStop {
  if (outcome !== 'answered') return STOPS[outcome]
  if (fold?.finish === 'max-tokens') return 'max-tokens'
  return fold?.account.isReached('rounds') ? 'limit' : 'end'
}

function createUserMessage(id: MessageId, body: InputBody, atMs: number): UserMessageView {
  switch (body.type) {
    case 'user':
      return { role: 'user', id, from: 'user', parts: body.parts, atMs }
    case 'transcript':
      return { role: 'user', id, from: 'transcript', speaker: body.speaker, parts: [textOf(body.text)], atMs }
    case 'urgent': {
      const { name, detail, message } = body
      const parts = message === undefined ? [] : [textOf(message)]
      return { role: 'user', id, from: 'event', name, ...(detail !== undefined && { detail }), parts, atMs }
    }
    default:
      return body satisfies never
  }
}

function textOf(text: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text }
}

/** What enters again in the same record, as when an answer is asked for once more. */
function listEntered({ facts }: ProjectedRecord): readonly MessageId[] {
  return facts.flatMap((fact) => (fact.type === 'inputs-entered' ? fact.entries.flatMap(({ inputs }) => inputs) : []))
}

function joinReasoning(parts: readonly AssistantPart[]): string {
  let text = ''
  for (const part of parts) if (part.type === 'reasoning') text += part.text
  return text
}

function readWallMs({ nowMs, wallMs }: ProjectedRecord): number {
  return wallMs ?? nowMs
}

/** As the machine names the calls of a step, so that a call has its id while the model writes it. */
function nameCalls(birth: string, step: number): string {
  return `call_${birth === '' ? '' : `${birth}_`}${step}_`
}
