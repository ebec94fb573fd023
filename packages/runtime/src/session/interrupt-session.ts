// An interrupt as a session takes it: what was heard is counted in characters, and what waits may be taken back with it.
import type { InterruptOptions } from '@baton/core'
import type { Input } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { insist, NO_ANSWER } from '../engine.ts'
import { countHeard, isInWords } from '../speech/count-heard.ts'

/** @throws BatonError the refusal */
export async function interruptSession(engine: SessionEngine, options: InterruptOptions): Promise<void> {
  const { reason = 'interrupt', heard = { type: 'reported' }, queue = 'keep' } = options
  const waiting = queue === 'withdraw' ? engine.state().queue : []
  const withdrawals = waiting.map(({ inputId }): Input => ({ type: 'withdraw', target: inputId }))
  const counted = isInWords(heard) ? await countHeard(engine, heard) : heard
  const outcomes = await engine.submit([...withdrawals, { type: 'interrupt', reason, heard: counted }])
  insist(outcomes.at(-1) ?? NO_ANSWER)
}
