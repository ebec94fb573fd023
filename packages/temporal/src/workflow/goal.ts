// A goal as a workflow: one turn of a session, its verdict as the workflow's result. Any program in any language starts it
// with plain JSON, as a child of another workflow or on a schedule too.
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  continueAsNew,
  workflowInfo,
} from '@temporalio/workflow'
import type { State } from '@baton/core/machine'
import type { GoalResult, GoalStart, Identity } from '../contract.ts'
import { GOAL_INPUT } from '../contract.ts'
import { readResult } from './activities.ts'
import { SessionRun } from './session-run.ts'

/** @throws ApplicationFailure with the code of what went wrong as its type; CancelledFailure once all calls are settled */
export async function judgeGoal(start: GoalStart): Promise<GoalResult> {
  const { workflowId } = workflowInfo()
  checkGoal(start)
  const { tuning, carried } = start
  const identity = identify(start, workflowId)
  const run = new SessionRun({ identity, tuning, carried, checkFound: (state) => checkOwnLog(state, identity) })
  run.listen()
  return await CancellationScope.nonCancellable(async () => {
    await run.open()
    if (!hasAsked(run.state)) {
      const parts = [{ type: 'text', text: start.goal } as const]
      run.push([{ type: 'user-input', inputId: GOAL_INPUT, parts }])
    }
    for (;;) {
      const end = await run.run(() => hasAsked(run.state) && run.state.turn === null && run.state.queue.length === 0)
      if (!(await run.settle())) continue
      if (end === 'full') return await continueAsNew<typeof judgeGoal>({ ...start, carried: run.carry() })
      if (end === 'cancelled') throw new CancelledFailure('the goal was cancelled: its calls are settled')
      if (end === 'done') return await readVerdict(run.identity)
    }
  })
}

function hasAsked({ recentInputs }: State): boolean {
  return recentInputs.some(({ inputId }) => inputId === GOAL_INPUT)
}

/** The log of an id may be there already. @throws ApplicationFailure of type `session_exists` or `unauthorized` */
function checkOwnLog(state: State, { session, principal }: Identity): void {
  if (state.principal !== principal)
    throw ApplicationFailure.nonRetryable(`session ${session} belongs to another principal`, 'unauthorized')
  if (hasAsked(state) || state.recentInputs.length === 0) return
  const message = `session ${session} is a conversation that was not begun as a goal; give the goal another workflow id`
  throw ApplicationFailure.nonRetryable(message, 'session_exists')
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
