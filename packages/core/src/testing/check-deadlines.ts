// Checks that whatever a session waits for has an end.
import type { Call, State } from '../machine/index.ts'
import { openTasks, outstanding, PARENT } from '../machine/index.ts'
import { fail } from './invariant-error.ts'

/** Every state that waits for anything but people must have something due. */
export function checkDeadlines(state: State): void {
  const timers = new Set(outstanding(state).flatMap((effect) => (effect.type === 'set-timer' ? [effect.timer] : [])))
  const busy = state.phase === 'modelling' || state.phase === 'summarising' || state.phase === 'interrupting'
  if (busy && !timers.has('turn') && !timers.has('interrupt'))
    fail('6 every wait ends', `${state.phase} without a deadline`)
  if (state.phase === 'modelling' && !state.attempt && !timers.has('retry'))
    fail('6 every wait ends', 'modelling, but nothing is asked and nothing waits')
  const calls = state.step?.calls.filter((call) => call.state !== 'settled') ?? []
  const open = [...calls, ...(state.phase === 'paused' ? [] : openTasks(state))]
  for (const call of open) {
    const asks = call.questions.some(({ id }) => timers.has(`question:${id}`))
    const own = asks || ['call', 'approval', 'child'].some((name) => timers.has(`${name}:${call.callId}`))
    const behind = call.state === 'ready' && open.length > 1
    if (waitsElsewhere(state, call)) continue
    if (!own && !timers.has('turn') && !timers.has('grace') && state.phase !== 'paused' && !behind)
      fail('6 every wait ends', `${call.callId} (${call.state}) waits without a deadline`)
  }
}

/** The root times what its children ask. A delegated call waits as its child does, which is checked there. */
function waitsElsewhere({ parent, children }: State, { callId, state, offer, questions }: Call): boolean {
  if (children.some((child) => child.callId === callId && child.waits)) return true
  if (!parent) return false
  return state === 'awaiting-approval' || offer?.connection === PARENT || questions.length > 0
}
