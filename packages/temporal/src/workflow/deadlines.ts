// A timer for a session's earliest deadline. It is never cancelled: letting it fire for nothing costs less than
// cancelling it and setting another one with every turn.
import { sleep } from '@temporalio/workflow'
import type { AwaitedEffect, InputOf, State } from '@baton/core/machine'
import { outstanding } from '@baton/core/machine'

export class Deadlines {
  /** Whether the timer has fired and due deadlines were not checked yet. */
  isDue = false
  /** The latest session time proved by a timer, whatever the service's clock says. */
  reachedMs = 0
  /** When the running timers will fire, in session time. */
  #runningMs: readonly number[] = []

  /** `idleAtMs`: when a session at rest has rested for long enough; Infinity if it is not at rest. */
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
      () => {}, // it is never cancelled
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
