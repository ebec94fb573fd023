// Several inputs decided on top of each other, as one commit: records to be stored, effects to be performed, and an answer
// for each input.
import type { Accepted, Refused } from '@baton/core'
import type { AwaitedEffect, Effect, Input, SessionRecord, Spec, State } from '@baton/core/machine'
import { decide, effectKey, isWithdrawing, outstanding, makeRecord } from '@baton/core/machine'

export interface DecidedBatch {
  readonly state: State
  readonly records: readonly SessionRecord[]
  /** To be performed once the records are stored. */
  readonly effects: readonly Effect[]
  /** One for each input, in their order. */
  readonly answers: readonly (Accepted | Refused)[]
}

export interface BatchStart {
  readonly spec: Spec
  readonly state: State
  readonly nowMs: number
}

export function decideBatch({ spec, state: before, nowMs }: BatchStart, inputs: readonly Input[]): DecidedBatch {
  const records: SessionRecord[] = []
  const effects: Effect[] = []
  let state = before
  const answers = inputs.map((input): Accepted | Refused => {
    const decision = decide(spec, state, input, nowMs)
    if (decision.type === 'refused') return { type: 'refused', ...decision.refusal }
    if (decision.facts.length > 0) {
      records.push(makeRecord(input, decision))
      effects.push(...decision.effects)
      state = decision.state
    }
    return { type: 'accepted', pos: decision.seenAt ?? state.pos }
  })
  return { state, records, answers, effects: inputs.length === 1 ? effects : keepOwed(effects, outstanding(state)) }
}

/** An effect that a later input withdrew again is not begun at all. */
function keepOwed(effects: readonly Effect[], owed: readonly AwaitedEffect[]): readonly Effect[] {
  const keys = new Set(owed.map(effectKey))
  return effects.filter((effect) => isWithdrawing(effect) || keys.has(effectKey(effect)))
}
