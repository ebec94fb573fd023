// What is shown of a turn, event by event: the answer as it streams, calls as they run and settle, what became void.
import type { TurnEvent } from '@baton/core'
import type { Settlement } from '@baton/core/machine'
import type { Screen } from './screen.ts'

export interface TurnDisplay {
  /** `atMs`: when it happened, on any clock that does not jump. */
  show(event: TurnEvent, atMs: number): void
  /** A person took time to answer, which is none of the call's. */
  restartClock(callId: string, atMs: number): void
}

interface ShownCall {
  readonly name: string
  startedMs: number
}

export function createTurnDisplay(screen: Screen): TurnDisplay {
  const calls = new Map<string, ShownCall>()
  /** Text of the step that runs has been shown. */
  let hasSpoken = false
  const show = (event: TurnEvent, atMs: number): void => {
    switch (event.type) {
      case 'text-delta':
        screen.text(event.text)
        hasSpoken = true
        break
      case 'attempt-superseded':
        screen.note(askedAgain(event.reason, hasSpoken), 'dim')
        hasSpoken = false
        break
      case 'call-proposed': {
        const { callId, name } = event.call
        hasSpoken = false
        calls.set(callId, { name, startedMs: atMs })
        screen.brief('>', `${name} ${event.call.arguments}`, 'dim')
        break
      }
      case 'server-tool':
        if (event.status === 'started') screen.brief('>', `${event.name}, run by the provider`, 'dim')
        break
      case 'call-settled': {
        const call = calls.get(event.callId)
        const took = call ? ` ${duration(atMs - call.startedMs)}` : ''
        const { mark, words, tone } = settled(event.settlement)
        screen.brief(mark, `${call?.name ?? event.callId}${took}${words}`, tone)
        calls.delete(event.callId)
        break
      }
      case 'turn-finished':
        screen.endText()
        if (event.outcome === 'silent') screen.note('nothing to say', 'dim')
        else if (event.outcome !== 'answered' && event.outcome !== 'failed')
          screen.note(`the turn was ${event.outcome}`, 'dim')
        break
      default:
        break
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

/** Why another attempt of the same step is made; a reason that is new here is told as it is. */
const WHY: Readonly<Record<string, string>> = {
  failed: 'the last attempt failed',
  fallback: 'another model takes over',
  'model-set': 'another model was chosen',
  restart: 'the host was restarted',
  empty: 'its answer was empty',
  paused: 'the session was paused',
  'context-full': 'the conversation is too long for it and is shortened',
}

export function askedAgain(reason: string, hasSpoken: boolean): string {
  const why = Object.hasOwn(WHY, reason) ? WHY[reason] : reason
  return `the model is asked again: ${why}${hasSpoken ? '; what it said since its last call is void' : ''}`
}

/** How a call ended, as its mark and what follows its name and time. */
export function settled(settlement: Settlement): {
  readonly mark: string
  readonly words: string
  readonly tone: 'good' | 'bad'
} {
  if (settlement.type === 'ok') return { mark: '✓', words: '', tone: 'good' }
  return { mark: '✗', words: `: ${failure(settlement)}`, tone: 'bad' }
}

function failure(settlement: Exclude<Settlement, { readonly type: 'ok' }>): string {
  switch (settlement.type) {
    case 'error':
      return settlement.message
    case 'denied':
      return `denied, ${settlement.message}`
    case 'timed-out':
      return 'timed out'
    case 'cancelled':
      return `cancelled, ${settlement.reason}`
    case 'unknown':
      return `nobody knows whether it ran, ${settlement.reason}`
    default:
      return (settlement satisfies never as Settlement).type
  }
}

/** `12 ms`, `1.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms))
  if (whole < 1000) return `${whole} ms`
  if (whole < 60_000) return `${(whole / 1000).toFixed(1)} s`
  return `${Math.floor(whole / 60_000)} min ${Math.floor((whole % 60_000) / 1000)} s`
}
