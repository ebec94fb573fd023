// The end of a turn before its answer: by an interrupt, which counts what was heard in characters and can withdraw queued
// inputs, or by the signal of its caller.
import type { AbortSignalLike, Interrupted, InterruptOptions, Turn } from '@baton/core/internal'
import { BatonError, readTurnOf } from '@baton/core/internal'
import type { Input } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { insist, NO_ANSWER, submitAlone } from '../engine.ts'
import { countHeard, isInWords } from './count-heard.ts'

/** @throws BatonError the refusal; `invalid_event` for a `turn` that the session does not have */
export async function interruptSession(engine: SessionEngine, options: InterruptOptions): Promise<Interrupted> {
  const { reason = 'interrupt', heard = { type: 'reported' }, queue = 'keep', turn: message } = options
  const turn = message === undefined ? undefined : demandTurn(message)
  const counted = isInWords(heard) ? await countHeard(engine, heard) : heard
  // Read after counting, which may take a while. Inputs queued behind a newer turn are not affected.
  const { counters, queue: inputs } = engine.state()
  const isOver = turn !== undefined && turn < counters.turn
  const waiting = queue === 'withdraw' && !isOver ? inputs : []
  const withdrawals = waiting.map(({ inputId }): Input => ({ type: 'withdraw', target: inputId }))
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

/** Withdraws or interrupts the turn once the signal aborts. `accepted` settles when its input was accepted. */
export function endWithSignal(
  turn: Turn,
  signal: AbortSignalLike,
  { engine, accepted }: { readonly engine: SessionEngine; readonly accepted: Promise<unknown> },
): Turn {
  // A closed session has no turn to end; the answer reports it.
  const abort = (): void => void accepted.then(() => takeBack(engine, turn.id)).catch(ignore)
  signal.addEventListener('abort', abort, { once: true })
  // One signal may outlive many turns.
  const leave = (): void => signal.removeEventListener('abort', abort)
  turn.answer.then(leave, leave)
  return turn
}

/** Withdraws an input, or ends the turn that has read it. */
export async function takeBack(engine: SessionEngine, inputId: string): Promise<void> {
  const withdrawn = await submitAlone(engine, { type: 'withdraw', target: inputId })
  if (withdrawn.type === 'accepted') return
  const { turn, index } = engine.state()
  if (!turn) return
  // The model has read the input: end its turn, and no other. Usually the window shows which turn that was; of an input
  // that was summarised, the log does. The turn is named, since it may be over when the interrupt is decided.
  const isRunning =
    index.some(({ exchange, inputs }) => exchange === turn.exchange && inputs?.includes(inputId)) ||
    (await engine.stream.index.locate(inputId))?.section?.turn === turn.turn
  if (!isRunning) return
  const heard = { type: 'reported' } as const
  await submitAlone(engine, { type: 'interrupt', reason: 'aborted', heard, turn: turn.turn })
}

function ignore(): void {}
