// One session of a simulated world as its stored records tell it, whatever its host believes.
import type { History, SessionRecord, State } from '@baton/core/machine'
import { createHistory, effectKey, initialState, outstanding } from '@baton/core/machine'
import type { InvariantChecker, InvariantOptions } from '@baton/core/testing'
import { createInvariantChecker } from '@baton/core/testing'

export interface ObservedSession {
  state: State
  readonly history: History
  readonly checker: InvariantChecker
  readonly timeChecker: TimeChecker
  /** Every record, as it was stored. */
  readonly records: SessionRecord[]
  snapshots: number
}

export interface ObserveOptions extends InvariantOptions {
  /** Maximum milliseconds between a decision and its record. */
  readonly storingMs: number | undefined
}

export function observeSession(session: string, { storingMs, ...options }: ObserveOptions): ObservedSession {
  return {
    state: initialState(session),
    history: createHistory({ keepAll: true }),
    checker: createInvariantChecker(options),
    timeChecker: createTimeChecker(storingMs),
    records: [],
    snapshots: 0,
  }
}

export interface TimeChecker {
  /** `nowMs`: the true time at which the record was stored. @throws Error describing what is wrong */
  observe(step: TimeStep): void
}

interface TimeStep {
  readonly before: State
  readonly after: State
  readonly record: SessionRecord
  readonly nowMs: number
}

/** Maximum milliseconds between a decision and its record: a slow store, and retried appends. */
const STORING_MS = 15_000

function createTimeChecker(storingMs = STORING_MS): TimeChecker {
  let owner: { readonly epoch: number; readonly recordMs: number; readonly nowMs: number } | undefined
  return {
    observe: ({ before, after, record, nowMs }) => {
      if (record.input.type === 'timer-fired') checkFiring(before, after)
      // Its next owner may have been away for the whole time shown by the wall clock.
      if (owner?.epoch !== record.epoch) owner = { epoch: record.epoch, recordMs: record.nowMs, nowMs }
      const passedMs = nowMs - owner.nowMs
      const countedMs = record.nowMs - owner.recordMs
      if (Math.abs(passedMs - countedMs) > storingMs)
        throw new Error(`record ${record.pos}: the session counted ${countedMs} ms while ${passedMs} ms passed`)
    },
  }
}

/** The wait that it fired for has ended, with others or without, or one was due that stays: a grace that ends no child. */
function checkFiring(before: State, after: State): void {
  const owed = new Set(outstanding(after).map(effectKey))
  const timers = outstanding(before).flatMap((effect) => (effect.type === 'set-timer' ? [effect] : []))
  const early = timers.filter((effect) => !owed.has(effectKey(effect))).map(({ atMs }) => atMs - after.nowMs)
  if (early.length > 0 && early.every((ms) => ms > 0) && timers.every(({ atMs }) => atMs > after.nowMs))
    throw new Error(`a timer fired ${Math.min(...early)} ms before its time`)
}
