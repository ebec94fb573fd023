// Preparation shared by commands that run an agent: the agent, its chosen model, and the connections to providers.
import type { Agent, AgentProfile, Environment, Logger, Model, Permissions } from '@baton/core/internal'
import { mayUseExternalModels, mayUseNetwork, BatonError } from '@baton/core/internal'
import { createNodeEnvironment } from '@baton/host'
import type { ModelChoice, ChooseModelOptions } from '@baton/models/choose-model'
import type { Variables, ToolVerdict } from '@baton/models/internal'
import { chooseModel, createModelOf, readMaxOutputTokens } from '@baton/models/choose-model'
import { describeToolVerdict, createSchemaWarnings } from '@baton/models/internal'
import { createUndiciTransport } from '@baton/models/transport/undici'
import type { Console } from '../console.ts'
import { loadAgent } from './load-agent.ts'
import { addMcpServers, openMcpServers } from '../words/mcp-option.ts'
import { withAddress } from '../words/model-options.ts'
import { restrict } from '../words/permission-options.ts'
import type { GgufModel } from '@baton/models/gguf'
import { loadGgufModel } from '@baton/models/gguf'
import { resolve } from 'node:path'
import { UsageError } from '../words/usage-error.ts'

export interface AgentWords {
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly baseUrl: string | undefined
  readonly exchanges: number | undefined
  /** Creates the agent if none is named. Default: an agent that answers questions about the folder. */
  readonly createAgent?: (folder: string) => Agent
  /** Wraps each model. */
  readonly wrapModel?: (model: Model) => Model
  /** Profile of the default agent. */
  readonly profile?: AgentProfile
  /** Servers named by `--mcp`. Default: none. */
  readonly mcp?: readonly string[]
  /** Restrictions set by options. */
  readonly permissions?: Permissions | undefined
  readonly terminal: Console
  readonly log?: Logger
  /** Called with sentences that a person should see, for example that a server does not support tools. */
  readonly onNews?: (line: string) => void
}

export interface PreparedAgent {
  readonly agent: Agent
  /** Its permissions, in one line; `undefined` if unrestricted. */
  readonly permissions: string | undefined
  readonly choice: ModelChoice
  readonly environment: Environment
  readonly modelOf: (id: string) => Model
  /** Applies the same options to another agent: model, permissions and MCP servers. */
  readonly fit: (agent: Agent) => Agent
  /** The variables, including the address of `--base-url`. */
  readonly variables: Variables
  /** Ends the connections to providers. */
  close(): Promise<void>
}

/**
 * @throws BatonError `invalid_agent`, `unknown_model`, `model_not_configured`, `invalid_option`; for `--mcp`,
 * `invalid_mcp_server`, `api_unavailable` and other connection errors
 */
export async function prepareAgent(init: AgentWords): Promise<PreparedAgent> {
  const { folder } = init.terminal
  const { variables, model } = withAddress(init.terminal.variables, init.model, init.baseUrl)
  const found = init.agent === undefined ? await createUnnamed(init) : await loadAgent(init.agent, folder)
  const { agent: loaded, permissions: may } = restrict(found, init.permissions)
  const { permissions = [] } = loaded
  const [named = loaded.models[0]] = model === undefined ? [] : [model]
  const local = isLocalModel(named) ? await loadLocalModel(named, folder) : undefined
  const isOpen = mayUseExternalModels(permissions)
  // A proxy would send requests for a model on this machine elsewhere.
  const transport = createUndiciTransport({ variables: isOpen ? variables : {} })
  const environment = createNodeEnvironment(transport)
  const onToolVerdict = toldTo(init)
  const remote = createModelOf({ variables, transport, clock: environment.clock, onToolVerdict })
  const choosing = { variables, agentModels: loaded.models, ...(model !== undefined && { flag: model }) }
  const choice = local
    ? { id: local.id, reason: `because the ${model === undefined ? 'agent' : 'option --model'} names it` }
    : isOpen
      ? chooseModel(choosing)
      : choosePermittedModel(choosing, remote)
  const maxOutputTokens = readMaxOutputTokens(variables)
  const { mcp = [] } = init
  const network = mayUseNetwork(permissions)
  const servers = mcp.length > 0 ? await openMcpServers({ ...init, mcp, network }) : undefined
  const adapt = (given: Agent): Agent => {
    const joined = servers ? addMcpServers(given, servers) : given
    return adapted(joined, { ...init, model: local?.id ?? model, maxOutputTokens }, choice)
  }
  const agent = adapt(loaded)
  const fit = (given: Agent): Agent => adapt(restrict(given, init.permissions).agent)
  const warned = init.log ? createSchemaWarnings(init.log) : (model: Model): Model => model
  const { wrapModel = (model: Model): Model => model } = init
  const modelOf = (id: string): Model => warned(wrapModel(local && id === local.id ? local : remote(id)))
  const close = async (): Promise<void> => {
    await transport.close()
    await local?.close()
    await servers?.close()
  }
  return { agent, permissions: may, choice, environment, modelOf, fit, variables, close }
}

/** Loads the default agent only when it is needed: its tools are the largest part of a start. */
async function createUnnamed({ createAgent, profile, terminal }: AgentWords): Promise<Agent> {
  if (createAgent) return createAgent(terminal.folder)
  const { createDefaultAgent } = await import('./default-agent.ts')
  return createDefaultAgent(terminal.folder, profile)
}

/** Working tool support is not worth a note. */
function toldTo({ log, onNews }: AgentWords): (verdict: ToolVerdict, model: string) => void {
  return (verdict, model) => {
    const line = describeToolVerdict(model, verdict)
    if (verdict.type === 'native') {
      log?.info(line, { model })
      return
    }
    log?.warn(line, { model, reason: verdict.reason, format: verdict.format })
    onNews?.(line)
  }
}

interface Adapting extends Pick<AgentWords, 'model' | 'exchanges'> {
  readonly maxOutputTokens: number | undefined
}

/** The options of the person who starts the program override the file. */
function adapted(agent: Agent, init: Adapting, choice: ModelChoice): Agent {
  const { maxOutputTokens } = init
  return {
    ...agent,
    ...(init.model !== undefined && { models: [choice.id] }),
    ...(maxOutputTokens !== undefined && { settings: { ...agent.settings, maxOutputTokens } }),
    ...(init.exchanges !== undefined && { window: { ...agent.window, exchanges: init.exchanges } }),
  }
}

const PREFIX = 'gguf:'

/** Models in this process: `gguf:FILE` is loaded once, before the first question. */
function isLocalModel(name: unknown): name is string {
  return typeof name === 'string' && name.startsWith(PREFIX)
}

/** @throws UsageError if the file name is missing; BatonError `model_not_configured` when it cannot be loaded */
async function loadLocalModel(name: string, folder: string): Promise<GgufModel> {
  const file = name.slice(PREFIX.length)
  if (file === '') throw new UsageError('gguf: needs a file name: --model gguf:FILE')
  return await loadGgufModel(resolve(folder, file))
}

const HINT = 'Name a model on this machine, such as --model ollama/qwen3 or --model gguf:FILE.'

/**
 * Chooses the model when permissions allow only models on this machine, ignoring keys in the environment.
 * Like `chooseModel`; for an agent with several models, chooses the first permitted one. If no model was named and that
 * of the environment is external, the result is the offline model.
 * @throws BatonError `not_permitted` for a named model that is external, and errors of `chooseModel`
 */
function choosePermittedModel(init: ChooseModelOptions, find: (id: string) => Model): ModelChoice {
  const { flag, agentModels = [], variables } = init
  if (flag !== undefined || agentModels.length === 0) {
    const choice = chooseModel(init)
    // A key would not help here, unlike the reason given without permissions suggests.
    if (choice.id === 'offline' && flag === undefined && !variables['MODEL_PROVIDER'])
      return { id: 'offline', reason: 'because no model on this machine is named; name one with --model' }
    if (isHere(find(choice.id))) return choice
    if (flag !== undefined) throw refuse(`--model names ${choice.id}, which does not`)
    return { id: 'offline', reason: `because ${choice.id} is not on this machine; name one that is with --model` }
  }
  for (const model of agentModels) {
    if (!isHere(typeof model === 'string' ? find(model) : model)) continue
    return chooseModel({ agentModels: [model], variables })
  }
  throw refuse(`none of the agent's models does`)
}

function isHere({ capabilities }: Model): boolean {
  return capabilities.network === false
}

function refuse(why: string): BatonError {
  const message = `the permissions allow only models that run on this machine, but ${why}`
  return new BatonError({ code: 'not_permitted', message, hint: HINT })
}
