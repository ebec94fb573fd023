// Shows a turn, event by event: the answer as it streams, calls as they run and settle, what became void.
import type { CallResult, CallView, EventBody, JsonValue, LimitName, StepResetReason, TurnStop } from '@baton/core'
import type { Screen } from './screen.ts'
import type { ShownCalls } from './shown-calls.ts'

export interface TurnDisplay {
  /** `atMs`: when it happened, on any clock that does not jump. */
  show(event: EventBody, atMs: number): void
  /** A person took time to answer, which is none of the call's. */
  restartClock(callId: string, atMs: number): void
}

interface ShownCall {
  readonly name: string
  startedMs: number
  progressMs?: number
}

/** Milliseconds between two lines about how far a tool is. */
const PROGRESS_MS = 1000

/** With `shown` results are folded into the lines of their calls, and running tools tell how far they are. */
export function createTurnDisplay(screen: Screen, shown?: ShownCalls): TurnDisplay {
  const calls = new Map<string, ShownCall>()
  const settled = new Set<string>()
  /** Text of the step that runs has been shown. */
  let hasSpoken = false
  /** Why another model is asked; its name comes with the step. */
  let handover: { readonly why: string; readonly isVoid: boolean } | undefined
  const showCall = (call: CallView, atMs: number): void => {
    const { callId, name, result } = call
    if (settled.has(callId)) return
    if (!calls.has(callId)) {
      hasSpoken = false
      calls.set(callId, { name, startedMs: atMs })
      screen.brief('>', `${name} ${writeInput(call)}`, 'dim')
    }
    if (!result) return
    settled.add(callId)
    const { mark, words, tone } = describeResult(result)
    const folded = result.type === 'ok' ? (shown?.add(name, result) ?? '') : ''
    screen.brief(mark, `${name} ${duration(atMs - (calls.get(callId)?.startedMs ?? atMs))}${words}${folded}`, tone)
  }
  const showProgress = (callId: string, note: JsonValue, atMs: number): void => {
    const call = calls.get(callId)
    if (!shown || !call || atMs - (call.progressMs ?? -PROGRESS_MS) < PROGRESS_MS) return
    call.progressMs = atMs
    screen.brief('·', `${call.name}: ${typeof note === 'string' ? note : JSON.stringify(note)}`, 'dim')
  }
  const show = (event: EventBody, atMs: number): void => {
    switch (event.type) {
      case 'text':
        screen.text(event.text)
        hasSpoken = true
        break
      case 'step-reset':
        if (event.reason === 'fallback') handover = { why: event.error?.message ?? '', isVoid: hasSpoken }
        else if (ASKED_AGAIN[event.reason]) screen.note(describeReset(ASKED_AGAIN[event.reason], hasSpoken), 'dim')
        hasSpoken = false
        break
      case 'step-started':
        if (handover) {
          const why = handover.why === '' ? '' : ` (${handover.why})`
          screen.note(describeReset(`${event.model} takes over${why}`, handover.isVoid), 'dim')
        }
        handover = undefined
        break
      case 'call':
        showCall(event.call, atMs)
        break
      case 'call-progress':
        showProgress(event.callId, event.note, atMs)
        break
      case 'server-tool':
        if (event.status === 'started') screen.brief('>', `${event.name}, run by the provider`, 'dim')
        break
      case 'turn-finished':
        screen.endText()
        if (STOPS[event.stop]) screen.note(STOPS[event.stop], 'dim')
        break
      default:
        tellLimits(screen, event)
    }
  }
  return {
    show,
    restartClock: (callId, atMs) => {
      const call = calls.get(callId)
      if (call) call.startedMs = atMs
    },
  }
}

/** Notes on left-out content and reached limits. */
function tellLimits(screen: Screen, event: EventBody): void {
  if (event.type === 'compacted')
    screen.note(event.how === 'summary' ? 'older messages were summarised' : 'older messages are forgotten', 'dim')
  else if (event.type === 'limit' && event.reached) screen.note(LIMITS[event.limit], 'dim')
}

/** As JSON text. */
export function writeInput({ input }: Pick<CallView, 'input'>): string {
  return typeof input === 'string' ? input : JSON.stringify(input)
}

/** Why the same step is asked for once more. What ends the turn is told with its end. */
const ASKED_AGAIN: Readonly<Record<StepResetReason, string>> = {
  failed: 'the last attempt failed',
  fallback: 'another model takes over',
  'model-set': 'another model was chosen',
  restart: 'the host was restarted',
  empty: 'its answer was empty',
  paused: 'the session was paused',
  'context-full': 'the conversation is too long for it and is shortened',
  'too-large': 'the request was too large for it, and the oldest images and files leave',
  refused: 'its answer was not accepted',
  'gave-up': '',
  interrupted: '',
}

const STOPS: Readonly<Record<TurnStop, string>> = {
  end: '',
  tool: '',
  failed: '',
  'max-tokens': '',
  limit: '',
  silent: 'nothing to say',
  refused: 'the turn was refused',
  cancelled: 'the turn was interrupted',
  stopped: 'the turn was stopped',
}

const LIMITS: Readonly<Record<LimitName, string>> = {
  rounds: 'the tool rounds of this turn are used up: the model answers from what it has',
  calls: 'the calls of this turn are used up',
  tokens: 'the tokens of this turn are used up',
  cost: 'the money of this turn is used up',
  time: 'the time of this turn is used up',
  output: 'the answer is cut: it has as many tokens as the model may write',
  messages: 'older messages are not read any more: the window of the agent holds no more of them',
}

function describeReset(why: string, isVoid: boolean): string {
  return `the model is asked again: ${why}${isVoid ? '; what it said since its last call is void' : ''}`
}

/** For the lines of a log: why an attempt of a step is made again. */
export function askedAgain(reason: string, hasSpoken: boolean): string {
  const why = Object.hasOwn(ASKED_AGAIN, reason) ? ASKED_AGAIN[reason as StepResetReason] : reason
  return describeReset(why, hasSpoken)
}

/** How a call ended, as its mark and what follows its name and time. */
export function describeResult(result: CallResult): {
  readonly mark: string
  readonly words: string
  readonly tone: 'good' | 'bad'
} {
  if (result.type === 'ok') return { mark: '✓', words: '', tone: 'good' }
  return { mark: '✗', words: `: ${describeFailure(result)}`, tone: 'bad' }
}

function describeFailure({ type, message }: Exclude<CallResult, { readonly type: 'ok' }>): string {
  switch (type) {
    case 'error':
      return message
    case 'denied':
      return `denied, ${message}`
    case 'timed-out':
      return `timed out, ${message}`
    case 'cancelled':
      return `cancelled, ${message}`
    case 'unknown':
      return `its outcome is unknown, ${message}`
    default:
      return type satisfies never
  }
}

/** `12 ms`, `1.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms))
  if (whole < 1000) return `${whole} ms`
  if (whole < 60_000) return `${(whole / 1000).toFixed(1)} s`
  return `${Math.floor(whole / 60_000)} min ${Math.floor((whole % 60_000) / 1000)} s`
}
