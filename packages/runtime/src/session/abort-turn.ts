// A turn that ends with the signal of whoever asked for it.
import type { AbortSignalLike, Turn } from '@baton/core'
import type { SessionEngine } from '../engine.ts'
import { submitAlone } from '../engine.ts'

/** The turn, which is withdrawn or interrupted once the signal aborts. `accepted`: settles when its input was taken in. */
export function endWithSignal(
  turn: Turn,
  signal: AbortSignalLike,
  { engine, accepted }: { readonly engine: SessionEngine; readonly accepted: Promise<unknown> },
): Turn {
  // A session that is gone has no turn to end: the answer says so.
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
  // The model has read it: its turn ends, and no other one.
  const isRunning = index.some(({ exchange, inputs }) => exchange === turn?.exchange && inputs?.includes(inputId))
  if (isRunning) await submitAlone(engine, { type: 'interrupt', reason: 'aborted', heard: { type: 'reported' } })
}

function ignore(): void {}
