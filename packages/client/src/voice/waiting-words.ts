// Words to say while a call takes long: once per call, if the call is still running when they are due.
import type { CallView } from '@baton/core'
import type { BoundedMap } from '../bounded-map.ts'
import { createBoundedMap } from '../bounded-map.ts'
import type { VoiceWorld } from './speaker.ts'

/** Number of calls to remember, so that no call's words are spoken twice. */
const CALLS_MAX = 500

interface WaitingCall {
  readonly callId: string
  readonly message: string
  readonly say: string
  isDue: boolean
  stopTimer: () => void
}

export class WaitingWords {
  readonly #world: VoiceWorld
  readonly #onDue: () => void
  readonly #seen: BoundedMap<string, true> = createBoundedMap(CALLS_MAX)
  #calls: readonly WaitingCall[] = []

  constructor(world: VoiceWorld, onDue: () => void) {
    this.#world = world
    this.#onDue = onDue
  }

  take({ callId, message, status, waiting }: CallView): void {
    if (status === 'settled') return this.#drop((call) => call.callId === callId)
    if (!waiting || status === 'proposed' || this.#seen.has(callId) || this.#calls.length >= CALLS_MAX) return
    this.#seen.set(callId, true)
    const call: WaitingCall = { callId, message, say: waiting.say, isDue: false, stopTimer: () => {} }
    this.#calls = [...this.#calls, call]
    call.stopTimer = this.#world.start(waiting.afterMs, () => {
      call.isDue = true
      this.#onDue()
    })
  }

  /** The words of the call that was due first. Words of other due calls are not said. */
  takeDue(): { readonly callId: string; readonly say: string } | undefined {
    const due = this.#calls.find(({ isDue }) => isDue)
    this.#drop(({ isDue }) => isDue)
    return due
  }

  /** Called when the answer has ended. */
  dropOf(message: string): void {
    this.#drop((call) => call.message === message)
  }

  clear(): void {
    this.#drop(() => true)
  }

  #drop(isOver: (call: WaitingCall) => boolean): void {
    for (const call of this.#calls) if (isOver(call)) call.stopTimer()
    this.#calls = this.#calls.filter((call) => !isOver(call))
  }
}
