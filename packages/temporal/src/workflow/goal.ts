// A goal as a workflow: one turn of a session, its verdict as the workflow's result. Any program in any language starts it
// with plain JSON, as a child of another workflow or on a schedule too.
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  continueAsNew,
  workflowInfo,
} from '@temporalio/workflow'
import type { GoalResult, GoalStart, Identity } from '../contract.ts'
import { GOAL_INPUT } from '../contract.ts'
import { readResult } from './activities.ts'
import { SessionRun } from './session-run.ts'

/** @throws ApplicationFailure with the code of what went wrong as its type; CancelledFailure once all calls are settled */
export async function judgeGoal(start: GoalStart): Promise<GoalResult> {
  const { workflowId } = workflowInfo()
  checkGoal(start)
  const run = new SessionRun({ identity: identify(start, workflowId), tuning: start.tuning, carried: start.carried })
  run.listen()
  return await CancellationScope.nonCancellable(async () => {
    await run.open()
    if (!hasAsked(run)) {
      const parts = [{ type: 'text', text: start.goal } as const]
      run.push([{ type: 'user-input', inputId: GOAL_INPUT, parts }])
    }
    for (;;) {
      const end = await run.run(() => hasAsked(run) && run.state.turn === null && run.state.queue.length === 0)
      if (!(await run.settle())) continue
      if (end === 'full') return await continueAsNew<typeof judgeGoal>({ ...start, carried: run.carry() })
      if (end === 'cancelled') throw new CancelledFailure('the goal was cancelled: its calls are settled')
      if (end === 'done') return await readVerdict(run.identity)
    }
  })
}

function hasAsked(run: SessionRun): boolean {
  return run.state.recentInputs.some(({ inputId }) => inputId === GOAL_INPUT)
}

async function readVerdict(identity: Identity): Promise<GoalResult> {
  const result = await readResult({ identity })
  if (result.stop === 'end') return result
  throw ApplicationFailure.create({
    message: `the goal has no verdict: its turn ended with "${result.stop}"${result.error ? `: ${result.error.message}` : ''}`,
    type: result.error?.code ?? `goal_${result.stop.replace('-', '_')}`,
    nonRetryable: true,
    details: [result],
  })
}

function identify(start: GoalStart, session: string): Identity {
  const { agent = '', principal = 'anonymous', tools, outputSchema, limits } = start
  const terms = { ...(tools && { tools }), ...(outputSchema && { outputSchema }), ...(limits && { limits }) }
  return { session, principal, agent, meta: {}, goal: terms }
}

/** @throws ApplicationFailure of type `invalid_goal` */
function checkGoal(start: GoalStart): void {
  const { goal, agent, tools, outputSchema, limits } = (start ?? {}) as Partial<GoalStart>
  const wrong =
    typeof goal !== 'string' || goal.trim() === ''
      ? 'goal must be a text'
      : agent !== undefined && typeof agent !== 'string'
        ? 'agent must be the name of an agent'
        : tools !== undefined && !(Array.isArray(tools) && tools.every((name) => typeof name === 'string'))
          ? 'tools must be a list of names'
          : [outputSchema, limits].some((part) => part !== undefined && (typeof part !== 'object' || part === null))
            ? 'outputSchema and limits must be objects'
            : undefined
  if (wrong === undefined) return
  const message = `the goal cannot be judged: ${wrong}. Its argument is { "agent": name, "goal": text, "tools"?: [names], "outputSchema"?: JSON Schema, "limits"?: {} }`
  throw ApplicationFailure.nonRetryable(message, 'invalid_goal')
}
