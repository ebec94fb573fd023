// The options of a catalog: its agents by name, or the choice of one for each session, and the parts that they share.
import type {
  Agent,
  BlobStore,
  Environment,
  JsonObject,
  Logger,
  Model,
  Principal,
  Timers,
  ToolSource,
  Usage,
  Tool,
} from '@baton/core/internal'
import { BatonError, findNearName, describeValue } from '@baton/core/internal'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'
import type { WorkContext } from '../work/work.ts'

/** Facts about a session when its agent is chosen. */
export interface SessionIdentity {
  readonly id: string
  /** Name of the session's current agent; empty for a new session. */
  readonly agent: string
  readonly principal: Principal
  /** Metadata set by `describe`. */
  readonly meta: JsonObject
}

/** The agent of one session and the parts specific to that session. */
export interface SessionParts {
  readonly agent: Agent
  /** Passed to its tools as `context.services`; the host's by default. */
  readonly services?: unknown
  /** Resolves models by id, with this session's keys; the host's by default. */
  readonly modelOf?: (id: string) => Model
  /** Tool sources for this session only, listed after the agent's. */
  readonly sources?: readonly ToolSource[]
  /** Called once, when the session leaves the process. A failure is logged. */
  dispose?(): void | Promise<void>
}

export interface AgentChoice {
  /** Agent for sessions that name none. */
  readonly agent?: Agent
  /** Agents by name. A reopened or recovered session gets the agent it names. */
  readonly agents?: readonly Agent[]
  /**
   * Called on every opening, including recovery; wins over `agent` and `agents`, which decide if it returns undefined.
   * Times out after 30 s; what it throws, the opening throws.
   */
  readonly agentOf?: (
    session: SessionIdentity,
  ) => Agent | SessionParts | undefined | Promise<Agent | SessionParts | undefined>
}

export interface CatalogOptions
  extends AgentChoice, Pick<WorkContext, 'runTool' | 'openSession' | 'digest' | 'digestMedia'> {
  /** Resolves a model id. @throws BatonError `unknown_model`, `model_not_configured` */
  readonly modelOf?: (id: string) => Model
  /** Model for agents that name none. */
  readonly defaultModel?: string | Model
  /** Returns the cost of a model call in millionths of a US dollar, or undefined if unknown. */
  readonly priceOf?: (model: string, usage: Usage) => number | undefined
  /** Passed to every tool as `context.services`. */
  readonly services?: unknown
  /** Secrets, such as keys, to keep out of error messages of tools and models; each is replaced by `[redacted]`. */
  readonly secrets?: readonly string[]
  /** Milliseconds for an interrupted model to report its partial answer; 0 to 60,000, 1,000 by default. */
  readonly interruptMs?: number
  /** Whether the host runs sessions of delegated calls. False by default: agents with `delegate` are refused. */
  readonly runsChildren?: boolean
  readonly environment: Pick<Environment, 'clock' | 'timers'>
  /** Store of long results, images and files. */
  readonly blobs: BlobStore
  readonly log: Logger
}

/** @throws BatonError `invalid_agent` if two agents share a name */
export function indexAgents({
  agents = [],
  agent,
}: Pick<CatalogOptions, 'agent' | 'agents'>): ReadonlyMap<string, Agent> {
  const index = new Map<string, Agent>()
  for (const one of agents) {
    checkAgent(one)
    if (index.has(one.name))
      throw new BatonError({ code: 'invalid_agent', message: `two agents are named "${one.name}"` })
    index.set(one.name, one)
  }
  if (agent !== undefined) checkAgent(agent)
  if (agent && !index.has(agent.name)) index.set(agent.name, agent)
  return index
}

/** @throws BatonError `invalid_agent` if no listed agent has this name */
export function findAgent(agents: ReadonlyMap<string, Agent>, name: string): Agent {
  const found = agents.get(name)
  if (found) return found
  const names = [...agents.keys()]
  const near = findNearName(names, name)
  throw new BatonError({
    code: 'invalid_agent',
    message: `the host lists no agent "${name.slice(0, 100)}"${near === undefined ? '' : `; did you mean "${near}"?`}`,
    hint: names.length === 0 ? 'List it: createHost({ agents: [writer] }).' : `It lists ${names.join(', ')}.`,
  })
}

/** Longest time, in milliseconds, to wait for an interrupted model. */
const INTERRUPT_MAX_MS = 60_000

/** @throws BatonError `invalid_option` */
export function checkInterrupt(ms: number): void {
  if (ms >= 0 && ms <= INTERRUPT_MAX_MS) return
  throw new BatonError({ code: 'invalid_option', message: `interruptMs must be 0 to ${INTERRUPT_MAX_MS}, not ${ms}` })
}

export function createUnknownModelError(id: string, hasModelOf: boolean): BatonError {
  const message = `no model is named "${id}"`
  if (hasModelOf) return new BatonError({ code: 'unknown_model', message })
  return new BatonError({ code: 'unknown_model', message: `${message}: this host has no modelOf` })
}

/** @throws BatonError `unknown_model` for an agent whose models are names */
export function checkNamed({ models }: Agent): void {
  const named = models.find((model) => typeof model === 'string')
  if (named !== undefined) throw createUnknownModelError(named, false)
}

/** @throws BatonError `invalid_agent` if the value was not made by `defineAgent` */
export function checkAgent(agent: unknown): asserts agent is Agent {
  const { name, tools, limits } = (agent ?? {}) as Partial<Agent>
  if (typeof name === 'string' && Array.isArray(tools) && typeof limits === 'object') return
  throw new BatonError({
    code: 'invalid_agent',
    message: `an agent must be made by defineAgent, not ${describeValue(agent)}`,
    hint: 'Pass the result of defineAgent({ name, model, tools }).',
  })
}

/** @throws BatonError `invalid_agent` if the value is not an agent */
export function toParts(chosen: Agent | SessionParts): SessionParts {
  const isObject = typeof chosen === 'object'
  const parts: SessionParts = isObject && 'agent' in chosen ? chosen : { agent: chosen as Agent } // checked here
  checkAgent(parts.agent)
  if (parts.sources === undefined || Array.isArray(parts.sources)) return parts
  throw new BatonError({ code: 'invalid_agent', message: 'agentOf: sources must be an array of tool sources' })
}

/** Time limit of `dispose`, in milliseconds. */
const DISPOSE_MS = 10_000

/** Resolves within the limit. Never rejects. */
export async function disposeParts(
  parts: SessionParts,
  session: string,
  { timers, log }: { readonly timers: Timers; readonly log: Logger },
): Promise<void> {
  const message = `dispose timed out after ${DISPOSE_MS} ms`
  const limit = { timeoutMs: DISPOSE_MS, error: () => new BatonError({ code: 'internal', message }) }
  try {
    if (parts.dispose) await within(timers, limit, Promise.resolve(parts.dispose()))
  } catch (cause) {
    log.warn('dispose of a session failed', { session, cause: describeThrown(cause) })
  }
}

/** A name would skip `agentOf`, and with it the session's own services, models and tools. */
export function createBypassError(name: string): BatonError {
  return new BatonError({
    code: 'invalid_agent',
    message: `this host chooses agents with agentOf, so a session cannot name the agent "${name.slice(0, 100)}"`,
    hint: 'Let agentOf choose by id, principal or meta of the session, or pass the agent itself.',
  })
}

/** A call large enough to have a price for any model that has one. */
const PRICED: Usage = { inputTokens: 1_000_000, outputTokens: 1_000_000 }

interface Prices {
  readonly priceOf?: ((model: string, usage: Usage) => number | undefined) | undefined
  readonly modelOf?: ((id: string) => Model) | undefined
}

/**
 * A cost limit needs a known price. Models that run on this machine have none.
 * @throws BatonError `model_not_configured`
 */
export function checkPriced(
  { name, limits }: Pick<Agent, 'name' | 'limits'>,
  asked: string | Model,
  { priceOf, modelOf }: Prices,
): void {
  if (limits.turnCostMicros === Number.MAX_SAFE_INTEGER) return
  const model = typeof asked === 'string' ? asked : asked.id
  if (priceOf?.(model, PRICED) !== undefined || runsHere(asked, modelOf)) return
  throw new BatonError({
    code: 'model_not_configured',
    message: `the agent "${name}" limits the cost of a turn (limits.turnCostMicros), but the price of its model "${model}" is unknown`,
    hint: `Set its price on the host or the worker: priceOf: createPriceOf({ '${model}': { input: 1, output: 5 } }), in dollars per million tokens.`,
  })
}

function runsHere(asked: string | Model, modelOf: Prices['modelOf']): boolean {
  try {
    const model = typeof asked === 'string' ? modelOf?.(asked) : asked
    return model?.capabilities.network === false
  } catch {
    return false // not configured: it fails when it is called
  }
}

export function createDelegateError({ name }: Agent, tool: Tool): BatonError {
  return new BatonError({
    code: 'invalid_agent',
    message: `agent "${name}": another agent does the calls of "${tool.name}", and this kind of host runs no sessions for them`,
    hint: 'Run the agent on createHost, or write a tool whose execute asks the other agent.',
  })
}
