// The changes that an agent's `prepareStep` makes to one step. It is called after the request was built, and before it
// is sent.
import type { Agent, ModelRequest, PrepareStep, StepChange, ToolChoice, Message } from '@baton/core/internal'
import {
  BatonError,
  decodeModelSettings,
  describeValue,
  findNearName,
  isBatonError,
  isJsonObject,
} from '@baton/core/internal'
import { permitSettings } from './permitted.ts'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'
import { copyMessage } from './request.ts'
import type { CallModel, ModelJob } from './jobs.ts'
import type { WorkContext } from './work.ts'

/** Time limit of `prepareStep`, in milliseconds. */
const PREPARE_MS = 30_000

/**
 * Calls `prepareStep` and checks what it returns.
 * @throws BatonError `prepare_step_failed`, which names `prepareStep` and not the provider
 */
export async function askPrepareStep(
  prepareStep: PrepareStep,
  { job, effect, request, context }: { job: ModelJob; effect: CallModel; request: ModelRequest; context: WorkContext },
): Promise<StepChange> {
  const { session, model, rounds = 0, stepNumber = rounds } = job
  const { step, attempt } = effect
  const tools = request.tools.map(({ name }) => name)
  const error = (): BatonError => fail(context, session, `it timed out after ${PREPARE_MS} ms`)
  const messages = request.messages.map(copyMessage)
  const ask = async (): Promise<unknown> =>
    await prepareStep({ session, stepNumber, rounds, step, attempt, model, messages, tools })
  let change: unknown
  try {
    change = (await within(context.timers, { timeoutMs: PREPARE_MS, error }, ask())) ?? {}
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'prepare_step_failed') throw cause
    throw fail(context, session, describeThrown(cause))
  }
  const wrong = findWrongChange(change)
  if (wrong !== undefined) throw fail(context, session, wrong)
  const checked = change as StepChange
  checkNames(checked, { job, tools, context })
  return checked
}

/** Fails on unknown names, unless sources or clients may have brought the tool before. */
function checkNames(
  { tools, toolChoice }: StepChange,
  { job, tools: offered, context }: { job: ModelJob; tools: readonly string[]; context: WorkContext },
): void {
  const { agent, log } = context
  const here = new Set([...offered, ...context.tools.map(({ name }) => name)])
  // Permissions may have removed a tool: that is not the author's mistake.
  const known = new Set([...here, ...agent.tools.map(({ name }) => name)])
  const chosen = toolChoice?.type === 'tool' ? [toolChoice.name] : []
  const unknown = [...(tools ?? []), ...chosen].filter((name) => !known.has(name))
  const [first] = unknown
  if (first !== undefined) {
    if (agent.sources.length === 0 && job.clientTools.length === 0) {
      const near = findNearName(known, first)
      const hint = near === undefined ? `its tools are ${[...known].join(', ') || 'none'}` : `did you mean "${near}"?`
      throw fail(
        context,
        job.session,
        `it names the tool "${first}", which agent "${agent.name}" does not have; ${hint}`,
      )
    }
  }
  const absent = [...(tools ?? []), ...chosen].filter((name) => !here.has(name))
  if (absent.length > 0)
    log.warn('prepareStep names tools that the session does not have', { session: job.session, absent })
  const [choice] = chosen
  if (choice !== undefined && tools && known.has(choice) && !tools.includes(choice))
    throw fail(context, job.session, `its toolChoice is "${choice}", which its tools do not include`)
}

function fail({ agent, log }: WorkContext, session: string, why: string): BatonError {
  const message = `prepareStep of agent "${agent.name}" failed: ${why}`
  log.warn('a step could not be prepared', { session, cause: why })
  return new BatonError({ code: 'prepare_step_failed', message, hint: 'Fix the agent’s prepareStep.' })
}

type Check = (value: unknown) => string | undefined

function check(isRight: (value: unknown) => boolean, right: string): Check {
  return (value) => (isRight(value) ? undefined : `must be ${right}, not ${describeValue(value)}`)
}

function isModel(value: unknown): boolean {
  const { id, run } = Object(value) as { readonly id?: unknown; readonly run?: unknown } // any value has fields
  return typeof id === 'string' && typeof run === 'function'
}

const CHOICES: ReadonlySet<unknown> = new Set(['auto', 'any', 'none', 'tool'])

const FIELDS: Readonly<Record<string, Check>> = {
  tools: check(
    (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
    'a list of names of tools',
  ),
  toolChoice: check(
    (value) =>
      isJsonObject(value) &&
      CHOICES.has(value['type']) &&
      (value['type'] !== 'tool' || typeof value['name'] === 'string'),
    '{ type: "auto" }, { type: "any" }, { type: "none" } or { type: "tool", name }',
  ),
  model: check(
    (value) => (typeof value === 'string' ? value !== '' : isModel(value)),
    'the id of a model or a model of Baton',
  ),
  instructions: check((value) => typeof value === 'string', 'text'),
  settings: (value) => {
    const decoded = decodeModelSettings(value)
    return decoded.ok ? undefined : `is wrong: ${decoded.refusal.message}`
  },
  messages: findWrongMessage,
}

function findWrongChange(change: unknown): string | undefined {
  if (typeof change !== 'object' || change === null || Array.isArray(change))
    return `it must return an object, not ${describeValue(change)}`
  for (const [name, value] of Object.entries(change) as Iterable<[string, unknown]>) {
    const find = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
    if (!find) {
      const meant = STEP_ELSEWHERE[name] ?? findNearName(Object.keys(FIELDS), name)
      const listed = `its fields are ${Object.keys(FIELDS).join(', ')}`
      return `it returned a field "${name}"; ${meant === undefined ? listed : `Baton names it "${meant}"`}`
    }
    const wrong = value === undefined ? undefined : find(value)
    if (wrong !== undefined) return `its field "${name}" ${wrong}`
  }
  return undefined
}

/** Names that the AI SDK uses for fields of a step. */
const STEP_ELSEWHERE: Readonly<Record<string, string>> = { activeTools: 'tools', system: 'instructions' }

/** @param agent its permissions also apply to the change */
export function applyStepChange(
  request: ModelRequest,
  change: StepChange,
  { agent, effect }: { readonly agent: Agent; readonly effect: CallModel },
): ModelRequest {
  const { tools, toolChoice, instructions, settings, messages } = change
  const inForce = tools && new Set(tools)
  const offered = inForce ? request.tools.filter(({ name }) => inForce.has(name)) : request.tools
  // When the rounds are used up, the choice is `none`.
  const wish = toolChoice && effect.choice === 'auto' ? toolChoice : request.toolChoice
  return {
    ...request,
    tools: offered,
    // A provider refuses the choice of a tool that the step does not have.
    toolChoice: canBeChosen(wish, offered) ? wish : { type: effect.choice },
    ...(messages && { messages }),
    ...(instructions !== undefined && { instructions }),
    ...(settings && { settings: permitSettings(agent, { ...request.settings, ...settings }) }),
  }
}

function canBeChosen(choice: ToolChoice, tools: ModelRequest['tools']): boolean {
  if (choice.type === 'tool') return tools.some(({ name }) => name === choice.name)
  return choice.type !== 'any' || tools.length > 0
}

/** Part types by role; others are refused. */
const PARTS: Readonly<Record<Message['role'], readonly string[]>> = {
  user: ['text', 'image', 'file'],
  assistant: ['text', 'reasoning', 'call', 'source', 'provider'],
  tool: ['result'],
}

type Fields = Readonly<Record<string, unknown>>

/** Says what is wrong with a list of messages; undefined if a model can be asked with it. */
export function findWrongMessage(value: unknown): string | undefined {
  if (!Array.isArray(value)) return `must be a list of messages, not ${describeValue(value)}`
  /** Ids of the calls whose results must follow. */
  let open: readonly unknown[] = []
  for (const [index, message] of (value as readonly unknown[]).entries()) {
    const where = `has a wrong message at index ${index}`
    const { role, parts } = readFields(message)
    const types = typeof role === 'string' && Object.hasOwn(PARTS, role) ? PARTS[role as Message['role']] : undefined
    if (!types) return `${where}: its role must be "user", "assistant" or "tool", not ${describeValue(role)}`
    if (!Array.isArray(parts)) return `${where}: its parts must be a list, not ${describeValue(parts)}`
    const all = (parts as readonly unknown[]).map(readFields)
    const strange = all.find(({ type }) => !types.includes(String(type)))
    if (strange)
      return `${where}: a ${String(role)} message has parts of type ${types.join(', ')}, not ${describeValue(strange['type'])}`
    const broken = all.find((part) => !isWhole(part))
    if (broken) return `${where}: a part of type "${String(broken['type'])}" lacks a field`
    const ids = all.filter(({ type }) => type === 'call' || type === 'result').map(({ callId }) => callId)
    if (role === 'tool' ? !isSameList(ids, open) : open.length > 0)
      return `${where}: the calls ${list(open)} of the assistant message before need their results here, and this has ${list(role === 'tool' ? ids : [])}`
    open = role === 'assistant' ? ids : []
  }
  if (open.length > 0) return `ends with the calls ${list(open)}, which have no results`
  return value.length === 0 ? 'must have at least one message' : undefined
}

function readFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function isWhole({ type, text, callId, name, content, arguments: given, source }: Fields): boolean {
  switch (type) {
    case 'text':
    case 'reasoning':
      return typeof text === 'string'
    case 'call':
      return typeof callId === 'string' && typeof name === 'string' && typeof given === 'string'
    case 'result':
      return typeof callId === 'string' && typeof name === 'string' && Array.isArray(content)
    case 'image':
    case 'file':
      return typeof source === 'object' && source !== null
    default:
      return true
  }
}

function isSameList(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && others.every((one) => some.includes(one))
}

function list(ids: readonly unknown[]): string {
  return ids.length === 0 ? 'none' : ids.map(String).join(', ')
}
