// A goal as a workflow: one turn of a session, followed by turns that its tasks begin. The last verdict is the workflow's result.
// Programs in any language can start it with plain JSON, also as a child workflow or on a schedule.
import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  continueAsNew,
  patched,
  workflowInfo,
} from '@temporalio/workflow'
import type { Principal } from '@baton/core/internal'
import type { State } from '@baton/core/machine'
import type { GoalResult, GoalStart, Identity } from '../contract.ts'
import { GOAL_INPUT } from '../contract.ts'
import { readResult } from './activities.ts'
import { SessionRun } from './session-run.ts'

/** @throws ApplicationFailure with the failure's code as its type; CancelledFailure once all calls are settled */
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
    const isJudged = (): boolean => hasAsked(run.state) && isAtEnd(run.state)
    for (;;) {
      const end = await run.run(isJudged)
      if (!(await run.settle())) continue
      if (end === 'full') return await continueAsNew<typeof judgeGoal>({ ...start, carried: run.carry() })
      if (end === 'cancelled') throw new CancelledFailure('the goal was cancelled: its calls are settled')
      if (end === 'done' || (end === 'idle' && isJudged())) return await readVerdict(run)
    }
  })
}

/** Ignores the ends of tasks that may begin no more turns: a goal must not wait for a user. */
function isAtEnd({ turn, queue, batch, children, tasks }: State): boolean {
  const isHeard = batch === null && queue.every(({ type, ready }) => type === 'task' && !ready)
  return turn === null && isHeard && children.length === 0 && tasks.length === 0
}

function hasAsked({ recentInputs }: State): boolean {
  return recentInputs.some(({ inputId }) => inputId === GOAL_INPUT)
}

/** Checks an existing log of this id. @throws ApplicationFailure of type `session_exists` or `unauthorized` */
function checkOwnLog(state: State, { session, principal }: Identity): void {
  if (state.principal !== principal)
    throw ApplicationFailure.nonRetryable(`session ${session} belongs to another principal`, 'unauthorized')
  if (hasAsked(state) || state.recentInputs.length === 0) return
  const message = `session ${session} is a conversation that was not started as a goal; give the goal another workflow id`
  throw ApplicationFailure.nonRetryable(message, 'session_exists')
}

async function readVerdict({ identity, state }: SessionRun): Promise<GoalResult> {
  const result = await readResult({ identity, pos: state.pos })
  if (result.stop === 'end') return result
  throw ApplicationFailure.create({
    message: `the goal has no verdict: its turn ended with "${result.stop}"${result.error ? `: ${result.error.message}` : ''}`,
    type: result.error?.code ?? `goal_${result.stop.replace('-', '_')}`,
    nonRetryable: true,
    details: [result],
  })
}

function identify(start: GoalStart, session: string): Identity {
  const { agent = '', principal, tools, outputSchema, limits } = start
  const terms = { ...(tools && { tools }), ...(outputSchema && { outputSchema }), ...(limits && { limits }) }
  return { session, principal: readPrincipalId(principal), agent, meta: {}, goal: terms }
}

/** Goals of earlier versions have the id as text. */
function readPrincipalId(given: Principal | string = 'anonymous'): string {
  return typeof given === 'object' ? given.id : given
}

const FIELDS = ['agent', 'goal', 'principal', 'tools', 'outputSchema', 'limits', 'tuning', 'carried'] as const

/** @throws ApplicationFailure of type `invalid_goal` */
function checkGoal(start: GoalStart): void {
  const wrong = findWrong(start)
  if (wrong === undefined) return
  const message = `the goal cannot be judged: ${wrong}. Its argument must be { "agent": name, "goal": text, "tools"?: [names], "outputSchema"?: JSON Schema, "limits"?: {}, "principal"?: { "id": text } }`
  throw ApplicationFailure.nonRetryable(message, 'invalid_goal')
}

/** Finds mistakes of callers in any language; an unknown field would be ignored silently. */
function findWrong(start: unknown): string | undefined {
  if (typeof start !== 'object' || start === null || Array.isArray(start)) return 'its argument is not an object'
  const { goal, agent, principal, tools, outputSchema, limits, carried } = start as Partial<GoalStart>
  // An earlier version accepted it, so goals it has started continue.
  const unknown = carried ? undefined : Object.keys(start).find((name) => !FIELDS.some((field) => field === name))
  if (unknown !== undefined && patched(STRICT_GOALS)) return describeUnknown(unknown)
  if (typeof goal !== 'string' || goal.trim() === '') return 'goal must be a non-empty string'
  if (agent !== undefined && typeof agent !== 'string') return 'agent must be the name of an agent'
  if (principal !== undefined && !isPrincipal(principal, carried !== undefined))
    return 'principal must be { "id": text }'
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((name) => typeof name === 'string')))
    return 'tools must be a list of names'
  const parts = [outputSchema, limits].filter((part) => part !== undefined)
  if (parts.some((part) => typeof part !== 'object' || part === null)) return 'outputSchema and limits must be objects'
  return undefined
}

/** Earlier versions took an id as text, so goals they have started continue. */
function isPrincipal(given: unknown, isCarried: boolean): boolean {
  if (typeof given === 'string') return isCarried || !patched(PRINCIPAL_OBJECTS)
  const isObject = typeof given === 'object' && given !== null && 'id' in given && typeof given.id === 'string'
  return isObject || !patched(STRICT_GOALS)
}

/** Marks goals whose principal may not be text, since the version that takes an object. */
const PRINCIPAL_OBJECTS = 'baton-goal-principals'

/** Marks goals checked for unknown fields, since the version that refuses them. */
const STRICT_GOALS = 'baton-strict-goals'

/** The usual mistake is a letter's case: Go capitalizes field names. */
function describeUnknown(name: string): string {
  const meant = FIELDS.slice(0, -2).find((field) => field.toLowerCase() === name.replaceAll(/[_-]/g, '').toLowerCase())
  const said = `it has no field "${name.slice(0, 100)}"`
  return meant === undefined ? said : `${said}; did you mean "${meant}"?`
}
