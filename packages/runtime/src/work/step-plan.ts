// The changes that an agent's `prepareStep` makes to one step. It is called after the request was built, and before it
// is sent.
import type { Agent, ModelRequest, PrepareStep, StepChange, ToolChoice } from '@baton/core'
import { BatonError, decodeModelSettings, isBatonError, isJsonObject } from '@baton/core'
import { permitSettings } from '../catalog/permitted.ts'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'
import { copyMessage } from './conversation.ts'
import type { CallModel, ModelJob } from './jobs.ts'
import type { WorkContext } from './work.ts'

/** Time limit of `prepareStep`, in milliseconds. */
const PREPARE_MS = 30_000

/**
 * Calls `prepareStep`. If it throws or returns an invalid change, the error names `prepareStep` and not the provider.
 * @throws BatonError `internal`
 */
export async function askPrepareStep(
  prepareStep: PrepareStep,
  { job, effect, request, context }: { job: ModelJob; effect: CallModel; request: ModelRequest; context: WorkContext },
): Promise<StepChange> {
  const { session, model, rounds = 0 } = job
  const { step, attempt } = effect
  const tools = request.tools.map(({ name }) => name)
  const error = (): BatonError => fail(context, session, `it timed out after ${PREPARE_MS} ms`)
  const ask = async (): Promise<unknown> =>
    await prepareStep({ session, step, rounds, attempt, model, messages: request.messages.map(copyMessage), tools })
  let change: unknown
  try {
    change = (await within(context.timers, { timeoutMs: PREPARE_MS, error }, ask())) ?? {}
  } catch (cause) {
    throw isBatonError(cause) ? cause : fail(context, session, describeThrown(cause))
  }
  const wrong = findWrongChange(change)
  if (wrong !== undefined) throw fail(context, session, wrong)
  const checked = change as StepChange
  const unknown = checked.tools?.filter((name) => !tools.includes(name)) ?? []
  if (unknown.length > 0)
    context.log.warn('prepareStep names tools that the session does not have', { session, unknown })
  return checked
}

function fail({ agent, log }: WorkContext, session: string, why: string): BatonError {
  const message = `prepareStep of agent "${agent.name}" failed: ${why}`
  log.warn('a step could not be prepared', { session, cause: why })
  return new BatonError({ code: 'internal', message, hint: 'Fix the agent’s prepareStep.' })
}

const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  tools: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
  toolChoice: (value) => isJsonObject(value) && typeof value['type'] === 'string',
  model: (value) => typeof value === 'string',
  instructions: (value) => typeof value === 'string',
  settings: (value) => decodeModelSettings(value).ok,
}

function findWrongChange(change: unknown): string | undefined {
  if (!isJsonObject(change)) return `it must return an object, not ${typeof change}`
  for (const [name, value] of Object.entries(change)) {
    const isRight = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
    if (!isRight) return `it returned an unknown field "${name}"; known fields: ${Object.keys(FIELDS).join(', ')}`
    if (value === undefined || isRight(value)) continue
    const decoded = name === 'settings' ? decodeModelSettings(value) : undefined
    return decoded?.ok === false ? decoded.refusal.message : `its field "${name}" is wrong`
  }
  return undefined
}

/** @param agent its permissions also apply to the change */
export function applyStepChange(
  request: ModelRequest,
  change: StepChange,
  { agent, effect }: { readonly agent: Agent; readonly effect: CallModel },
): ModelRequest {
  const { tools, toolChoice, instructions, settings } = change
  const inForce = tools && new Set(tools)
  const offered = inForce ? request.tools.filter(({ name }) => inForce.has(name)) : request.tools
  // When the rounds are used up, the choice is `none`.
  const wish = toolChoice && effect.choice === 'auto' ? toolChoice : request.toolChoice
  return {
    ...request,
    tools: offered,
    // A provider refuses the choice of a tool that the step does not have.
    toolChoice: canBeChosen(wish, offered) ? wish : { type: effect.choice },
    ...(instructions !== undefined && { instructions }),
    ...(settings && { settings: permitSettings(agent, { ...request.settings, ...settings }) }),
  }
}

function canBeChosen(choice: ToolChoice, tools: ModelRequest['tools']): boolean {
  if (choice.type === 'tool') return tools.some(({ name }) => name === choice.name)
  return choice.type !== 'any' || tools.length > 0
}
