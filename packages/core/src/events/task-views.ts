// Calls in the background, as people and programs list them.
import type { History } from '../machine/history.ts'
import type { State } from '../machine/state.ts'
import { openTasks } from '../machine/state.ts'
import { readCallResult, withDetail } from './call-results.ts'
import { readAbout, readInput, readKnownCall } from './call-views.ts'
import type { CallView } from './session-event.ts'

/** Open tasks, and the newest ended ones, as people see them: oldest first. */
export function viewTasks(state: State, history: History): readonly CallView[] {
  const open = openTasks(state).map((task) => readKnownCall(state, task, history).view)
  const bodies = new Map(history.tasks().map((body) => [body.callId, body]))
  const ended = state.endedTasks.flatMap((task): readonly CallView[] => {
    const body = bodies.get(task.callId)
    if (!body?.ended) return []
    const { callId, name, runs, effect, provenance, begunMs } = task
    return [
      {
        callId,
        message: `t${task.turn}`,
        step: body.step,
        name,
        ...(body.about && readAbout(body.about)),
        input: readInput(body.arguments),
        ...(body.isEdited && { inputEdited: true }),
        runs: runs === 'client' ? runs : 'server',
        effect,
        ...(provenance && { provenance }),
        status: 'settled',
        task: 'settled',
        result: withDetail(readCallResult(body.ended.settlement), body.ended.detail),
        begunMs,
      },
    ]
  })
  return [...ended, ...open]
}
