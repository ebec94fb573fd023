// An agent: a plain value with a model, instructions, tools and limits. It knows no host.
import type {
  AgentProfile,
  AnswerContext,
  AnswerToCheck,
  AnswerVerdict,
  EventKind,
  PrepareStep,
  CollisionPolicy,
  ToolSource,
} from './agent-options.ts'
import { BatonError } from '../errors.ts'
import type { BatchSpec, Limits, OrderRule, RetrySpec, StopRule, WindowSpec } from '../machine/spec.ts'
import { toObjectSchema } from './schema.ts'
import type { FieldIsNamed, FieldKind } from '../shape/known-fields.ts'
import { checkFields, checkKinds, findMeant } from '../shape/known-fields.ts'
import { AGENT_ELSEWHERE, LIMITS_ELSEWHERE, RETRY_ELSEWHERE, WINDOW_ELSEWHERE } from './names-elsewhere.ts'
import { describeValue } from '../shape/value-reader.ts'
import type { OutputOf, Schema } from './schema.ts'
import type { JsonObject } from '../json.ts'
import { DEFAULT_BATCH, DEFAULT_LIMITS, DEFAULT_RETRY, DEFAULT_WINDOW } from '../machine/spec.ts'
import type { Model } from './model.ts'
import type { ModelSettings } from '../model-settings.ts'
import type { Permissions } from './permissions.ts'
import {
  checkModel,
  checkOrder,
  checkStopWhen,
  checkSources,
  createNamedProfile,
  nameTools,
  readBackgroundRules,
  readEventKinds,
  readPermissions,
} from './check-agent.ts'
import type { RESERVED_NAME } from './reserved-name.ts'
import type { ApprovalPolicy } from './policy.ts'
import type { Tool, ToolContext } from './tool.ts'
import { decodeModelSettings } from './decode-command.ts'

/** Options of `defineAgent`. Only `name` is required: `defineAgent({ name: 'helper', model, tools: [search] })`. */
export interface AgentOptions<
  Output extends Schema | undefined = Schema | undefined,
  Tools extends readonly Tool[] = readonly Tool[],
  Sources extends readonly ToolSource[] = readonly ToolSource[],
> extends AgentProfile {
  /** 1 to 64 characters; part of the log and of telemetry. */
  readonly name: string
  /** A model, a model id (`anthropic/claude-haiku-4-5`), or several in fallback order. By default the host chooses. */
  readonly model?: string | Model | readonly (string | Model)[]
  readonly instructions?: string
  readonly tools?: Tools
  /** Sources whose tools may change during a session. */
  readonly sources?: Sources
  /** How to handle two tools of the same name; `refuse` by default. */
  readonly collisions?: CollisionPolicy
  /** Decides before a person is asked; a verdict wins over the tool's own `approval`. */
  readonly approvalPolicy?: ApprovalPolicy
  /**
   * Hard limits on what the agent may do, regardless of approvals. If there are several, each must allow the action.
   * Everything by default.
   */
  readonly permissions?: Permissions | readonly Permissions[]
  /** Changes one step: the tools in force, the model that answers, its instructions, settings and messages. */
  readonly prepareStep?: PrepareStep<ToolName<Tools, Sources>>
  /**
   * The tool that each turn starts with: until it has an `ok` result in the turn, other calls are denied and answers
   * are sent back. The machine enforces it, whatever the model does; if the provider supports `toolChoice`, the model
   * is made to call it.
   */
  readonly firstTool?: string
  /** Tools that need an `ok` result in the turn before another tool runs, or before an answer is accepted. */
  readonly order?: readonly OrderRule[]
  /**
   * Ends a turn with `stop: 'tool'` once the calls of a step have settled: `{ tool: 'submit' }` after an `ok` result of
   * that tool, `{ rounds: 5 }` after five steps with calls. While `firstTool` or `order` still requires a tool before
   * the answer, the turn continues. `limits.toolRounds` instead asks the model for a last answer without tools.
   */
  readonly stopWhen?: StopRule | readonly StopRule[]
  /**
   * Checks each answer before it is accepted: accepts it, sends it back to the model with a reason, or passes it to a
   * person. Times out after 30 seconds. If it throws or returns no verdict, the turn fails with `internal`: an answer
   * is never accepted unchecked.
   */
  checkAnswer?(answer: AnswerToCheck<OutputOf<Output>>, context: AnswerContext): AnswerVerdict | Promise<AnswerVerdict>
  /**
   * Tools of sources and clients whose calls run in the background, by name patterns such as `export_*`, as `background`
   * of `tool()`. The first pattern that fits counts. An agent's own tools say it themselves.
   */
  readonly background?: Readonly<Record<string, boolean | 'model'>>
  /**
   * Kinds of events from outside that the agent accepts, by name, each with the schema of its data. With it, `session.notify`
   * and `POST /api/sessions/:id/events` refuse any other event; without it, `notify` takes every event and the address none.
   */
  readonly events?: Readonly<Record<string, EventKind>>
  /** Limits and settings for a kind of program, such as `voice`; the agent's own settings win. */
  readonly profile?: AgentProfile
  /**
   * Schema of the agent's answers, an object at the root: `answer.output`. If an answer does not fit, the model is asked
   * again, for up to `limits.outputAttempts` answers (2). Then the turn fails with `invalid_output`; the error's `data`
   * has the last answer's `text`, `issues` and `finish`, and the turn's `usage`.
   */
  readonly output?: Output
  /** @deprecated The field is `instructions`. */
  readonly system?: FieldIsNamed<'instructions'>
  /** @deprecated The field is `limits.toolRounds`. */
  readonly maxSteps?: FieldIsNamed<'limits.toolRounds'>
}

/** Tool names that a step may choose from; any text if the agent has sources. */
export type ToolName<Tools extends readonly Tool[], Sources extends readonly ToolSource[]> = Sources extends readonly []
  ? Tools[number]['name'] | typeof RESERVED_NAME
  : string

/** A validated agent, created with `defineAgent()`. */
export interface Agent<Output = unknown, Tools extends readonly Tool[] = readonly Tool[]> {
  readonly name: string
  readonly models: readonly (string | Model)[]
  readonly instructions: string
  readonly tools: Tools
  readonly sources: readonly ToolSource[]
  readonly collisions: CollisionPolicy
  readonly approvalPolicy?: ApprovalPolicy
  /** Absent if everything is allowed. */
  readonly permissions?: readonly Permissions[]
  readonly prepareStep?: PrepareStep
  readonly firstTool?: string
  readonly order?: readonly OrderRule[]
  readonly stopWhen?: readonly StopRule[]
  readonly background?: Readonly<Record<string, boolean | 'model'>>
  readonly events?: Readonly<Record<string, EventKind>>
  checkAnswer?(answer: AnswerToCheck<Output>, context: AnswerContext): AnswerVerdict | Promise<AnswerVerdict>
  readonly limits: Limits
  readonly window: WindowSpec
  readonly retry: RetrySpec
  readonly batch: BatchSpec
  readonly settings: ModelSettings
  readonly emptyAnswer: 'retry' | 'silence'
  readonly output?: Schema<Output>
  /** JSON Schema of `output`. */
  readonly outputSchema?: JsonObject
  /** Type information only; always undefined at runtime. */
  readonly types?: { readonly output: Output }
}

/**
 * Defines an agent.
 * @throws BatonError `invalid_agent` (name, model, settings, limits, or two tools with one name), `invalid_schema` (of the output)
 */
export function defineAgent<
  const Output extends Schema | undefined = undefined,
  const Tools extends readonly Tool[] = readonly [],
  const Sources extends readonly ToolSource[] = readonly [],
>(init: AgentOptions<Output, Tools, Sources>): Agent<OutputOf<Output>, Tools>
export function defineAgent(init: AgentOptions): Agent {
  checkFields(init, {
    what: typeof init?.name === 'string' ? `agent "${init.name.slice(0, 100)}"` : 'an agent without a name',
    code: 'invalid_agent',
    fields: listAgentFields(init),
    elsewhere: AGENT_ELSEWHERE,
  })
  if (typeof init.name !== 'string')
    throw new BatonError({
      code: 'invalid_agent',
      message: `an agent needs a name, which is text, not ${describeValue(init.name)}`,
      hint: 'Set one, such as name: "shop". Sessions and logs refer to the agent by its name.',
    })
  if (typeof init.profile === 'string') throw createNamedProfile(init.name, init.profile)
  checkSources(init.name, init.sources)
  checkKinds(init, { what: `agent "${init.name}"`, code: 'invalid_agent', kinds: AGENT_FIELDS })
  checkGroups(init.name, init)
  if (init.name === '' || init.name.length > 64) throw wrong(init.name, 'name must have 1 to 64 characters')
  const tools = init.tools ?? []
  const names = nameTools(init.name, tools)
  const { profile = {} } = init
  const limits = addDefaults({ agent: init.name, field: 'limits' }, DEFAULT_LIMITS, {
    ...profile.limits,
    ...init.limits,
  })
  const window = addDefaults({ agent: init.name, field: 'window' }, DEFAULT_WINDOW, {
    ...profile.window,
    ...init.window,
  })
  const retry = addDefaults({ agent: init.name, field: 'retry' }, DEFAULT_RETRY, { ...profile.retry, ...init.retry })
  const batch = addDefaults({ agent: init.name, field: 'batch' }, DEFAULT_BATCH, { ...profile.batch, ...init.batch })
  checkNumbers(init.name, { limits, window, retry, batch })
  const model = init.model ?? []
  const models = Array.isArray(model) ? (model as readonly (string | Model)[]) : [model as string | Model]
  for (const one of models) checkModel(`agent "${init.name}": model`, one)
  return {
    name: init.name,
    models,
    instructions: init.instructions ?? '',
    tools,
    sources: init.sources ?? [],
    collisions: init.collisions ?? 'refuse',
    ...(init.approvalPolicy && { approvalPolicy: init.approvalPolicy }),
    ...(init.permissions && { permissions: readPermissions(init.name, init.permissions) }),
    ...(init.prepareStep && { prepareStep: init.prepareStep }),
    ...checkOrder(init, names),
    ...(init.stopWhen && { stopWhen: checkStopWhen(init, names) }),
    ...(init.checkAnswer && { checkAnswer: init.checkAnswer }),
    ...(init.background && { background: readBackgroundRules(init.name, init.background) }),
    ...(init.events && { events: readEventKinds(init.name, init.events) }),
    limits,
    window,
    retry,
    batch,
    settings: checkSettings(`agent "${init.name}"`, { ...profile.settings, ...init.settings }),
    emptyAnswer: init.emptyAnswer ?? profile.emptyAnswer ?? 'retry',
    ...(init.output && {
      output: init.output,
      outputSchema: toObjectSchema(`output of agent "${init.name}"`, init.output),
    }),
  }
}

/**
 * Fields to accept: an agent made from another one also has the other's fields, of which `model` wins over `models`.
 */
function listAgentFields(init: AgentOptions): ReadonlySet<string> {
  const isCopy = typeof init === 'object' && init !== null && 'model' in init
  return new Set([...Object.keys(AGENT_FIELDS), ...(isCopy ? ['models', 'outputSchema'] : [])])
}

type Field = Exclude<keyof AgentOptions, 'system' | 'maxSteps'>

/** Every field, with the kind of its value; a field without one has a check of its own. */
const AGENT_FIELDS: Readonly<Record<Field, FieldKind | undefined>> = {
  name: undefined,
  model: undefined,
  instructions: 'text',
  tools: undefined,
  sources: 'an array',
  collisions: ['refuse', 'first', 'prefix'],
  approvalPolicy: 'a function',
  permissions: 'an object',
  prepareStep: 'a function',
  firstTool: 'text',
  order: 'an array',
  stopWhen: undefined,
  background: 'an object',
  events: 'an object',
  checkAnswer: 'a function',
  profile: undefined,
  limits: undefined,
  window: undefined,
  retry: undefined,
  batch: undefined,
  settings: undefined,
  output: undefined,
  emptyAnswer: ['retry', 'silence'],
}

/** Groups of options, each with an example. */
const GROUPS = {
  limits: '{ toolRounds: 20 }',
  window: '{ exchanges: 20 }',
  retry: '{ attempts: 3 }',
  batch: '{ silenceMs: 2_000 }',
  settings: '{ temperature: 0.2 }',
} as const

/** @throws BatonError `invalid_agent`: fields of a number or a list would be read as none */
function checkGroups(agent: string, init: AgentOptions): void {
  const check = (field: string, given: unknown, example: string): void => {
    if (given === undefined || isPlainObject(given)) return
    const message = `agent "${agent}": ${field} must be a plain object, not ${describeValue(given)}`
    throw new BatonError({ code: 'invalid_agent', message, hint: `Write ${field.split('.').at(-1)}: ${example}.` })
  }
  check('profile', init.profile, '{ limits: { toolRounds: 20 } }')
  for (const [name, example] of Object.entries(GROUPS) as Iterable<[keyof typeof GROUPS, string]>) {
    check(name, init[name], example)
    check(`profile.${name}`, init.profile?.[name], example)
  }
}

/** False for a list, and for an instance of a class: its fields may be on its prototype. */
function isPlainObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // An object of another realm has another prototype, which itself has none.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** @throws BatonError `invalid_agent` for an unknown field: a misspelt limit must not be ignored */
function addDefaults<Options extends object>(
  { agent, field }: { readonly agent: string; readonly field: string },
  defaults: Options,
  given: Partial<Options> | undefined,
): Options {
  const set = Object.entries(given ?? {}).filter(([, value]) => value !== undefined)
  const fields = [...(OPTIONAL[field] ?? []), ...Object.keys(defaults)]
  for (const [name] of set) if (!fields.includes(name)) throw createUnknownField({ agent, field, name, fields })
  return { ...defaults, ...Object.fromEntries(set) }
}

function createUnknownField({
  agent,
  field,
  name,
  fields,
}: {
  readonly agent: string
  readonly field: string
  readonly name: string
  readonly fields: readonly string[]
}): BatonError {
  const meant = findMeant(name, fields, ELSEWHERE[field] ?? {})
  return new BatonError({
    code: 'invalid_agent',
    message: `agent "${agent}": ${field} has no field "${name}"; its fields are ${fields.join(', ')}`,
    ...(meant !== undefined && fields.includes(meant) && { hint: `Write "${meant}" instead.` }),
  })
}

const ELSEWHERE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  limits: LIMITS_ELSEWHERE,
  window: WINDOW_ELSEWHERE,
  retry: RETRY_ELSEWHERE,
}

/** Minimum value of a field; 0 for all others. */
const LEAST: Readonly<Record<string, number>> = {
  // With 0, no server tool would ever run.
  parallelCalls: 1,
  // The first try counts.
  attempts: 1,
  outputAttempts: 1,
  // With 0, no call could begin.
  treeSessions: 1,
  children: 1,
  // The running one counts.
  exchanges: 1,
  messages: 1,
  contextTokens: 1,
}

/** @throws BatonError `invalid_agent` for a limit that would never or always apply, or that has a fraction */
function checkNumbers(agent: string, groups: Readonly<Record<string, object>>): void {
  for (const [group, fields] of Object.entries(groups))
    for (const [name, value] of Object.entries(fields) as Iterable<[string, unknown]>) {
      const least = LEAST[name] ?? 0
      const most = MOST[name] ?? Number.MAX_SAFE_INTEGER
      const isNumber = Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
      const isRight = name === 'summarise' ? typeof value === 'boolean' : isNumber
      if (isRight) continue
      const range = MOST[name] === undefined ? `of ${least} or more` : `from ${least} to ${most}`
      const right = name === 'summarise' ? 'true or false' : `a whole number ${range}`
      const field = `${group}.${name}`
      const message = `agent "${agent}": ${field} must be ${right}, not ${describeValue(value)}`
      throw new BatonError({ code: 'invalid_agent', message, data: { field, value: describeValue(value) } })
    }
}

/** Fields without a default, by group. The limits of a tree have theirs in the machine: agents without them keep their hash. */
const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  window: ['contextTokens', 'actAtTokens'],
  limits: ['treeDepth', 'treeSessions', 'children', 'treeRounds', 'treeCalls', 'tasks', 'wakes'],
}
const MOST: Readonly<Record<string, number>> = {
  treeDepth: 5,
  treeSessions: 1000,
  children: 64,
  tasks: 64,
  wakes: 1000,
}

function wrong(name: string, why: string): BatonError {
  return new BatonError({ code: 'invalid_agent', message: `agent "${name}": ${why}` })
}

/** The type that an agent's tools expect as `context.services`; `unknown` if they expect nothing. */
export type AgentServices<A extends Agent> = [ServicesTaker<A['tools'][number]>] extends [
  (services: infer Services) => void,
]
  ? Services
  : unknown

/** Required if a tool of the agent declares its services. */
export type NeededServices<A extends Agent> =
  unknown extends AgentServices<A> ? unknown : { readonly services: AgentServices<A> }

/** The services that several tools expect, intersected. */
type ServicesTaker<T> = T extends { execute(input: never, context: ToolContext<infer Services>): unknown }
  ? (services: Services) => void
  : never

/** @throws BatonError `invalid_agent` for an unknown setting, or one of the wrong type */
function checkSettings(where: string, settings: unknown): ModelSettings {
  if (settings === undefined) return {}
  const decoded = decodeModelSettings(settings)
  if (decoded.ok) return decoded.value
  throw new BatonError({ code: 'invalid_agent', message: `${where}: ${decoded.refusal.message}` })
}
