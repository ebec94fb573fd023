// From a session's frames to those of version 1, in the order that its apps expect. Pure: time is handed in, and ids are
// derived from records, so that a frame that is repeated keeps its id. It knows no socket.
import type { Clock, ErrorCode, Frame } from '@baton/core'
import { shortHash, readText } from '@baton/core'
import type { Fact, FactOf, InputBody } from '@baton/core/machine'
import { BoundedMap } from './bounded-map.ts'
import { Partials } from './v1-partials.ts'
import { extractSpeech } from './speech-text.ts'

/** What the connection has to do, in this order. */
export type V1Output =
  | { readonly type: 'partial' | 'final'; readonly id: string; readonly text: string }
  | { readonly type: 'display'; readonly id: string; readonly name: DisplayTool; readonly arguments: DisplayArguments }
  | { readonly type: 'error'; readonly id: string; readonly code: ErrorCode; readonly message: string }
  /** A call of the model, offered to this connection. */
  | { readonly type: 'call'; readonly id: string; readonly callId: string; readonly offer: number }
  /** `display-written` is to be submitted; what follows comes when its fact is read, or it was refused. */
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

export interface V1ProjectionInit {
  readonly session: string
  readonly connection: string
  readonly partialMs: number
  /** Facts before it happened before this connection. Their frames are repeated, with their ids; nothing is spoken twice. */
  readonly livePos: number
  /** The wall clock, by which the age of what was said is measured; the moments that are handed in by default. */
  readonly clock?: Clock
}

/** Milliseconds for which an answer that nobody was there to hear is still worth speaking. */
const SPEAKABLE_MS = 30_000

/** Bodies of inputs that wait for their turn: more than a session's queue takes. */
const BODIES_MAX = 1000
/** Frames that may wait for the commit of `display-written`; then the answer is not spoken. */
const HELD_MAX = 10_000

/** A frame with the name that its record gives it. */
interface NamedFrame {
  readonly frame: Frame
  readonly key: string
}

export class V1Projection {
  readonly #state: ProjectionState
  /** Of the fact that came last. */
  #pos = -1
  #index = 0
  /** What came while an answer's speech waits. */
  #held: NamedFrame[] = []

  constructor(init: V1ProjectionInit) {
    this.#state = {
      init,
      prefix: shortHash(init.session),
      partials: new Partials(init.partialMs),
      bodies: new BoundedMap(BODIES_MAX),
      causes: [],
      speech: undefined,
    }
  }

  handleFrame(frame: Frame, nowMs: number): readonly V1Output[] {
    return this.#take({ frame, key: this.#nameFrame(frame) }, nowMs)
  }

  handleTime(nowMs: number): readonly V1Output[] {
    return this.#state.speech ? [] : takePartial(this.#state, nowMs, false)
  }

  /** The answer of this turn may not be spoken: its `display-written` was refused. */
  handleRefusal(turn: number, nowMs: number): readonly V1Output[] {
    return this.#state.speech?.turn === turn ? this.#release(false, this.#held, nowMs) : []
  }

  /** When `handleTime` may have something. */
  pollAtMs(): number | undefined {
    return this.#state.speech ? undefined : this.#state.partials.pollAtMs()
  }

  #nameFrame(frame: Frame): string {
    if (frame.type !== 'fact') return ''
    this.#index = frame.pos === this.#pos ? this.#index + 1 : 0
    this.#pos = frame.pos
    // The time tells apart the logs of two servers that forgot each other: an app ignores an id that it has seen.
    return `${this.#state.prefix}-${frame.pos}-${this.#index}-${frame.nowMs.toString(36)}`
  }

  #take(named: NamedFrame, nowMs: number): readonly V1Output[] {
    const { speech, init } = this.#state
    const past = isPast(init, named.frame)
    if (!speech) {
      const outputs = project(this.#state, named, nowMs)
      return past
        ? outputs.filter((output) => output.type !== 'turn-ended' && output.type !== 'result-ignored')
        : outputs
    }
    const said = decideSpeech(speech.turn, named.frame, this.#held)
    // An earlier connection was handed the answer.
    const decision = said === 'speak' && past ? 'drop' : said
    if (decision === undefined && this.#held.length < HELD_MAX) {
      this.#held.push(named)
      return []
    }
    return this.#release(decision === 'speak', [...this.#held, named], nowMs)
  }

  /** Ends the wait, then goes through what came in the meantime; that may bring the next wait. */
  #release(speaks: boolean, waiting: readonly NamedFrame[], nowMs: number): readonly V1Output[] {
    this.#held = []
    return [...endSpeech(this.#state, speaks), ...waiting.flatMap((named) => this.#take(named, nowMs))]
  }
}

interface ProjectionState {
  readonly init: V1ProjectionInit
  readonly prefix: string
  readonly partials: Partials
  readonly bodies: BoundedMap<string>
  causes: readonly string[]
  /** An answer whose speech waits for the commit of `display-written`. */
  speech: Speech | undefined
}

interface Speech {
  readonly turn: number
  readonly key: string
  readonly text: string
}

function isPast({ livePos }: V1ProjectionInit, frame: Frame): boolean {
  return frame.type === 'fact' && frame.pos < livePos
}

/** An interrupt that came first cut the answer as one that nobody heard; then it must not be spoken. */
function decideSpeech(turn: number, frame: Frame, held: readonly NamedFrame[]): 'speak' | 'drop' | undefined {
  if (frame.type !== 'fact') return undefined
  if (frame.fact.type === 'display-written' && frame.fact.turn >= turn) return 'speak'
  const isOfNextTurn = held.some((named) => named.frame.type === 'fact' && named.frame.fact.type === 'turn-started')
  return frame.fact.type === 'interrupt-accepted' && !isOfNextTurn ? 'drop' : undefined
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

function project(state: ProjectionState, { frame, key }: NamedFrame, nowMs: number): readonly V1Output[] {
  if (frame.type === 'text-delta') {
    state.partials.handleDelta(frame)
    return takePartial(state, nowMs, false)
  }
  if (frame.type !== 'fact') return []
  const ageMs = (state.init.clock?.nowMs() ?? nowMs) - (frame.wallMs ?? frame.nowMs)
  return projectFact(state, frame.fact, { key, nowMs, ageMs })
}

interface FactMoment {
  readonly key: string
  readonly nowMs: number
  /** Milliseconds since the fact was committed. */
  readonly ageMs: number
}

function projectFact(state: ProjectionState, fact: Fact, at: FactMoment): readonly V1Output[] {
  const { partials } = state
  switch (fact.type) {
    case 'input-accepted':
      remember(state, fact.inputId, fact.body)
      return []
    case 'turn-started':
      partials.beginTurn()
      state.causes = []
      return [{ type: 'turn-began', turn: fact.turn }, showState(`${at.key}-0`, 'thinking')]
    case 'inputs-entered':
      return enter(state, fact, at.key)
    case 'model-started':
      partials.beginAttempt(fact.attempt, at.key)
      return []
    case 'attempt-superseded':
    case 'attempt-failed':
      partials.dropAttempt()
      return []
    case 'step-finished': {
      partials.finishStep(readText(fact.parts))
      // What is left of an interrupted text was shown already.
      return fact.interrupted ? [] : takePartial(state, at.nowMs, true)
    }
    case 'call-offered': {
      const { connection, callId, offer } = fact
      return connection === state.init.connection ? [{ type: 'call', id: `${at.key}-0`, callId, offer }] : []
    }
    case 'turn-finished':
      partials.endTurn()
      return finish(state, fact, at)
    case 'result-ignored':
      return [{ type: 'result-ignored', callId: fact.callId, reason: fact.reason }]
    default:
      return []
  }
}

function finish(
  state: ProjectionState,
  fact: FactOf<'turn-finished'>,
  { key, ageMs }: FactMoment,
): readonly V1Output[] {
  const { turn, outcome } = fact
  const text = fact.text.trim()
  if (outcome === 'answered' && text !== '') {
    const answer = [
      { type: 'final', id: `${key}-0`, text } as const,
      showDisplay(`${key}-1`, 'convo.appendMessage', { role: 'assistant', text, isPartial: false }),
    ]
    const speech = extractSpeech(text)
    if (speech === '' || ageMs > SPEAKABLE_MS)
      return [...answer, showState(`${key}-4`, 'idle'), encodeTurnEnd(state, fact)]
    state.speech = { turn, key, text: speech }
    return [...answer, showState(`${key}-2`, 'speaking'), { type: 'ask-to-speak', turn }]
  }
  const error = findTurnError(fact)
  return [
    ...(error ? [{ type: 'error', id: `${key}-0`, code: error.code, message: error.message } as const] : []),
    showState(`${key}-4`, 'idle'),
    encodeTurnEnd(state, fact),
  ]
}

function findTurnError(fact: FactOf<'turn-finished'>): Extract<V1Output, { type: 'turn-ended' }>['error'] {
  if (fact.outcome === 'refused') return fact.error ?? { code: 'model_refused', message: 'the model refused to answer' }
  if (fact.outcome !== 'failed') return undefined
  return fact.error ?? { code: 'internal', message: 'the turn failed' }
}

function enter(state: ProjectionState, fact: FactOf<'inputs-entered'>, key: string): readonly V1Output[] {
  const entered = fact.entries.flatMap((entry) => entry.inputs)
  state.causes = [...state.causes, ...entered]
  return entered.flatMap((inputId, index) => {
    const text = state.bodies.take(inputId)
    if (text === undefined) return []
    return [showDisplay(`${key}-${index}`, 'convo.appendMessage', { role: 'user', text, isPartial: false })]
  })
}

/** Events are not said by anybody, so they do not stand in the conversation that the app shows. */
function remember(state: ProjectionState, inputId: string, body: InputBody): void {
  if (body.type === 'urgent') return
  state.bodies.set(inputId, body.type === 'user' ? readText(body.parts) : body.text)
}

function takePartial(state: ProjectionState, nowMs: number, force: boolean): readonly V1Output[] {
  const shown = state.partials.take(nowMs, force)
  return shown ? [{ type: 'partial', id: shown.key, text: shown.text }] : []
}

function encodeTurnEnd(
  { causes }: ProjectionState,
  { turn, outcome, error }: Pick<FactOf<'turn-finished'>, 'turn' | 'outcome' | 'error'>,
): V1Output {
  return { type: 'turn-ended', turn, outcome, causes, ...(error && { error }) }
}

function showState(id: string, state: 'thinking' | 'speaking' | 'idle'): V1Output {
  return showDisplay(id, 'convo.setState', { state })
}

function showDisplay(id: string, name: DisplayTool, given: DisplayArguments): V1Output {
  return { type: 'display', id, name, arguments: given }
}
