// Event values derived from facts, and the events of a record for both kinds of readers.
import type { AssistantPart } from '../messages.ts'
import type { Fact, FactOf, InputBody, TurnOutcome } from '../machine/fact.ts'
import type {
  CallStatus,
  CallView,
  EventBody,
  EventCursor,
  EventPlace,
  MessageId,
  SessionEvent,
  TurnStop,
  UserMessageView,
} from './session-event.ts'
import type { History } from '../machine/history.ts'
import type { RelayedRequest } from '../machine/relayed-entries.ts'
import type { Call, CallState, State } from '../machine/state.ts'
import { findChild, findRelayed } from '../machine/state.ts'
import type { KnownCall } from './call-views.ts'
import { readAbout, readInput, viewChild, viewDecided, viewRelayed } from './call-views.ts'
import type { StepText } from './turn-account.ts'

/** A record, or the part that a reader sees. */
export interface ProjectedRecord {
  readonly pos: number
  readonly nowMs: number
  readonly wallMs?: number
  readonly facts: readonly Fact[]
}

const STOPS: Readonly<Record<TurnOutcome, TurnStop>> = {
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

/** @param finish why the model stopped in the last step */
export function findStop(outcome: TurnOutcome, finish: string | undefined, hasUsedRounds: boolean): TurnStop {
  if (outcome !== 'answered') return STOPS[outcome]
  if (finish === 'max-tokens') return 'max-tokens'
  return hasUsedRounds ? 'limit' : 'end'
}

export function createUserMessage(id: MessageId, body: InputBody, atMs: number): UserMessageView {
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
    default:
      return body satisfies never
  }
}

function textOf(text: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text }
}

/** The rest of the exchange after a rewind, and the inputs that enter again in the same record. */
export function listKept(
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

/** Changes of the session as a whole, or of its queued inputs. */
export function readSessionChange(
  fact: FactOf<'agent-changed' | 'model-set' | 'settings-set' | 'session-described' | 'plan-set' | 'input-withdrawn'>,
): readonly EventBody[] {
  switch (fact.type) {
    case 'agent-changed':
      return fact.agent === undefined ? [] : [{ type: 'session', agent: fact.agent }]
    case 'model-set':
      return [{ type: 'session', model: fact.model }]
    case 'settings-set':
      return [{ type: 'session', settings: fact.settings ?? {} }]
    case 'session-described': {
      const { title, meta } = fact
      return [{ type: 'session', ...(title !== undefined && { title }), ...(meta && { meta }) }]
    }
    case 'plan-set':
      return [{ type: 'session', plan: fact.entries }]
    case 'input-withdrawn':
      return [{ type: 'message-withdrawn', message: fact.inputId }]
    default:
      return fact satisfies never
  }
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

export function readQuestion(fact: FactOf<'question-asked' | 'question-answered'>): EventBody {
  const { questionId, callId } = fact
  if (fact.type === 'question-asked') {
    const { type, message, schema, expiresAtMs } = fact
    return { type, questionId, callId, message, schema, expiresAtMs }
  }
  const answer = 'value' in fact ? { value: fact.value } : { declined: fact.declined }
  return { type: fact.type, questionId, callId, ...answer }
}

export function joinReasoning(parts: readonly AssistantPart[]): string {
  let text = ''
  for (const part of parts) if (part.type === 'reasoning') text += part.text
  return text
}

export function readWallMs({ nowMs, wallMs }: ProjectedRecord): number {
  return wallMs ?? nowMs
}

/** Matches the machine's ids for the calls of a step, so that a call has its id while the model writes it. */
export function nameCalls(birth: string, step: number): string {
  return `call_${birth === '' ? '' : `${birth}_`}${step}_`
}

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

/** Completes a body that was created for this event only. */
export function placeEvent(body: EventBody, cursor: EventCursor): SessionEvent {
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

export function nameAnswer(turn: number): MessageId {
  return `t${turn}`
}

export function readStart(state: State, history: History): ProjectionStart {
  const { step, turn, lastTurn, counters } = state
  const steps = new Map<number, MessageId>()
  for (const one of [lastTurn, turn])
    for (const { step: of } of one?.steps ?? []) steps.set(of, nameAnswer(one?.turn ?? 0))
  if (step && !steps.has(step.step)) steps.set(step.step, nameAnswer(counters.turn))
  const message = step ? (steps.get(step.step) ?? '') : ''
  return {
    state,
    since: history.lastTurn()?.pos,
    progress: history.progressText(),
    texts: history.turnTexts(),
    calls: step ? readCalls(state, { message, step: step.step }, history) : [],
    steps,
    relayed: history.relayed(),
  }
}

function readCalls(state: State, place: CallPlace, history: History): readonly KnownCall[] {
  const own = (state.step?.calls ?? []).map((call): KnownCall => {
    const view = createView(call, place, history)
    const child = findChild(state, call.callId)
    return {
      view: child ? { ...view, child: viewChild(child, (state.parent?.depth ?? 0) + 1) } : view,
      heldMs: call.heldMs,
      questions: call.questions.flatMap(({ id, deadline }) => (deadline ? [id] : [])),
    }
  })
  const below = history.relayed().flatMap((request): readonly KnownCall[] => {
    const view = viewRelayed(place, request)
    const one = findRelayed(state, request.id)
    if (!view || !one) return []
    const known = one.call ? { ...view, ...readStatus(one.call) } : one.isDecided ? viewDecided(view) : view
    return [{ view: known, heldMs: null, questions: [] }]
  })
  return [...own, ...below]
}

const STATUSES: Readonly<Record<CallState, CallStatus>> = {
  proposed: 'proposed',
  'awaiting-approval': 'awaiting-approval',
  ready: 'proposed',
  offered: 'waiting',
  claimed: 'running',
  started: 'running',
  settled: 'settled',
}

interface CallPlace {
  readonly message: MessageId
  readonly step: number
}

function createView(call: Call, place: CallPlace, history: History): CallView {
  const { callId, name, runs, effect, provenance, editedChars } = call
  const known = history.openCall(callId)
  return {
    callId,
    ...place,
    name,
    ...(known?.about && readAbout(known.about)),
    input: readInput(known?.arguments ?? '{}'),
    ...(editedChars > 0 && { inputEdited: true }),
    runs: runs === 'client' ? runs : 'server',
    effect,
    ...(provenance && { provenance }),
    ...readStatus(call),
  }
}

function readStatus(call: Call): Pick<CallView, 'status' | 'holder' | 'deadlineMs' | 'waitsForClient'> {
  const { state, offer } = call
  const deadline =
    state === 'awaiting-approval' ? call.approval?.deadline : (call.deadline ?? call.clock.deadline ?? undefined)
  return {
    status: STATUSES[state],
    ...((state === 'offered' || state === 'claimed') && offer && { holder: offer.connection }),
    ...(deadline && { deadlineMs: deadline.atMs }),
    ...(deadline && deadline === call.clock.deadline && call.clock.mode === 'away' && { waitsForClient: true }),
  }
}

/** The server's own note; apps need not understand it. */
export interface SpeechPlace {
  /** Texts of records before this position are not spoken: their turns had ended when the session was opened. */
  readonly silentTo?: number
  /** The answer being spoken. */
  readonly answer?: SpokenAnswer
}

/** Offsets are UTF-16 units. */
export interface SpokenAnswer {
  readonly message: MessageId
  readonly step: number
  /** Offset of the step's text in the answer's text. */
  readonly base: number
  /** Index of the next sentence. */
  readonly index: number
  /** Index of the step's first sentence. */
  readonly first: number
  /** Offset of the next sentence in the step's text. */
  readonly from: number
  /** How far the step's text was split; `rest` follows it. */
  readonly at: number
  /** The text after `at`: an unfinished sentence, which may not be in the log yet. */
  readonly rest: string
  /**
   * The marks that opened the code block around `rest`, or `{` in an answer that is a JSON object; otherwise absent.
   */
  readonly fence?: string
  /** `rest` does not start a line. */
  readonly inLine?: true
}
