// An interrupt as a session takes it: counts what was heard in characters, and can withdraw queued inputs.
import type { Interrupted, InterruptOptions } from '@baton/core/internal'
import { BatonError, readTurnOf } from '@baton/core/internal'
import type { Input } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { insist, NO_ANSWER } from '../engine.ts'
import { countHeard, isInWords } from './count-heard.ts'

/** @throws BatonError the refusal; `invalid_event` for a `turn` that the session does not have */
export async function interruptSession(engine: SessionEngine, options: InterruptOptions): Promise<Interrupted> {
  const { reason = 'interrupt', heard = { type: 'reported' }, queue = 'keep', turn: message } = options
  const turn = message === undefined ? undefined : demandTurn(message)
  const { counters, queue: inputs } = engine.state()
  // Inputs queued behind a newer turn are not affected.
  const isOver = turn !== undefined && turn < counters.turn
  const waiting = queue === 'withdraw' && !isOver ? inputs : []
  const withdrawals = waiting.map(({ inputId }): Input => ({ type: 'withdraw', target: inputId }))
  const counted = isInWords(heard) ? await countHeard(engine, heard) : heard
  const interrupt: Input = { type: 'interrupt', reason, heard: counted, ...(turn !== undefined && { turn }) }
  const outcomes = await engine.submit([...withdrawals, interrupt])
  const { ended } = insist(outcomes.at(-1) ?? NO_ANSWER)
  return ended === undefined ? {} : { turn: `t${ended}` }
}

/** @throws BatonError `invalid_event` */
function demandTurn(message: string): number {
  const turn = readTurnOf(message)
  if (turn !== undefined) return turn
  throw new BatonError({
    code: 'invalid_event',
    message: `turn is not the id of an answer: "${message.slice(0, 100)}"`,
    hint: 'Send the `message` of its events, such as t1.',
  })
}
