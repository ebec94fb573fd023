// Ends a turn when its caller's signal aborts.
import type { AbortSignalLike, Turn } from '@baton/core/internal'
import type { SessionEngine } from '../engine.ts'
import { submitAlone } from '../engine.ts'

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

async function takeBack(engine: SessionEngine, inputId: string): Promise<void> {
  const withdrawn = await submitAlone(engine, { type: 'withdraw', target: inputId })
  if (withdrawn.type === 'accepted') return
  const { turn, index } = engine.state()
  // The model has read the input: end its turn, and no other.
  const isRunning = index.some(({ exchange, inputs }) => exchange === turn?.exchange && inputs?.includes(inputId))
  if (isRunning) await submitAlone(engine, { type: 'interrupt', reason: 'aborted', heard: { type: 'reported' } })
}

function ignore(): void {}
