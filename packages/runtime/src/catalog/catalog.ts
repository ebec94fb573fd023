// The catalog: chooses each session's agent, resolves the models it calls, and prices them. It is consulted whenever a
// session opens, including at recovery.
import type { CatalogOptions, SessionIdentity, SessionParts } from './catalog-options.ts'
import {
  createDelegateError,
  findAgent,
  indexAgents,
  checkInterrupt,
  checkNamed,
  checkPriced,
  createUnknownModelError,
  createBypassError,
  disposeParts,
  toParts,
} from './catalog-options.ts'
import type { Agent, JsonObject, Logger, Model, Tool } from '@baton/core/internal'
import { BatonError, createSpec } from '@baton/core/internal'
import type { Spec } from '@baton/core/machine'
import { within } from '../deadline.ts'
import type { ArgumentValidator } from '../work/arguments.ts'
import { createArgumentValidator, hasPlainSchema, ValidatedArguments } from '../work/arguments.ts'
import { createOutputReader } from '../work/output.ts'
import { RequestMessages } from '../work/request.ts'
import { createReadResultTool } from '../work/tool-result.ts'
import { withTaskTools } from '../work/background.ts'
import type { ToolSearch } from '../work/tool-search.ts'
import { createToolSearch } from '../work/tool-search.ts'
import type { WorkContext } from '../work/work.ts'
import type { CircuitBreakers } from './circuit-breaker.ts'
import { createCircuitBreakers } from './circuit-breaker.ts'
import { Permitted } from '../work/permitted.ts'
import { SourceTools } from './source-tools.ts'

export interface Catalog {
  /** The agent of this name, of `agent` and `agents`. @throws BatonError `invalid_agent` without one, or with `agentOf` */
  find(name: string): Agent
  /**
   * Opens the world of a session; `given` wins over the catalog's choice.
   * @throws BatonError `invalid_agent` (there is none, or `agentOf` timed out), `unknown_model`, `internal` (Ajv could not
   *   be loaded, and the agent has plain JSON Schemas)
   */
  open(session: SessionIdentity, given?: Agent): Promise<SessionWorld>
  /** Whether a session of this agent can be opened without passing the agent. */
  knows(agent: string): boolean
  /** Whether opening the session again would choose this agent. Never with `agentOf`, which has to be asked. */
  keeps(session: SessionIdentity, agent: Agent): boolean
}

/** The world of one session: its agent, tools and models. It knows no actor and no store. */
export interface SessionWorld extends WorkContext {
  /** Ids of the agent's models in the order of fallback. */
  readonly models: readonly string[]
  /** The agent as the machine sees it. Replaced, like the tools, when the tools change. */
  readonly spec: Spec
  /** Whether the session has sources, so its tools may change. */
  readonly changes: boolean
  /** Whether `agentOf` made something for this session alone: sources, or parts with `dispose`. */
  readonly hasOwnParts: boolean
  /** Calls the listener after every change of the tools; holds one listener. */
  readonly onChange: (listener: () => void) => void
  /** Frees what was created for this session. Never rejects. */
  readonly dispose: () => Promise<void>
}

const GIVE_AGENT = 'Pass one: createHost({ agent: defineAgent({ … }) }), or host.session(id, { agent }).'
/** Time limit of `agentOf`, in milliseconds. */
const AGENT_MS = 30_000

export function createCatalog(init: CatalogOptions): Catalog {
  return new SharedCatalog(init)
}

class SharedCatalog implements Catalog {
  readonly #init: CatalogOptions
  readonly #validator: ArgumentValidator = createArgumentValidator()
  readonly #breakers: CircuitBreakers
  readonly #readResult: Tool
  readonly #agents: ReadonlyMap<string, Agent>
  /** Cached per agent: hashing all tool schemas is the most expensive part of an opening. */
  readonly #known = new WeakMap<Agent, AgentFacts>()
  readonly #tellSchemas: (agent: Agent) => void
  /** Models already logged as unknown. */
  readonly #assumed = new Set<string>()

  constructor(init: CatalogOptions) {
    if (init.interruptMs !== undefined) checkInterrupt(init.interruptMs)
    this.#init = init
    this.#tellSchemas = createSchemaTeller(init.log)
    this.#breakers = createCircuitBreakers(init.environment.clock)
    this.#readResult = createReadResultTool(init.blobs)
    this.#agents = indexAgents(init)
    for (const agent of this.#agents.values()) {
      this.#refuseDelegates(agent, agent.tools)
      withTaskTools(agent, agent.tools) // refuses an agent whose own tool has the name of one
    }
    // Names that cannot be resolved are refused before the first turn.
    if (!init.modelOf && !init.agentOf) for (const agent of this.#agents.values()) checkNamed(agent)
    const { defaultModel = [] } = init
    for (const agent of this.#agents.values())
      for (const model of agent.models.length > 0 ? agent.models : [defaultModel].flat())
        checkPriced(agent, model, init)
  }

  find(name: string): Agent {
    if (this.#init.agentOf) throw createBypassError(name)
    return findAgent(this.#agents, name)
  }

  knows(agent: string): boolean {
    const { agentOf, agent: only } = this.#init
    return agentOf !== undefined || this.#agents.has(agent) || (only === undefined && this.#agents.size === 0)
  }

  keeps(session: SessionIdentity, agent: Agent): boolean {
    return !this.#init.agentOf && this.#findListed(session) === agent
  }

  async open(session: SessionIdentity, given?: Agent): Promise<SessionWorld> {
    const parts = given ? { agent: given } : await this.#choose(session)
    const opened: Opened = { session: session.id, parts, sources: undefined }
    try {
      return await this.#openWorld(opened)
    } catch (cause) {
      await this.#close(opened)
      throw cause
    }
  }

  async #close({ session, parts, sources }: Opened): Promise<void> {
    await sources?.close()
    const { log, environment } = this.#init
    await disposeParts(parts, session, { log, timers: environment.timers })
  }

  async #openWorld(opened: Opened): Promise<SessionWorld> {
    const { session, parts } = opened
    const { agent } = parts
    this.#tellSchemas(agent)
    const permitted = agent.permissions && new Permitted({ agent, session, log: this.#init.log })
    permitted?.settings(agent.settings)
    const find = parts.modelOf ?? this.#init.modelOf
    const listed = this.#listCandidates(agent)
    const candidates = permitted?.candidates(listed, find) ?? listed
    const models = candidates.map(toId)
    const found = this.#createModelOf(candidates, find)
    const { priceOf, services, secrets, environment, blobs, log, digest, digestMedia, runTool, openSession } =
      this.#init
    for (const model of candidates) checkPriced(agent, model, { priceOf, modelOf: found })
    const isLimited = permitted !== undefined || agent.limits.turnCostMicros < Number.MAX_SAFE_INTEGER
    const findChosen: ModelOf = (chosen) => {
      const model = found(chosen)
      checkPriced(agent, model, { priceOf })
      return permitted?.model(model) ?? model
    }
    const modelOf = isLimited ? findChosen : found
    const sources = await this.#openSources(session, parts, permitted)
    opened.sources = sources
    const examine = (): AgentFacts => this.#examine({ listed: sources?.tools(), parts, permitted, models, modelOf })
    // `validate` loads on demand too, but then a call waits for it.
    if (sources || hasPlainSchema(agent)) await this.#validator.load()
    // Nothing waits between reading the tools and listening for their changes.
    const facts = examine()
    let tell = (): void => {}
    const world: Changing<SessionWorld> = {
      agent,
      models,
      changes: sources !== undefined,
      hasOwnParts: parts.dispose !== undefined || (parts.sources ?? []).length > 0,
      modelOf,
      blobs,
      log,
      digest,
      digestMedia,
      priceOf,
      ...(runTool && { runTool }),
      ...(openSession && { openSession }),
      ...facts,
      services: parts.services ?? services ?? {},
      secrets,
      validator: this.#validator,
      validated: new ValidatedArguments(),
      requestMessages: new RequestMessages(),
      output: agent.output && createOutputReader(agent.output, this.#validator),
      timers: environment.timers,
      onChange: (listener) => {
        tell = listener
      },
      dispose: () => this.#close(opened),
    }
    sources?.onChange(() => {
      // A changed tool may have a new schema, so its arguments are validated again.
      Object.assign(world, examine(), { validated: new ValidatedArguments() })
      tell()
    })
    return world
  }

  /** Returns undefined if the tools cannot change. */
  async #openSources(
    session: string,
    { agent, sources: own = [] }: SessionParts,
    permitted: Permitted | undefined,
  ): Promise<SourceTools | undefined> {
    const all = [...agent.sources, ...own]
    const sources = permitted?.sources(all) ?? all
    if (sources.length === 0) return undefined
    const { environment, log } = this.#init
    const always = [this.#readResult]
    return await SourceTools.open({ session, agent, sources, always, timers: environment.timers, log })
  }

  async #choose(session: SessionIdentity): Promise<SessionParts> {
    const { agentOf, environment, log } = this.#init
    const { timers } = environment
    const message = `agentOf did not answer for session ${session.id} in ${AGENT_MS} ms`
    const asking = Promise.resolve(agentOf?.(session))
    const error = (): BatonError => new BatonError({ code: 'invalid_agent', message })
    const chosen = await within(timers, { timeoutMs: AGENT_MS, error }, asking).catch((cause: unknown) => {
      // A late result has no session: dispose of it.
      asking.then((late) => late && disposeParts(toParts(late), session.id, { log, timers })).catch(() => {})
      throw cause
    })
    if (chosen) return toParts(chosen)
    const agent = this.#findListed(session)
    if (agent) return { agent }
    const missing = `session ${session.id} has no agent: neither the session nor the host names one`
    throw new BatonError({ code: 'invalid_agent', message: missing, hint: GIVE_AGENT })
  }

  #findListed({ agent }: SessionIdentity): Agent | undefined {
    return this.#agents.get(agent) ?? this.#init.agent ?? [...this.#agents.values()][0]
  }

  /** The agent's models, in fallback order. */
  #listCandidates(agent: Agent): readonly (string | Model)[] {
    const { defaultModel } = this.#init
    const named = agent.models.length > 0 ? agent.models : defaultModel ? [defaultModel] : []
    if (named.length > 0) return named
    const message = `agent "${agent.name}" names no model, and the host has no default`
    throw new BatonError({ code: 'unknown_model', message, hint: 'Write one: defineAgent({ model: "offline" }).' })
  }

  #createModelOf(candidates: readonly (string | Model)[], find: ((id: string) => Model) | undefined): ModelOf {
    const last = candidates.at(-1)
    const lastId = last && toId(last)
    const own = new Map<string, Model>()
    for (const model of candidates) if (typeof model !== 'string' && !own.has(model.id)) own.set(model.id, model)
    return (id) => {
      if (typeof id !== 'string') return id
      const model = own.get(id) ?? find?.(id)
      if (!model) throw createUnknownModelError(id, find !== undefined)
      // The last candidate is never skipped: one model must be called.
      return model.id === lastId ? model : this.#breakers.guard(model)
    }
  }

  /** @throws BatonError `invalid_agent` */
  #refuseDelegates(agent: Agent, tools: readonly Tool[]): void {
    const delegating = this.#init.runsChildren ? undefined : tools.find(({ delegation }) => delegation)
    if (delegating) throw createDelegateError(agent, delegating)
  }

  #examine({ listed, parts, permitted, models, modelOf }: Examined): AgentFacts {
    const { agent, modelOf: own } = parts
    // A session with its own models may have other windows.
    const isShared = !own && !listed
    const known = isShared ? this.#known.get(agent) : undefined
    if (known) return known
    const tools = listed ?? [...agent.tools, this.#readResult]
    this.#refuseDelegates(agent, tools)
    const all = withTaskTools(agent, permitted?.tools(tools, this.#readResult) ?? tools)
    const window = findWindow(models, modelOf, { log: this.#init.log, told: this.#assumed })
    const { interruptMs } = this.#init
    const spec = createSpec({ ...agent, tools: all }, models, window, interruptMs)
    let facts: AgentFacts = { tools: all, toolSearch: undefined, spec }
    // An agent with `prepareStep` chooses the tools of each step itself.
    const toolSearch =
      !agent.prepareStep && hasManyTools(all, spec) ? createToolSearch(all, spec.window.contextTokens) : undefined
    if (toolSearch) {
      const tools = [...all, toolSearch.tool]
      const shown = { ...agent, tools, window: toolSearch.measure(agent) }
      facts = { tools, toolSearch, spec: createSpec(shown, models, window, interruptMs) }
    }
    if (isShared) this.#known.set(agent, facts)
    return facts
  }
}

/** A cheap check that most agents pass: `createToolSearch` inspects every tool. */
function hasManyTools(tools: readonly Tool[], { window }: Spec): boolean {
  for (const { defer } of tools) if (defer) return true
  return tools.length > 30 || window.overheadTokens > (window.contextTokens ?? Infinity) / 5
}

type ModelOf = (model: string | Model) => Model

type Changing<Value> = { -readonly [Name in keyof Value]: Value[Name] }

/** Parts to close when the session leaves or fails to open. */
interface Opened {
  readonly session: string
  readonly parts: SessionParts
  sources: SourceTools | undefined
}

interface Examined {
  /** The agent's tools and those of its sources; undefined without sources. */
  readonly listed: readonly Tool[] | undefined
  readonly parts: SessionParts
  readonly permitted: Permitted | undefined
  readonly models: readonly string[]
  readonly modelOf: ModelOf
}

interface AgentFacts {
  /** Tools of the agent, of the session's sources, and `result.read`. */
  readonly tools: readonly Tool[]
  readonly toolSearch: ToolSearch | undefined
  readonly spec: Spec
}

function toId(model: string | Model): string {
  return typeof model === 'string' ? model : model.id
}

/** Logs each tool once. */
function createSchemaTeller(log: Logger): (agent: Agent) => void {
  const told = new WeakSet<JsonObject>()
  return ({ name, tools }) => {
    for (const { name: tool, inputSchema, schemaWarnings } of tools) {
      if (!schemaWarnings || told.has(inputSchema)) continue
      told.add(inputSchema)
      log.warn('the schema of a tool is checked only in part', { agent: name, tool, leftOut: schemaWarnings })
    }
  }
}

/** Models to warn about, so a program that makes up names is not warned forever. */
const ASSUMED_MAX = 1000

/**
 * The smallest of the candidates' windows, so that a fallback can continue the conversation. Warns once per unknown
 * model.
 */
function findWindow(
  models: readonly string[],
  modelOf: (id: string) => Model,
  { log, told }: { readonly log: Logger; readonly told: Set<string> },
): number | undefined {
  const sizes = models.flatMap((id) => {
    try {
      const { contextTokens = [], assumedTraits, meantId } = modelOf(id).capabilities
      if (assumedTraits !== undefined && !told.has(id) && told.size < ASSUMED_MAX) {
        told.add(id)
        log.warn('the model is not in any table; it is treated like the newest known model of its family', {
          model: id,
          as: assumedTraits,
          ...(meantId !== undefined && { meant: meantId }),
        })
      }
      return contextTokens
    } catch {
      return [] // an unconfigured fallback fails when it is called, not before
    }
  })
  return sizes.length === 0 ? undefined : Math.min(...sizes)
}

/** Maximum sources to report: a program may make one for each session. */
const SOURCES_MAX = 20

/**
 * Emits one process warning for each source that lists no tools, if the platform has them. Node writes it to standard
 * error.
 */
export function createDefaultLog(): Logger {
  const told = new Set<string>()
  return {
    info: () => {},
    warn: (message, { source, cause } = {}) => {
      if (message !== 'a tool source lists no tools' || typeof source !== 'string' || typeof cause !== 'string') return
      if (told.has(source) || told.size >= SOURCES_MAX) return
      told.add(source)
      const { process } = globalThis as { readonly process?: { emitWarning?: (text: string, options: object) => void } }
      process?.emitWarning?.(`the source "${source}" lists no tools: ${cause}`, {
        type: 'BatonWarning',
        code: 'source_without_tools',
        detail: 'Give the host a log to read of every failure.',
      })
    },
  }
}
