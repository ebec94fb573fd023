// Projects facts and live frames to session events. Pure: the same records and frames give the same events on every
// host.
import type { LiveFrame } from '../agent/front-session.ts'
import type { SourcePart } from '../messages.ts'
import { readText } from '../messages.ts'
import type { CallFact, Fact, FactOf, InputBody } from '../machine/fact.ts'
import { isCallFact } from '../machine/fact.ts'
import { findSpanStart } from '../machine/call-spans.ts'
import type { History } from '../machine/history.ts'
import type { RelayedRequest } from '../machine/relayed-entries.ts'
import type { State } from '../machine/state.ts'
import { findRelayed } from '../machine/state.ts'
import type { KnownCall } from './call-views.ts'
import type { ChildFact } from './child-views.ts'
import { readQuestion } from './call-results.ts'
import { CallViews, readKnownCalls } from './call-views.ts'
import type {
  AnswerView,
  EventBody,
  EventCursor,
  EventError,
  EventPlace,
  MessageId,
  SessionActivity,
  SessionEvent,
  StepResetReason,
  UserMessageView,
} from './session-event.ts'
import { TurnAccount, TurnTexts, ENDED_EARLY, STOPS, createStepEnd, takeBack } from './turn-account.ts'
import type { StepText, TurnLimits } from './turn-account.ts'
import { WrittenStep, joinReasoning, nameCalls } from './written-step.ts'

/** The start of a reader that does not read the first record. */
export interface ProjectionStart {
  readonly state: State
  /** Position of the record that began the newest turn. */
  readonly since: number | undefined
  readonly calls: readonly KnownCall[]
  /** The logged part of the running step's text. */
  readonly progress: string
  /** Texts of the running turn's finished steps. */
  readonly texts: readonly StepText[]
  /** Answers of the newest turn, by step. */
  readonly steps: ReadonlyMap<number, MessageId>
  /** Requests of sessions below that are not closed. */
  readonly relayed: readonly RelayedRequest[]
}

/** A record, or the part that a reader sees. */
export interface ProjectedRecord {
  readonly pos: number
  readonly nowMs: number
  readonly wallMs?: number
  readonly facts: readonly Fact[]
}

export interface ProjectionOptions {
  /** Needed if the session is not read from its first record: call ids derive from it. */
  readonly birth?: string
  /** The start, instead of the first record. */
  readonly start?: ProjectionStart
  /** The first record to read if it began a turn: cursors of its events point back to it. */
  readonly since?: number | undefined
  /** Limits of a turn that begins now. With them, `limit` events warn before a limit applies. */
  readonly limits?: () => TurnLimits
  /** Tokens of a model's window. */
  readonly contextTokens?: (model: string) => number | undefined
}

interface TurnFold {
  readonly message: MessageId
  readonly account: TurnAccount
  readonly texts: TurnTexts
}

export class SessionProjection {
  /** Without the start, which would keep its state and texts alive. */
  readonly #init: Omit<ProjectionOptions, 'start'>
  readonly #calls = new CallViews()
  #birth: string
  #pos = 0
  #since: number | undefined
  #turn: TurnFold | undefined
  /** Answers by step of the newest turn. */
  #steps: Map<number, MessageId> | undefined
  #written: WrittenStep | undefined
  /** Open requests of sessions below, by id; created with the first one. */
  #requests: Map<string, RelayedRequest> | undefined
  /** The answer about to begin: emitted after the messages it answers. */
  #begins: AnswerView | undefined
  /** Why the session is at rest, regardless of new input. */
  #rest: 'paused' | 'stopped' | undefined
  #activity: SessionActivity = 'idle'
  #isWhole = true
  /** Whether children of calls that it has not read may still change: those of finished steps. */
  #lacksCalls = false
  /** Events of the record being projected. */
  #events: EventBody[] = []

  constructor({ start, ...init }: ProjectionOptions = {}) {
    this.#init = init
    this.#birth = init.birth ?? start?.state.birth ?? ''
    this.#since = init.since
    this.#pos = init.since ?? 0
    if (start) this.#startAt(start)
  }

  /** The cursor of a reader that has read everything so far. */
  get cursor(): EventCursor {
    const since = this.#since
    if (this.#written) return this.#written.placeCursor(this.#pos, since)
    return since === undefined ? { pos: this.#pos } : { pos: this.#pos, since }
  }

  /** Position of the next record. */
  get pos(): number {
    return this.#pos
  }

  /** Restores what a reader has read of the running step, so that it is not emitted again. */
  resume(cursor: EventCursor): void {
    if (this.#written && cursor.attempt === this.#written.attempt) this.#written.resume(cursor)
  }

  /** Projects a record. Pass records in order; a reader may begin at `since` of its cursor. */
  takeRecord(record: ProjectedRecord): RecordEvents {
    const { pos, nowMs, facts } = record
    const before = this.cursor
    const starts = [0]
    for (const fact of facts) {
      this.#takeFact(fact, record)
      starts.push(this.#events.length)
    }
    this.#flush(nowMs)
    this.#tellActivity()
    this.#pos = pos + 1
    const bodies = this.#events
    this.#events = []
    return new RecordEvents({ record, bodies, starts, before, after: this.cursor })
  }

  /** The emitted part of the step being written, for a reader that joins. */
  get written(): Pick<WrittenStep, 'attempt' | 'text' | 'frames'> | undefined {
    return this.#written
  }

  /** Whether it has read the newest turn from its start, so that it knows the turn's usage, limits and calls. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Returns undefined for repeated pieces, and for pieces outside a running step. */
  takeLive(frame: LiveFrame): SessionEvent | undefined {
    if (frame.type === 'tool-progress')
      return { type: 'call-progress', callId: frame.callId, note: frame.note, cursor: this.cursor }
    if (this.#written?.attempt !== frame.attempt) return undefined
    const body = this.#written.take(frame)
    return body && placeEvent(body, this.cursor)
  }

  #startAt({ state, since, calls, steps, progress, texts, relayed }: ProjectionStart): void {
    const { pos, phase, turn, attempt } = state
    this.#pos = pos + 1
    this.#since = since
    this.#rest = phase === 'paused' || phase === 'stopped' ? phase : undefined
    this.#steps = new Map(steps)
    this.#calls.start(calls)
    if (relayed.length > 0) this.#requests = new Map(relayed.map((request) => [request.id, request]))
    const known = new Set(calls.map(({ view }) => view.callId))
    this.#lacksCalls = state.children.some(({ callId }) => !known.has(callId))
    this.#isWhole = !turn && !this.#lacksCalls
    if (turn) {
      const account = TurnAccount.goOn(state, turn, this.#init.limits?.())
      this.#turn = { message: nameAnswer(turn.turn), account, texts: new TurnTexts(texts) }
    }
    if (turn && attempt?.purpose === 'step') this.#write(attempt.attempt, attempt.step, progress)
    this.#activity = this.#findActivity()
  }

  #tell(body: EventBody): void {
    if ('message' in body && body.message === '') return
    if (this.#calls.hasChanged) this.#tellCalls()
    this.#events.push(body)
  }

  #tellCalls(): void {
    for (const call of this.#calls.takeChanged()) this.#events.push({ type: 'call', call })
  }

  #tellAll(bodies: readonly EventBody[]): void {
    for (const body of bodies) this.#tell(body)
  }

  #flush(nowMs: number): void {
    if (this.#calls.hasChanged) this.#tellCalls()
    if (this.#turn) for (const event of this.#turn.account.takeEvents(nowMs)) this.#events.push(event)
  }

  get activity(): SessionActivity {
    return this.#activity
  }

  #findActivity(): SessionActivity {
    if (this.#rest || !this.#turn) return this.#rest ?? 'idle'
    return this.#calls.waitForOthers() ? 'waiting' : 'running'
  }

  #tellActivity(): void {
    const activity = this.#findActivity()
    if (activity === this.#activity) return
    this.#activity = activity
    this.#events.push({ type: 'session', activity })
  }

  #takeFact(fact: Fact, record: ProjectedRecord): void {
    switch (fact.type) {
      case 'model-started':
        this.#startStep(fact)
        break
      case 'attempt-progressed':
        if (this.#written?.attempt === fact.attempt) this.#tellAll(this.#written.noteProgress(fact.offset, fact.text))
        break
      case 'attempt-superseded':
      case 'attempt-failed': {
        const reason = fact.type === 'attempt-failed' ? 'gave-up' : fact.reason
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
        const said = this.#written?.salvage(textChars)
        if (said) this.#tellAll(said.bodies)
        this.#turn?.texts.note(step, said?.text ?? '')
        this.#written = undefined
        this.#tell({ type: 'step-finished', message, step, finish: 'interrupted', usage: {}, interrupted: true })
        break
      }
      case 'step-closed':
        this.#tell({ type: 'step-closed', message: this.#messageOf(fact.step), step: fact.step })
        break
      case 'output-refused':
      case 'answer-cut':
        this.#tellAll(takeBack(fact, (step) => this.#messageOf(step)))
        this.#turn?.texts.cut(fact)
        break
      default:
        if (isCallFact(fact)) this.#takeCallFact(fact, record.nowMs)
        else this.#takeMessageFact(fact, record)
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
        this.#tell({ type: 'messages-removed', fromExchange: fact.exchange, ...listKept(fact, record) })
        break
      case 'summary-started':
      case 'window-moved':
      case 'summary-finished':
      case 'model-used':
        this.#turn?.account.takeFact(fact)
        if (fact.type === 'window-moved') this.#tell({ type: 'compacted', how: 'dropped' })
        if (fact.type === 'summary-finished') this.#tell({ type: 'compacted', how: 'summary', text: fact.text })
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
        this.#takeSessionFact(fact, record)
    }
  }

  #takeSessionFact(fact: Fact, record: ProjectedRecord): void {
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
      case 'settings-set':
        this.#tell({ type: 'session', settings: fact.settings ?? {} })
        break
      case 'session-described': {
        const { title, meta } = fact
        this.#tell({ type: 'session', ...(title !== undefined && { title }), ...(meta && { meta }) })
        break
      }
      case 'plan-set':
        this.#tell({ type: 'session', plan: fact.entries })
        break
      case 'input-withdrawn':
        this.#tell({ type: 'message-withdrawn', message: fact.inputId })
        break
      case 'wakes-held':
        this.#tell({ type: 'limit', limit: 'wakes', used: fact.used, max: fact.max, reached: true })
        break
      case 'session-paused':
      case 'session-stopped':
        this.#rest = fact.type === 'session-paused' ? 'paused' : 'stopped'
        break
      case 'session-continued':
      case 'session-started':
        this.#rest = undefined
        break
      case 'child-begun':
      case 'child-reported':
      case 'child-ending':
      case 'child-lost':
      case 'child-closed':
      case 'request-relayed':
      case 'request-withdrawn':
        this.#takeTreeFact(fact, record.nowMs)
        break
      default:
      // Facts of hosts and clients, and facts that others report better, are left out.
    }
  }

  #takeCallFact(fact: CallFact, nowMs: number): void {
    if (fact.type === 'call-settled' && fact.settlement.type === 'denied')
      this.#turn?.account.refuseCall(fact.settlement.code)
    if (fact.type === 'approval-decided') {
      const { approvalId, callId, decision, principal, reason, note, remember } = fact
      const noted = { ...(reason !== undefined && { reason }), ...(note !== undefined && { note }) }
      const how = { ...noted, ...(remember && { remember }) }
      const path = this.#pathOf(approvalId)
      this.#tell({ type: fact.type, approvalId, callId, decision, principal: { id: principal }, ...how, ...path })
    }
    if (fact.type === 'approval-given') {
      const { approvalId, callId, principal, note, left } = fact
      const noted = note !== undefined && { note }
      const path = this.#pathOf(approvalId)
      this.#tell({ type: fact.type, approvalId, callId, principal: { id: principal }, ...noted, left, ...path })
    }
    this.#calls.note(fact, nowMs)
    const call = this.#calls.find(fact.callId)
    if (fact.type === 'approval-requested' && call)
      this.#tell({ type: fact.type, approvalId: fact.approvalId, call, expiresAtMs: fact.expiresAtMs })
    if (fact.type === 'question-asked' || fact.type === 'question-answered')
      this.#tell({ ...readQuestion(fact), ...this.#pathOf(fact.questionId) })
  }

  /** Facts about sessions below. */
  #takeTreeFact(fact: ChildFact | FactOf<'request-relayed' | 'request-withdrawn'>, nowMs: number): void {
    if (fact.type === 'request-withdrawn') {
      const request = this.#requests?.get(fact.id)
      if (!request) return
      const { id, reason } = fact
      const { callId } = request.asking
      this.#requests?.delete(id)
      this.#calls.withdraw(callId, reason)
      this.#tell({ type: fact.type, requestId: id, callId, reason, path: request.path })
    } else if (fact.type === 'request-relayed') {
      const { id, callId: via, path, asking } = fact
      const withinMs = asking.type === 'call' ? 0 : asking.withinMs
      const { expiresAtMs = nowMs + withinMs } = fact
      const request = { id, via, path, asking, ...(asking.type !== 'call' && { expiresAtMs }) }
      this.#requests = (this.#requests ?? new Map<string, RelayedRequest>()).set(id, request)
      const call = this.#calls.relay(request)
      if (asking.type === 'question') {
        const { callId, message, schema } = asking
        this.#tell({ type: 'question-asked', questionId: id, callId, message, schema, expiresAtMs, path })
      } else if (asking.type === 'approval' && call)
        this.#tell({ type: 'approval-requested', approvalId: id, call, expiresAtMs })
    } else this.#calls.noteChild(fact)
  }

  #pathOf(id: string): { readonly path?: RelayedRequest['path'] } {
    const path = this.#requests?.get(id)?.path
    return path ? { path } : {}
  }

  #startTurn(fact: FactOf<'turn-started'>, record: ProjectedRecord): void {
    const { turn, exchange, deadlineMs } = fact
    const message = nameAnswer(turn)
    // The record that wakes the session also closes the child of the task.
    if (this.#calls.hasChanged) this.#tellCalls()
    this.#calls.clear()
    this.#steps = undefined
    this.#since = record.pos
    this.#isWhole = true
    this.#lacksCalls = false
    this.#rest = undefined
    const limits = this.#init.limits?.()
    const account = new TurnAccount({ deadlineMs, turnMs: deadlineMs - record.nowMs, limits })
    this.#turn = { message, account, texts: new TurnTexts() }
    this.#begins = { role: 'assistant', id: message, turn, exchange, atMs: readWallMs(record) }
  }

  #tellAnswer(): void {
    const message = this.#begins
    this.#begins = undefined
    if (message) this.#tell({ type: 'message-added', message })
  }

  #startStep({ attempt, step, model, choice }: FactOf<'model-started'>): void {
    this.#tellAnswer()
    const message = this.#write(attempt, step)
    this.#tell({ type: 'step-started', message, step, attempt, model })
    if (choice === 'none') this.#turn?.account.endRounds()
  }

  #write(attempt: number, step: number, progress = ''): MessageId {
    const message = this.#turn?.message ?? ''
    this.#steps = (this.#steps ?? new Map<number, MessageId>()).set(step, message)
    this.#written = new WrittenStep({ message, step, attempt, callPrefix: nameCalls(this.#birth, step), progress })
    return message
  }

  #resetStep(reason: StepResetReason, error: EventError | undefined, retryAtMs: number | undefined): void {
    const written = this.#written
    this.#written = undefined
    if (!written) return // a summary has none
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
    const { step, parts } = fact
    const message = this.#messageOf(step)
    const text = readText(parts)
    const written = this.#written
    this.#written = undefined
    if (written) {
      this.#tellAll(written.write('reasoning', 0, joinReasoning(parts)))
      this.#tellAll(written.finish(text))
    }
    const sources = parts.filter((part): part is SourcePart => part.type === 'source')
    if (sources.length > 0) this.#tell({ type: 'sources', message, step, sources })
    this.#calls.propose(message, fact)
    if (this.#turn) {
      this.#turn.account.finishStep(fact)
      this.#turn.texts.note(step, text)
    }
    this.#tell(createStepEnd(message, fact, this.#init.contextTokens?.(fact.model)))
  }

  #finishTurn(fact: FactOf<'turn-finished'>, { nowMs }: ProjectedRecord): void {
    const { turn, outcome, text, error } = fact
    this.#tellAnswer()
    // An interrupt dropped the whole step, even if a reader has seen some of it.
    this.#resetStep('interrupted', undefined, undefined)
    const fold = this.#turn
    fold?.account.finish(error?.code)
    this.#flush(nowMs)
    this.#turn = undefined
    this.#isWhole = !this.#lacksCalls
    this.#tell({
      type: 'turn-finished',
      message: nameAnswer(turn),
      turn,
      stop: fold?.account.findStop(outcome) ?? STOPS[outcome],
      text: ENDED_EARLY.has(outcome) ? (fold?.texts.join() ?? '') : text,
      usage: fold?.account.usage ?? {},
      ...(error && { error }),
    })
  }

  /** Empty for a step of a turn before the reader's first one. */
  #messageOf(step: number): MessageId {
    return this.#steps?.get(step) ?? this.#turn?.message ?? ''
  }
}

export function nameAnswer(turn: number): MessageId {
  return `t${turn}`
}

/**
 * Position of the record from which a reader at a cursor reads the log. Calls that run in the background may have begun before
 * the cursor's turn: their turns are read too.
 */
export function readSince({ pos, since }: EventCursor, history: History): number | undefined {
  if (since === undefined) return undefined
  return Math.min(since, findSpanStart(history.spans(), pos) ?? since)
}

export function readStart(state: State, history: History): ProjectionStart {
  const { step, turn, lastTurn, counters } = state
  const steps = new Map<number, MessageId>()
  for (const one of [lastTurn, turn])
    for (const { step: of } of one?.steps ?? []) steps.set(of, nameAnswer(one?.turn ?? 0))
  if (step && !steps.has(step.step)) steps.set(step.step, nameAnswer(counters.turn))
  const message = step ? (steps.get(step.step) ?? '') : ''
  // The state of a level between remembers calls that it has withdrawn.
  const relayed = history.relayed().filter(({ id }) => findRelayed(state, id)?.isLeaving !== true)
  return {
    state,
    since: history.lastTurn()?.pos,
    progress: history.progressText(),
    texts: history.turnTexts(),
    calls: readKnownCalls(state, { message, step: step?.step ?? 0, history, relayed }),
    steps,
    relayed,
  }
}

function createUserMessage(id: MessageId, body: InputBody, atMs: number): UserMessageView {
  switch (body.type) {
    case 'user':
      return { role: 'user', id, from: 'user', parts: body.parts, atMs }
    case 'transcript':
      return { role: 'user', id, from: 'transcript', speaker: body.speaker, parts: [textOf(body.text)], atMs }
    case 'urgent': {
      const { name, label, detail, message } = body
      const parts = message === undefined ? [] : [textOf(message)]
      const given = { name, ...(label !== undefined && { label }), ...(detail !== undefined && { detail }) }
      return { role: 'user', id, from: 'event', ...given, parts, atMs }
    }
    case 'task': {
      const { callId, name, outcome, text } = body
      return {
        role: 'user',
        id,
        from: 'event',
        label: 'Task',
        name,
        detail: { callId, outcome },
        parts: [textOf(text)],
        atMs,
      }
    }
    default:
      return body satisfies never
  }
}

function textOf(text: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text }
}

/** The rest of the exchange after a rewind, and the inputs that enter again in the same record. */
function listKept(
  { exchange, index }: FactOf<'history-rewound'>,
  { facts }: ProjectedRecord,
): { readonly keep: readonly MessageId[]; readonly keepSteps: readonly number[] } {
  const stays = index.filter((entry) => entry.exchange === exchange)
  const again = facts.flatMap((fact) => (fact.type === 'inputs-entered' ? fact.entries : []))
  return {
    keep: [...stays, ...again].flatMap(({ inputs = [] }) => inputs),
    keepSteps: stays.flatMap(({ step }) => step ?? []),
  }
}

function readWallMs({ nowMs, wallMs }: ProjectedRecord): number {
  return wallMs ?? nowMs
}

/** Completes a body that was created for this event only. */
function placeEvent(body: EventBody, cursor: EventCursor): SessionEvent {
  const event = body as EventBody & { cursor?: EventCursor }
  event.cursor = cursor
  return event as SessionEvent // it has its cursor now
}

export interface RecordEventsOptions {
  readonly record: ProjectedRecord
  readonly bodies: readonly EventBody[]
  /** For each fact, the index of its first body; then the index of the first body that belongs to no fact. */
  readonly starts: readonly number[]
  /** Cursors of a reader before the record and behind it. */
  readonly before: EventCursor
  readonly after: EventCursor
}

/** The events of one record, shared by all readers of a kind. */
export class RecordEvents {
  /** Cursor behind the record. */
  readonly after: EventCursor
  readonly #init: RecordEventsOptions
  #plain: readonly SessionEvent[] | undefined
  #delivery: readonly SessionEvent[] | undefined

  constructor(init: RecordEventsOptions) {
    this.#init = init
    this.after = init.after
  }

  /** The events, created on first use. With `delivery`, as a front that writes to devices gets them. */
  read(delivery = false): readonly SessionEvent[] {
    const { record, bodies, starts } = this.#init
    if (delivery) return (this.#delivery ??= this.#place(addDelivery(record, bodies, starts)))
    return (this.#plain ??= this.#place(bodies))
  }

  #place(bodies: readonly EventBody[]): readonly SessionEvent[] {
    const { before, after, record } = this.#init
    const events: SessionEvent[] = []
    for (const body of bodies) {
      const read = events.length + 1
      events.push(placeEvent(body, read === bodies.length ? after : { ...before, pos: record.pos, read }))
    }
    return events
  }
}

/**
 * The events of a record with delivery events and places. `starts` has the index of each fact's first event, then that
 * of the first event that belongs to no fact.
 */
function addDelivery(
  { pos, nowMs, wallMs, facts }: ProjectedRecord,
  bodies: readonly EventBody[],
  starts: readonly number[],
): readonly EventBody[] {
  const placed: (EventBody & { readonly at?: EventPlace })[] = []
  for (const [index, fact] of facts.entries()) {
    const at: EventPlace = { pos, fact: index, nowMs, ...(wallMs !== undefined && { wallMs }) }
    const more = readDelivery(fact)
    if (more) placed.push({ ...more, at })
    for (const body of bodies.slice(starts[index], starts[index + 1])) placed.push({ ...body, at })
  }
  return [...placed, ...bodies.slice(starts.at(-1)).map((body) => ({ ...body }))]
}

/**
 * Delivery events, for fronts that write to devices: which client a call was offered to, who spoke, and who
 * interrupted.
 */
function readDelivery(fact: Fact): EventBody | undefined {
  switch (fact.type) {
    case 'turn-started':
      return { type: 'turn-started', message: nameAnswer(fact.turn), turn: fact.turn }
    case 'display-written':
      return {
        type: 'answer-spoken',
        message: nameAnswer(fact.turn),
        turn: fact.turn,
        ...(fact.chars !== undefined && { chars: fact.chars }),
      }
    case 'interrupt-accepted':
      return { type: 'interrupted', reason: fact.reason }
    case 'call-offered':
      return { type: 'call-offered', callId: fact.callId, client: fact.connection, offer: fact.offer }
    case 'result-ignored':
      return { type: 'result-ignored', callId: fact.callId, reason: fact.reason }
    case 'host-restarted':
      return { type: 'clients-gone' }
    default:
      return undefined
  }
}
