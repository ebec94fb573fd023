// The outline of a session, turn by turn, without times and ids. A replay follows it and is compared with it.
import type { JsonObject, ModelAnswer, ModelPart } from '@baton/core/internal'
import type { Fact, FactOf, InputBody, QuestionAnswer, SessionRecord, Settlement } from '@baton/core/machine'
import { applyRecord, initialState } from '@baton/core/machine'

export interface OutlinedCall {
  readonly name: string
  readonly callId: string
  asks: boolean
  decision?: FactOf<'approval-decided'>
  /** Answers to its questions, by their numbers. */
  readonly answers: Map<number, QuestionAnswer>
  settlement?: Settlement
}

export interface OutlinedStep {
  readonly answer: ModelAnswer
  readonly calls: readonly OutlinedCall[]
  refusedOutput?: string
  /** Inputs that entered the turn after this step. */
  readonly steered: FactOf<'input-accepted'>[]
}

export interface OutlinedTurn {
  readonly turn: number
  /** The output schema that its inputs asked for. */
  readonly output?: JsonObject
  /** The model that was set for the session, by a person or a program. */
  readonly model?: string
  /** Whether a client that can be asked was attached. */
  hasAsker: boolean
  readonly inputs: FactOf<'input-accepted'>[]
  readonly steps: OutlinedStep[]
  /** The error of a turn whose model call finally failed. */
  failure?: FactOf<'attempt-failed'>['error']
  end?: FactOf<'turn-finished'>
}

export interface SessionOutline {
  /** The session's owner. */
  readonly principal: string
  readonly turns: readonly OutlinedTurn[]
  /** Why later turns are left out. */
  readonly cutBy?: string
}

/** Outlines the turns up to a rewind, an interrupt or a pause; later ones cannot be compared. */
export function outlineSession(records: readonly SessionRecord[]): SessionOutline {
  const turns: OutlinedTurn[] = []
  const waiting = new Map<string, FactOf<'input-accepted'>>()
  const calls = new Map<string, OutlinedCall>()
  let state = initialState('')
  for (const record of records) {
    state = applyRecord(state, record)
    const { principal, model } = state
    for (const fact of record.facts) {
      const cutBy = findCut(fact)
      if (cutBy !== undefined) return { principal, turns: turns.filter(({ end }) => end), cutBy }
      if (fact.type === 'input-accepted') waiting.set(fact.inputId, fact)
      else if (fact.type === 'turn-started') turns.push(openTurn(fact, model))
      const turn = turns.at(-1)
      if (turn) outlineFact({ turn, waiting, calls }, fact)
    }
    const turn = turns.at(-1)
    if (turn && !turn.end) turn.hasAsker ||= state.clients.some(({ asks }) => asks)
  }
  const { principal } = state
  if (turns.every(({ end }) => end)) return { principal, turns }
  return { principal, turns: turns.filter(({ end }) => end), cutBy: 'its last turn has not ended' }
}

function openTurn({ turn, output }: FactOf<'turn-started'>, model: string | null): OutlinedTurn {
  return { turn, ...(output && { output }), ...(model !== null && { model }), hasAsker: false, inputs: [], steps: [] }
}

function findCut(fact: Fact): string | undefined {
  if (fact.type === 'interrupt-accepted') return 'an answer was interrupted'
  if (fact.type === 'history-rewound') return 'the conversation was rewound'
  if (fact.type === 'session-paused' || fact.type === 'session-stopped') return 'the session was paused or stopped'
  if (fact.type !== 'turn-finished') return undefined
  if (fact.error?.code === 'approval_expired') return 'nobody decided on an answer in time'
  return fact.error?.code === 'turn_time_exceeded' ? 'a turn ran out of time' : undefined
}

interface Outlining {
  readonly turn: OutlinedTurn
  readonly waiting: Map<string, FactOf<'input-accepted'>>
  readonly calls: Map<string, OutlinedCall>
}

function outlineFact({ turn, waiting, calls }: Outlining, fact: Fact): void {
  const step = turn.steps.at(-1)
  switch (fact.type) {
    case 'inputs-entered': {
      const inputs = fact.entries.flatMap(({ inputs: ids }) => ids.flatMap((id) => waiting.get(id) ?? []))
      ;(step ? step.steered : turn.inputs).push(...inputs)
      return
    }
    case 'step-finished': {
      const proposed = fact.calls.map(({ name, callId }): OutlinedCall => ({
        name,
        callId,
        asks: false,
        answers: new Map(),
      }))
      for (const call of proposed) calls.set(call.callId, call)
      turn.steps.push({ answer: toAnswer(fact), calls: proposed, steered: [] })
      return
    }
    case 'output-refused':
      if (step) step.refusedOutput = fact.issue
      return
    case 'approval-requested': {
      const call = calls.get(fact.callId)
      if (call) call.asks = true
      return
    }
    case 'approval-decided': {
      const call = calls.get(fact.callId)
      if (call) call.decision = fact
      return
    }
    case 'question-answered':
      calls.get(fact.callId)?.answers.set(fact.n, fact)
      return
    case 'call-settled': {
      const call = calls.get(fact.callId)
      if (call) call.settlement = fact.settlement
      return
    }
    case 'attempt-failed':
      turn.failure = fact.error
      return
    case 'turn-finished':
      turn.end = fact
      return
    default:
  }
}

function toAnswer({ parts, calls, finish, usage, model }: FactOf<'step-finished'>): ModelAnswer {
  const said = parts.flatMap((part): readonly ModelPart[] => {
    if (part.type !== 'call') return [part]
    const { callId, ...call } = part
    // The machine added the approval of an answer.
    return calls.some((proposal) => proposal.callId === callId && proposal.answer) ? [] : [call]
  })
  return { parts: said, finish, usage, model }
}

/** Joins inputs into one text, which suffices because the replay's model ignores its request. */
export function readInputs(inputs: readonly FactOf<'input-accepted'>[]): string {
  return inputs.map(({ body }) => readBody(body)).join('\n') || '(nothing new)'
}

function readBody(body: InputBody): string {
  if (body.type === 'transcript') return `${body.speaker}: ${body.text}`
  if (body.type === 'task') return `${body.name}: ${body.text}`
  if (body.type === 'urgent') return `${body.name}: ${body.message ?? ''}`
  return body.parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
}

export interface ReplayDifference {
  readonly turn: number
  /** Place in the turn, such as `step 2, look`. */
  readonly place: string
  readonly recorded: string
  readonly now: string
}

/** UTF-16 units of a text shown in a difference. */
const SHOWN_CHARS = 200

/** Compares a turn. With `results`, values returned by tools are compared too, not only how their calls ended. */
export function compareTurns(
  recorded: OutlinedTurn,
  now: OutlinedTurn | undefined,
  results: boolean,
): ReplayDifference[] {
  const one = listLines(recorded, results)
  const other = now ? listLines(now, results) : new Map<string, string>()
  const { turn } = recorded
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((place): ReplayDifference[] => {
    const before = one.get(place) ?? 'nothing'
    const after = other.get(place) ?? 'nothing'
    return isSame(before, after) ? [] : [{ turn, place, recorded: before, now: after }]
  })
}

function isSame(before: string, after: string): boolean {
  if (before === after || before === WORLD || before === EXPIRED) return true
  // Without a recorded decision, the replay denies.
  return before === REQUESTED && after.startsWith(REQUESTED)
}

/** A call's end that depended on the environment: its result was late, or its process died. */
const WORLD = 'decided by the environment'
const EXPIRED = 'denied, approval_expired'
const REQUESTED = 'requested'

function listLines({ steps, end }: OutlinedTurn, results: boolean): Map<string, string> {
  const lines = new Map<string, string>()
  for (const [index, { calls, refusedOutput }] of steps.entries()) {
    for (const [number, call] of calls.entries()) {
      const place = `step ${index + 1}, call ${number + 1}, ${call.name}`
      lines.set(`${place}, approval`, describeApproval(call))
      lines.set(place, describeSettlement(call.settlement, results))
    }
    lines.set(`step ${index + 1}, output`, refusedOutput === undefined ? 'fits' : `does not fit: ${refusedOutput}`)
  }
  lines.set('end', end ? `${end.outcome}${end.error ? `, ${end.error.code}` : ''}` : 'nothing')
  lines.set('answer', end ? show(end.text) : 'nothing')
  return lines
}

function describeApproval({ asks, decision }: OutlinedCall): string {
  if (!asks) return 'not requested'
  return `${REQUESTED}${decision ? `: ${decision.decision}` : ''}`
}

function describeSettlement(settlement: Settlement | undefined, results: boolean): string {
  switch (settlement?.type) {
    case undefined:
      return 'nothing'
    case 'ok':
      return results ? `ok: ${show(JSON.stringify(settlement.value ?? settlement.content))}` : 'ok'
    case 'error':
    case 'denied':
      return `${settlement.type}, ${settlement.code}`
    default:
      return WORLD
  }
}

function show(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS).toWellFormed()}…`
}
