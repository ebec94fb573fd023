// A tool whose call is another agent's conversation: the call opens a child session, and the child's last answer is its
// result. It knows neither how a host runs a child nor where its log is.
import type { JsonObject } from '../json.ts'
import { BatonError } from '../errors.ts'
import type { FieldKind } from '../shape/known-fields.ts'
import { checkFields, checkKinds } from '../shape/known-fields.ts'
import { describeValue } from '../shape/value-reader.ts'
import type { Agent } from './agent.ts'
import type { OutputOf, Schema, StandardSchema } from './schema.ts'
import type { Tool, ToolBase } from './tool.ts'
import type { DelegateLimits, DelegateRules } from './tool-options.ts'
import { makeTool } from './tool.ts'
import { warnOfSchema } from './schema.ts'

/** Options of `delegate`. */
export interface DelegateOptions<
  Name extends string = string,
  Input extends Schema = Schema,
  Output = unknown,
> extends Pick<
  ToolBase<Name, Input, Schema>,
  'approval' | 'describe' | 'waiting' | 'title' | 'parallel' | 'defer' | 'kind' | 'errors' | 'background' | 'wake'
> {
  /** The agent that does the work; a function for an agent that calls itself, which needs a `name`. */
  readonly agent: Agent<Output> | (() => Agent<Output>)
  /** Name of the tool; the agent's name by default. */
  readonly name?: Name
  /** Tells the model what the other agent does and when to call it. */
  readonly description: string
  /** Arguments of a call; `{ task: string }` of 1 to 50,000 characters by default. */
  readonly input?: Input
  /**
   * Makes the child's message from the validated input; `input.task` by default. Called once for each call, before it
   * runs. Other schemas need one.
   */
  readonly prompt?: (input: OutputOf<Input>) => string
  /**
   * Milliseconds until the call ends its child, without the time in which the child only waits for people: 1,000 to
   * 604,800,000 (a week), 600,000 by default.
   */
  readonly timeoutMs?: number
  readonly limits?: DelegateLimits
  /** `cancel` (default): an interrupt ends the child. `background`: the child continues as a task. */
  readonly onInterrupt?: 'cancel' | 'background'
  /** `untrusted`: its answers always count as untrusted. By default they do if the child has read untrusted data. */
  readonly trust?: 'untrusted'
  /** Whether the caller's policies and permissions hold for the child's calls too; both do by default. */
  readonly inherits?: { readonly policies?: boolean; readonly permissions?: boolean }
}

/** Any text of a task, and the longest one. */
const TASK_CHARS = 50_000
const TASK: JsonObject = {
  type: 'object',
  properties: {
    task: {
      type: 'string',
      minLength: 1,
      maxLength: TASK_CHARS,
      description: 'The task, with everything needed to do it: the agent knows nothing of this conversation.',
    },
  },
  required: ['task'],
  additionalProperties: false,
}
const TIMEOUT_MS = 600_000
const WEEK_MS = 604_800_000

const LIMITS: Readonly<Record<keyof DelegateLimits, FieldKind>> = {
  tokens: { unit: 'tokens', least: 1 },
  costMicros: { unit: 'millionths of a dollar', least: 0 },
  rounds: { unit: 'rounds', least: 0 },
  calls: { unit: 'calls', least: 0 },
  sessions: { unit: 'sessions', least: 0, most: 1000 },
}
const INHERITS: Readonly<Record<keyof DelegateRules['inherits'], FieldKind>> = {
  policies: 'true or false',
  permissions: 'true or false',
}
const FIELDS: Readonly<Record<keyof DelegateOptions, FieldKind | undefined>> = {
  agent: undefined,
  name: 'text',
  description: 'text',
  input: undefined,
  prompt: 'a function',
  timeoutMs: { unit: 'milliseconds', least: 1000, most: WEEK_MS },
  limits: 'an object',
  trust: ['untrusted'],
  inherits: 'an object',
  approval: undefined,
  describe: undefined,
  waiting: undefined,
  title: undefined,
  parallel: undefined,
  defer: undefined,
  kind: undefined,
  errors: undefined,
  background: undefined,
  wake: undefined,
  onInterrupt: ['cancel', 'background'],
}
const ELSEWHERE = {
  execute: 'the agent does the work; for a function write tool({ … })',
  output: 'the agent has it: defineAgent({ output })',
  model: 'the agent has it: defineAgent({ model })',
  instructions: 'the agent has them: defineAgent({ instructions })',
  tools: 'the agent has them: defineAgent({ tools })',
  effect: 'a delegating call has none: each call of the other agent’s tools has its own',
  retry: 'a child continues after a crash; its agent has retry for its model calls',
  timeout: 'timeoutMs',
  inputSchema: 'input',
  parameters: 'input',
} as const

/**
 * Defines a tool whose calls another agent does, each in a child session. What the child asks reaches the people and
 * clients of the calling session; its answer is the result.
 *
 * ```ts
 * const research = delegate({ agent: researcher, description: 'Finds facts on the web' })
 * const writer = defineAgent({ name: 'writer', model, tools: [research] })
 * ```
 * @throws BatonError `invalid_tool`, `invalid_schema`
 */
export function delegate<
  const Name extends string = string,
  const Input extends Schema = StandardSchema<{ readonly task: string }>,
  Output = unknown,
>(init: DelegateOptions<Name, Input, Output>): Tool<Name, OutputOf<Input>, Output>
export function delegate(init: DelegateOptions): Tool {
  if (typeof init === 'object' && init !== null && 'models' in init)
    throw new BatonError({
      code: 'invalid_tool',
      message: 'delegate takes options, not an agent',
      hint: 'Write delegate({ agent, description: "When the model should call it" }).',
    })
  checkFields(init, {
    what: 'delegate',
    code: 'invalid_tool',
    fields: new Set(Object.keys(FIELDS)),
    elsewhere: ELSEWHERE,
  })
  const { agent, prompt, limits = {}, inherits = {}, trust, timeoutMs = TIMEOUT_MS, input, ...options } = init
  const { onInterrupt = 'cancel' } = init
  const name = readName(agent, init.name)
  const what = `tool "${name.slice(0, 100)}"`
  const checked = { what, code: 'invalid_tool' } as const
  checkKinds(init, { ...checked, kinds: FIELDS })
  checkFields(limits, { what: `${what}: limits`, code: 'invalid_tool', fields: new Set(Object.keys(LIMITS)) })
  checkKinds(limits, { what: `${what}: limits`, code: 'invalid_tool', kinds: LIMITS })
  checkFields(inherits, { what: `${what}: inherits`, code: 'invalid_tool', fields: new Set(Object.keys(INHERITS)) })
  checkKinds(inherits, { what: `${what}: inherits`, code: 'invalid_tool', kinds: INHERITS })
  if (input !== undefined && !prompt)
    throw new BatonError({
      code: 'invalid_tool',
      message: `${what} has its own input, and no prompt`,
      hint: 'Write prompt: (input) => the message that the other agent reads.',
    })
  const made = makeTool({
    ...options,
    name,
    input: input ?? TASK,
    timeoutMs,
    // Calls of the child have classes of their tools. The delegating call continues after a crash.
    effect: 'once',
    onInterrupt,
    ...(trust && { trust }),
  })
  warnOfSchema(what, made.schemaWarnings)
  const { policies = true, permissions = true } = inherits
  return {
    ...made,
    execute: undefined,
    delegation: {
      agent: typeof agent === 'function' ? () => readAgent(what, agent()) : () => agent,
      prompt: prompt ?? ((given) => (given as { readonly task: string }).task), // validated by TASK
      limits: keepGiven(limits),
      inherits: { policies, permissions },
    },
  }
}

/** A copy without fields that are undefined: it goes into the log. */
function keepGiven(limits: DelegateLimits): DelegateLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined))
}

/** @throws BatonError `invalid_tool` */
function readName(agent: unknown, name: string | undefined): string {
  if (typeof agent === 'function') {
    if (typeof name === 'string') return name
    throw new BatonError({
      code: 'invalid_tool',
      message: 'delegate: an agent given by a function needs a name',
      hint: 'Write name: "researcher" beside agent.',
    })
  }
  const own = readAgent('delegate', agent).name
  return typeof name === 'string' ? name : own
}

/** @throws BatonError `invalid_tool` if the value was not made by `defineAgent` */
function readAgent(what: string, agent: unknown): Agent {
  const { name, models, tools } = { ...(agent as Partial<Agent> | undefined) } // of any shape
  if (typeof name === 'string' && Array.isArray(models) && Array.isArray(tools)) return agent as Agent
  throw new BatonError({
    code: 'invalid_tool',
    message: `${what}: agent must be an agent made by defineAgent(), or a function that returns one, not ${describeValue(agent)}`,
  })
}

/** The agent that does the calls of a delegating tool. @throws BatonError `invalid_tool` if its function returns no agent */
export function findDelegate(rules: DelegateRules): Agent {
  return rules.agent() as Agent // `delegate` has checked it
}
