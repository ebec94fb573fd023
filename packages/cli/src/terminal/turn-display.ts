// Shows a turn, event by event: the answer as it streams, calls as they run and settle, and discarded text.
import type {
  CallResult,
  CallView,
  EventBody,
  JsonValue,
  LimitName,
  StepResetReason,
  TurnStop,
} from '@baton/core/internal'
import { nameCall } from '../words/name-call.ts'
import type { Screen } from './screen.ts'
import type { ShownCalls } from './shown-calls.ts'

export interface TurnDisplay {
  /** `atMs`: time of the event, on any monotonic clock. */
  show(event: EventBody, atMs: number): void
  /** Restarts a call's clock after a person took time to answer. */
  restartClock(callId: string, atMs: number): void
}

interface ShownCall {
  readonly name: string
  startedMs: number
  progressMs?: number
}

/** Milliseconds between lines about a tool's progress. */
const PROGRESS_MS = 1000

/** With `shown`, results are folded into the lines of their calls, and running tools show progress. */
export function createTurnDisplay(screen: Screen, shown?: ShownCalls): TurnDisplay {
  const calls = new Map<string, ShownCall>()
  const settled = new Set<string>()
  /** Whether text of the current step has been shown. */
  let hasSpoken = false
  /** Why another model takes over; its name comes with the step. */
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
    const { mark, words, tone } = describeEnd(call, result)
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
        showCall({ ...event.call, name: nameCall(event.call) }, atMs)
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

/** Notes about left-out content and reached limits. */
function tellLimits(screen: Screen, event: EventBody): void {
  if (event.type === 'compacted')
    screen.note(event.how === 'summary' ? 'older messages were summarised' : 'older messages were dropped', 'dim')
  else if (event.type === 'limit' && event.reached) screen.note(LIMITS[event.limit], 'dim')
}

/** The input as JSON text. */
export function writeInput({ input }: Pick<CallView, 'input'>): string {
  return typeof input === 'string' ? input : JSON.stringify(input)
}

/** Why the same step is repeated. Reasons that end the turn are shown with its end. */
const ASKED_AGAIN: Readonly<Record<StepResetReason, string>> = {
  failed: 'the last attempt failed',
  fallback: 'another model takes over',
  'model-set': 'another model was chosen',
  restart: 'the host was restarted',
  empty: 'its answer was empty',
  paused: 'the session was paused',
  'context-full': 'the conversation is too long for it and is shortened',
  'too-large': 'the request was too large for it, so the oldest images and files are left out',
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
  rounds: 'this turn has used all its tool rounds: the model answers from what it has',
  calls: 'this turn has used all its calls',
  tokens: 'this turn has used all its tokens',
  cost: 'this turn has reached its cost limit',
  time: 'this turn has reached its time limit',
  output: 'the answer was cut at the maximum number of output tokens',
  wakes: 'tasks alone began the last turns: say something to go on',
  messages: "older messages are left out because the agent's window is full",
}

function describeReset(why: string, isVoid: boolean): string {
  return `retrying the model: ${why}${isVoid ? '; its text since its last call is discarded' : ''}`
}

/** For log lines: why an attempt at a step is repeated. */
export function askedAgain(reason: string, hasSpoken: boolean): string {
  const why = Object.hasOwn(ASKED_AGAIN, reason) ? ASKED_AGAIN[reason as StepResetReason] : reason
  return describeReset(why, hasSpoken)
}

/** An approved call of an agent below is over; its result is that agent's. */
function describeEnd({ path, runs }: CallView, result: CallResult): ReturnType<typeof describeResult> {
  if (path && runs === 'server' && result.type === 'unknown')
    return { mark: '✓', words: ', done by its agent', tone: 'good' }
  return describeResult(result)
}

/** How a call ended: its mark, and the text after its name and time. */
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
