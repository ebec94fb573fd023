// Starts of readers that have not read the log: a session's state, up to the state's newest record, and the place of an
// answer's next sentence, which a server keeps in the cursors of an app with a voice.
import type { History } from '../machine/history.ts'
import type { Call, CallState, State } from '../machine/state.ts'
import type { KnownCall } from './call-views.ts'
import { readAbout, readInput } from './call-views.ts'
import type { CallStatus, CallView, MessageId } from './session-event.ts'
import type { StepText } from './turn-account.ts'

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
    calls:
      step?.calls.map((call) => ({
        view: createView(call, { message, step: step.step }, history),
        heldMs: call.heldMs,
        questions: call.questions.flatMap(({ id, deadline }) => (deadline ? [id] : [])),
      })) ?? [],
    steps,
  }
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

function createView(
  call: Call,
  place: { readonly message: MessageId; readonly step: number },
  history: History,
): CallView {
  const { callId, name, runs, effect, provenance, state, offer, editedChars } = call
  const known = history.openCall(callId)
  const deadline =
    state === 'awaiting-approval' ? call.approval?.deadline : (call.deadline ?? call.clock.deadline ?? undefined)
  return {
    callId,
    ...place,
    name,
    ...(known?.about && readAbout(known.about)),
    input: readInput(known?.arguments ?? '{}'),
    ...(editedChars > 0 && { inputEdited: true }),
    runs,
    effect,
    ...(provenance && { provenance }),
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
