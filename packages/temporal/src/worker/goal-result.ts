// Reads the result of a goal from its session's events, as any front would.
import type { CallView } from '@baton/core'
import { createSession } from '@baton/runtime'
import type { GoalResult, Identity } from '../contract.ts'
import { GOAL_INPUT } from '../contract.ts'
import type { Places } from './places.ts'

/** @throws BatonError `store_failed`, `invalid_agent` */
export async function readGoalResult(places: Places, identity: Identity): Promise<GoalResult> {
  const place = await places.enter(identity)
  const { session: id, principal } = identity
  const newId = (): string => id // no input is sent
  const fork = (): Promise<string> => Promise.resolve(id)
  const session = createSession({
    engine: place.view.replica,
    principal: { id: principal },
    newId,
    onClose: () => {},
    fork,
  })
  try {
    const calls = new Map<string, CallView>()
    const turn = session.turn(GOAL_INPUT)
    turn.answer.catch(() => {}) // the events report it too
    for await (const event of turn) {
      if (event.type === 'call') calls.set(event.call.callId, event.call)
      if (event.type !== 'turn-finished') continue
      const { stop, text, usage, error } = event
      const output = stop === 'end' && place.world.output ? await place.world.output.read(text) : undefined
      return {
        session: id,
        stop,
        text,
        ...(output !== undefined && { output: output as NonNullable<GoalResult['output']> }), // read from JSON
        calls: [...calls.values()].map(({ callId, name, input, result }) => ({
          callId,
          name,
          input,
          ...(result && { result }),
        })),
        usage,
        ...(error && { error }),
      }
    }
    throw new Error(`the turn of goal ${id} has not ended`)
  } finally {
    await session.close()
    place.leave()
  }
}
