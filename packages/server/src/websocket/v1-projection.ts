// Turns a session's events into the frames of version 1, in the order that its apps expect. Pure: time is passed in,
// and ids are derived from the events' places in the log, so that a repeated frame keeps its id. It knows no socket.
import type { Clock, ErrorCode, SessionEvent, SessionEventOf, TurnStop } from '@baton/core/internal'
import { readText, shortHash } from '@baton/core/internal'
import { BoundedMap } from './bounded-map.ts'
import { extractSpeech } from '@baton/runtime'

/** Actions of the connection, in this order. */
export type V1Output =
  | { readonly type: 'partial' | 'final'; readonly id: string; readonly text: string }
  | { readonly type: 'display'; readonly id: string; readonly name: DisplayTool; readonly arguments: DisplayArguments }
  | { readonly type: 'error'; readonly id: string; readonly code: ErrorCode; readonly message: string }
  /** A model's call, offered to this connection. */
  | { readonly type: 'call'; readonly id: string; readonly callId: string; readonly offer: number }
  /** `display-written` is to be submitted; the rest follows with its event, or when it was refused. */
  | { readonly type: 'ask-to-speak'; readonly turn: number }
  | { readonly type: 'turn-began'; readonly turn: number }
  | TurnEnd
  | { readonly type: 'result-ignored'; readonly callId: string; readonly reason: string }

/** For the operator's log. */
interface TurnEnd {
  readonly type: 'turn-ended'
  readonly turn: number
  readonly outcome: string
  readonly causes: readonly string[]
  readonly error?: { readonly code: ErrorCode; readonly message: string }
}

export type DisplayTool = 'convo.setState' | 'convo.appendMessage' | 'tts.speak'
export type DisplayArguments = Readonly<Record<string, string | boolean>>

export interface V1ProjectionOptions {
  readonly session: string
  readonly connection: string
  readonly partialMs: number
  /** Records before this precede the connection. Their frames are repeated with their ids; nothing is spoken twice. */
  readonly livePos: number
  /** The wall clock for the age of messages. Default: the moments passed in. */
  readonly clock?: Clock
}

/** Milliseconds for which an answer is still worth speaking that no app was connected to hear. */
const SPEAKABLE_MS = 30_000

/** Bodies of inputs waiting for their turn: more than a session's queue holds. */
const BODIES_MAX = 1000
/** Events that may wait for the commit of `display-written`; beyond that, the answer is not spoken. */
const HELD_MAX = 10_000

export class V1Projection {
  readonly #state: ProjectionState
  /** Events received while an answer's speech waits. */
  #held: SessionEvent[] = []

  constructor(init: V1ProjectionOptions) {
    this.#state = {
      init,
      prefix: shortHash(init.session),
      partials: new Partials(init.partialMs),
      bodies: new BoundedMap(BODIES_MAX),
      causes: [],
      entered: { key: '', count: 0 },
      speech: undefined,
    }
  }

  handleEvent(event: SessionEvent, nowMs: number): readonly V1Output[] {
    const { speech, init } = this.#state
    const past = isPast(init, event)
    if (!speech) {
      const outputs = project(this.#state, event, nowMs)
      return past
        ? outputs.filter((output) => output.type !== 'turn-ended' && output.type !== 'result-ignored')
        : outputs
    }
    const said = decideSpeech(speech.turn, event, this.#held)
    // An earlier connection already received the answer.
    const decision = said === 'speak' && past ? 'drop' : said
    if (decision === undefined && this.#held.length < HELD_MAX) {
      this.#held.push(event)
      return []
    }
    return this.#release(decision === 'speak', [...this.#held, event], nowMs)
  }

  handleTime(nowMs: number): readonly V1Output[] {
    return this.#state.speech ? [] : takePartial(this.#state, nowMs, false)
  }

  /** Called when `display-written` was refused, so the answer of this turn must not be spoken. */
  handleRefusal(turn: number, nowMs: number): readonly V1Output[] {
    return this.#state.speech?.turn === turn ? this.#release(false, this.#held, nowMs) : []
  }

  /** When `handleTime` may next return something. */
  pollAtMs(): number | undefined {
    return this.#state.speech ? undefined : this.#state.partials.pollAtMs()
  }

  /** Ends the wait, then processes the events received meanwhile, which may start the next wait. */
  #release(speaks: boolean, waiting: readonly SessionEvent[], nowMs: number): readonly V1Output[] {
    this.#held = []
    return [...endSpeech(this.#state, speaks), ...waiting.flatMap((event) => this.handleEvent(event, nowMs))]
  }
}

interface ProjectionState {
  readonly init: V1ProjectionOptions
  readonly prefix: string
  readonly partials: Partials
  readonly bodies: BoundedMap<string>
  causes: readonly string[]
  /** Number of messages that have entered at the place named by the key. */
  entered: { readonly key: string; readonly count: number }
  /** An answer whose speech waits for the commit of `display-written`. */
  speech: Speech | undefined
}

interface Speech {
  readonly turn: number
  readonly key: string
  readonly text: string
}

/** The time distinguishes the logs of two servers with the same session: an app ignores an id it has seen. */
function nameEvent({ prefix }: ProjectionState, { at }: SessionEvent): string {
  return at ? `${prefix}-${at.pos}-${at.fact}-${at.nowMs.toString(36)}` : ''
}

function isPast({ livePos }: V1ProjectionOptions, { at }: SessionEvent): boolean {
  return at !== undefined && at.pos < livePos
}

/** An earlier interrupt cut the answer as unheard; then it must not be spoken. */
function decideSpeech(turn: number, event: SessionEvent, held: readonly SessionEvent[]): 'speak' | 'drop' | undefined {
  if (event.type === 'answer-spoken' && event.turn >= turn) return 'speak'
  const isOfNextTurn = held.some(({ type }) => type === 'turn-started')
  return event.type === 'interrupted' && !isOfNextTurn ? 'drop' : undefined
}

function endSpeech(state: ProjectionState, speaks: boolean): readonly V1Output[] {
  const { speech } = state
  state.speech = undefined
  if (!speech) return []
  const { key, turn, text } = speech
  return [
    ...(speaks ? [showDisplay(`${key}-3`, 'tts.speak', { text })] : []),
    showState(`${key}-4`, 'idle'),
    encodeTurnEnd(state, { turn, outcome: 'answered' }),
  ]
}

function project(state: ProjectionState, event: SessionEvent, nowMs: number): readonly V1Output[] {
  const { partials } = state
  switch (event.type) {
    case 'text':
      partials.handleText(event)
      return isPast(state.init, event) ? [] : takePartial(state, nowMs, false)
    case 'live':
      // The logged part of an unfinished text arrives in pieces, and is shown as one.
      return takePartial(state, nowMs, false)
    case 'text-cut':
      partials.cutText(event)
      return []
    case 'message-added': {
      const { message } = event
      // Events have no speaker, so they are not part of the conversation that the app shows.
      if (message.role === 'user' && message.from !== 'event') state.bodies.set(message.id, readText(message.parts))
      return []
    }
    case 'turn-started':
      partials.beginTurn()
      state.causes = []
      return [{ type: 'turn-began', turn: event.turn }, showState(`${nameEvent(state, event)}-0`, 'thinking')]
    case 'message-entered':
      return enter(state, event)
    case 'step-started':
      partials.beginStep(event.step, nameEvent(state, event))
      return []
    case 'step-reset':
      partials.dropStep(event.step)
      return []
    case 'step-finished':
      partials.finishStep()
      // The rest of an interrupted text was shown already.
      return event.interrupted ? [] : takePartial(state, nowMs, true)
    case 'call-offered': {
      const { client, callId, offer } = event
      const id = `${nameEvent(state, event)}-0`
      return client === state.init.connection ? [{ type: 'call', id, callId, offer }] : []
    }
    case 'turn-finished':
      partials.endTurn()
      return finish(state, event, nowMs)
    case 'result-ignored':
      return [{ type: 'result-ignored', callId: event.callId, reason: event.reason }]
    default:
      return []
  }
}

function finish(state: ProjectionState, event: SessionEventOf<'turn-finished'>, nowMs: number): readonly V1Output[] {
  const { turn, stop, at } = event
  const key = nameEvent(state, event)
  const outcome = OUTCOMES[stop]
  const text = event.text.trim()
  if (outcome === 'answered' && text !== '') {
    const answer = [
      { type: 'final', id: `${key}-0`, text } as const,
      showDisplay(`${key}-1`, 'convo.appendMessage', { role: 'assistant', text, isPartial: false }),
    ]
    const speech = extractSpeech(text)
    const ageMs = (state.init.clock?.nowMs() ?? nowMs) - (at?.wallMs ?? at?.nowMs ?? nowMs)
    if (speech === '' || ageMs > SPEAKABLE_MS)
      return [...answer, showState(`${key}-4`, 'idle'), encodeTurnEnd(state, { turn, outcome })]
    state.speech = { turn, key, text: speech }
    return [...answer, showState(`${key}-2`, 'speaking'), { type: 'ask-to-speak', turn }]
  }
  const error = findTurnError(event)
  return [
    ...(error ? [{ type: 'error', id: `${key}-0`, code: error.code, message: error.message } as const] : []),
    showState(`${key}-4`, 'idle'),
    encodeTurnEnd(state, { turn, outcome, ...(event.error && { error: event.error }) }),
  ]
}

const OUTCOMES: Readonly<Record<TurnStop, string>> = {
  end: 'answered',
  // Version 1 has no word for it: the app gets the text that the steps said, if there is any.
  tool: 'answered',
  'max-tokens': 'answered',
  limit: 'answered',
  cancelled: 'interrupted',
  stopped: 'stopped',
  silent: 'silent',
  refused: 'refused',
  failed: 'failed',
}

function findTurnError({ stop, error }: SessionEventOf<'turn-finished'>): TurnEnd['error'] {
  if (stop === 'refused') return error ?? { code: 'model_refused', message: 'the model refused to answer' }
  if (stop !== 'failed') return undefined
  return error ?? { code: 'internal', message: 'the turn failed' }
}

function enter(state: ProjectionState, event: SessionEventOf<'message-entered'>): readonly V1Output[] {
  const key = nameEvent(state, event)
  const index = state.entered.key === key ? state.entered.count : 0
  state.entered = { key, count: index + 1 }
  state.causes = [...state.causes, event.message]
  const text = state.bodies.take(event.message)
  if (text === undefined) return []
  return [showDisplay(`${key}-${index}`, 'convo.appendMessage', { role: 'user', text, isPartial: false })]
}

function takePartial(state: ProjectionState, nowMs: number, force: boolean): readonly V1Output[] {
  const shown = state.partials.take(nowMs, force)
  return shown ? [{ type: 'partial', id: shown.key, text: shown.text }] : []
}

function encodeTurnEnd(
  { causes }: ProjectionState,
  { turn, outcome, error }: Pick<TurnEnd, 'turn' | 'outcome' | 'error'>,
): V1Output {
  return { type: 'turn-ended', turn, outcome, causes, ...(error && { error }) }
}

function showState(id: string, state: 'thinking' | 'speaking' | 'idle'): V1Output {
  return showDisplay(id, 'convo.setState', { state })
}

function showDisplay(id: string, name: DisplayTool, given: DisplayArguments): V1Output {
  return { type: 'display', id, name, arguments: given }
}

interface WrittenStep {
  readonly step: number
  readonly key: string
  text: string
}

interface Piece {
  readonly step: number
  readonly offset: number
  readonly text: string
}

interface ShownText {
  /** Identifies the text in frame ids. */
  readonly key: string
  readonly text: string
}

class Partials {
  readonly #intervalMs: number
  /** Texts of the turn's finished steps; `undefined` if the turn's beginning was not seen. */
  #earlier: readonly { readonly step: number; readonly text: string }[] | undefined
  #step: WrittenStep | undefined
  /** The frame key of the last text, which may still need to be shown after its step has ended. */
  #key = ''
  #hasNews = false
  #shown = ''
  #shownAtMs = Number.NEGATIVE_INFINITY

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** Starts a new turn without text. */
  beginTurn(): void {
    this.#earlier = []
    this.#step = undefined
    this.#hasNews = false
    this.#shown = ''
  }

  /** Switches to the text of this step. `key` identifies it in frame ids. */
  beginStep(step: number, key: string): void {
    this.#step = { step, key, text: '' }
  }

  handleText({ step: number, offset, text }: Piece): void {
    const step = this.#step
    if (step?.step !== number || this.#earlier === undefined) return
    step.text = offset === step.text.length ? step.text + text : step.text.slice(0, offset) + text
    this.#key = step.key
    this.#hasNews = true
  }

  /** Truncates the step's text. Text of an earlier step was shown, and is not retracted. */
  cutText({ step, keepChars }: { readonly step: number; readonly keepChars: number }): void {
    if (this.#step?.step === step) this.#step.text = this.#step.text.slice(0, keepChars)
  }

  /** Drops the step's text, which is repeated. The step may have finished. */
  dropStep(step: number): void {
    this.#earlier = this.#earlier?.filter((said) => said.step !== step)
    this.#step = undefined
    this.#hasNews = false
  }

  /** Keeps the step's text for good. */
  finishStep(): void {
    const { key, text, step = 0 } = this.#step ?? { key: this.#key, text: '' }
    this.#key = key
    this.#step = undefined
    if (this.#earlier === undefined || text === '') return
    this.#earlier = [...this.#earlier, { step, text }]
    this.#hasNews = true
  }

  endTurn(): void {
    this.#earlier = undefined
    this.#step = undefined
    this.#hasNews = false
  }

  /** Returns the text to show now, if it is time; with `force`, at any time. */
  take(nowMs: number, force = false): ShownText | undefined {
    if (!this.#hasNews || (!force && nowMs - this.#shownAtMs < this.#intervalMs)) return undefined
    this.#hasNews = false
    const text = this.#whole()
    if (text === '' || text === this.#shown) return undefined
    this.#shown = text
    this.#shownAtMs = nowMs
    return { key: `${this.#key}-p${text.length}`, text }
  }

  /** When `take` may next return something. */
  pollAtMs(): number | undefined {
    return this.#hasNews ? this.#shownAtMs + this.#intervalMs : undefined
  }

  #whole(): string {
    const texts = [...(this.#earlier ?? []).map(({ text }) => text), this.#step?.text ?? '']
    return texts
      .filter((text) => text !== '')
      .join('\n\n')
      .trim()
  }
}
