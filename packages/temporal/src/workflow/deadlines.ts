// A timer for the earliest deadline of a session. One that is set stays: that it fires for nothing costs less than to cancel
// it and to set another one with every turn.
import { sleep } from '@temporalio/workflow'
import type { AwaitedEffect, InputOf, State } from '@baton/core/machine'
import { outstanding } from '@baton/core/machine'

export class Deadlines {
  /** The timer has fired, and nobody has looked what is due. */
  isDue = false
  /** In the session's time: as late as a timer has proved it to be, whatever the service's clock says. */
  reachedMs = 0
  /** When the timers that run will fire, in the session's time. */
  #runningMs: readonly number[] = []

  /** `idleAtMs`: when a session that rests has rested for long enough; Infinity for one that does not. */
  set(state: State, nowMs: number, idleAtMs: number): void {
    const atMs = Math.min(idleAtMs, ...listTimers(state).map((timer) => timer.atMs))
    if (!Number.isFinite(atMs) || this.#runningMs.some((running) => running <= atMs)) return
    this.#runningMs = [...this.#runningMs, atMs]
    sleep(Math.max(1, atMs - nowMs)).then(
      () => {
        this.#runningMs = this.#runningMs.filter((running) => running !== atMs)
        this.isDue = true
        this.reachedMs = Math.max(this.reachedMs, atMs)
      },
      () => {}, // nothing cancels it
    )
  }

  takeDue(state: State, nowMs: number): readonly InputOf<'timer-fired'>[] {
    if (!this.isDue) return []
    this.isDue = false
    const due = listTimers(state).filter(({ atMs }) => atMs <= nowMs)
    return due.map(({ timer, generation }) => ({ type: 'timer-fired', timer, generation }))
  }
}

function listTimers(state: State): readonly Extract<AwaitedEffect, { readonly type: 'set-timer' }>[] {
  return outstanding(state).filter((effect) => effect.type === 'set-timer')
}
