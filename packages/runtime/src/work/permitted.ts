// The one place that enforces an agent's permissions: the tools, sources and models of a session all pass through here.
import type {
  Agent,
  JsonObject,
  Logger,
  Model,
  ModelSettings,
  Permissions,
  Tool,
  ToolSource,
} from '@baton/core/internal'
import {
  BatonError,
  findServerToolRefusal,
  findToolRefusal,
  isBatonError,
  mayUseExternalModels,
  mayUseNetwork,
  nameServerTool,
} from '@baton/core/internal'

export interface PermittedOptions {
  readonly agent: Agent
  readonly session: string
  readonly log: Logger
}

export class Permitted {
  readonly #init: PermittedOptions
  readonly #permissions: readonly Permissions[]
  readonly #network: boolean
  readonly #externalModels: boolean

  constructor(init: PermittedOptions) {
    this.#init = init
    this.#permissions = init.agent.permissions ?? []
    this.#network = mayUseNetwork(this.#permissions)
    this.#externalModels = mayUseExternalModels(this.#permissions)
  }

  /** Skipped sources are never called: even listing their tools would use the network. */
  sources(sources: readonly ToolSource[]): readonly ToolSource[] {
    if (this.#network) return sources
    return sources.filter(({ name, network }) => {
      if (network === false) return true
      this.#tell('a tool source is skipped: it may use the network', { source: name })
      return false
    })
  }

  /** @param always the tool that every agent has, since it only reads results that were permitted */
  tools(tools: readonly Tool[], always: Tool): readonly Tool[] {
    if (this.#permissions.length === 0) return tools
    return tools.filter((tool) => {
      if (tool === always) return true
      const refusal = findPermissionRefusal(this.#permissions, tool)
      if (refusal !== undefined) this.#tell(`a tool is skipped: ${refusal}`, { tool: tool.name })
      return refusal === undefined
    })
  }

  /** Logs the agent's own settings that `permitSettings` removes from each request. */
  settings({ serverTools = {} }: ModelSettings): void {
    for (const [provider, tools] of Object.entries(serverTools))
      for (const tool of tools) {
        const refusal = findServerToolRefusal(this.#permissions, tool)
        if (refusal === undefined) continue
        this.#tell(`a provider tool is skipped: ${refusal}`, {
          provider,
          tool: nameServerTool(tool) ?? 'unnamed',
        })
      }
  }

  /**
   * The permitted models, in fallback order. An unconfigured one stays and fails when it is called.
   * @throws BatonError `not_permitted` if none is permitted
   */
  candidates(
    candidates: readonly (string | Model)[],
    find: ((id: string) => Model) | undefined,
  ): readonly (string | Model)[] {
    if (this.#externalModels) return candidates
    let refusal: unknown
    const kept = candidates.filter((candidate) => {
      try {
        const model = typeof candidate === 'string' ? find?.(candidate) : candidate
        if (model) this.model(model)
        return true
      } catch (cause) {
        if (!isBatonError(cause) || cause.code !== 'not_permitted') return true
        this.#tell('a model is skipped: it may use the network', { model: toId(candidate) })
        refusal ??= cause
        return false
      }
    })
    if (kept.length === 0) throw refusal
    return kept
  }

  /** @throws BatonError `not_permitted` */
  model(model: Model): Model {
    if (this.#externalModels || model.capabilities.network === false) return model
    throw new BatonError({
      code: 'not_permitted',
      message: `agent "${this.#init.agent.name}" may not use ${model.id}: its permissions allow only models that run on this machine`,
    })
  }

  #tell(message: string, data: JsonObject): void {
    this.#init.log.info(message, { session: this.#init.session, ...data })
  }
}

/** Why an agent with these permissions may not use a tool; undefined if it may. */
export function findPermissionRefusal(
  permissions: readonly Permissions[],
  { name, network, execute, fallback, delegation }: Tool,
): string | undefined {
  const refusal = findToolRefusal(permissions, name)
  if (refusal !== undefined || mayUseNetwork(permissions)) return refusal
  // The permissions of the caller hold for each tool of the other agent.
  if (delegation?.inherits.permissions) return undefined
  // A client runs its tools elsewhere, over its own connection.
  const runsHere = execute !== undefined || fallback !== undefined || delegation !== undefined
  return network === false || (!runsHere && network === undefined) ? undefined : 'it may use the network'
}

/**
 * Why a client's tool is neither offered nor called; undefined if it is. Such tools run at the client, so network
 * access does not matter.
 */
export function findClientToolRefusal({ permissions = [] }: Agent, name: string): string | undefined {
  return findToolRefusal(permissions, name)
}

/** Removes provider tools that the agent may not use. */
export function permitSettings({ permissions = [] }: Agent, settings: ModelSettings): ModelSettings {
  const { serverTools, ...kept } = settings
  if (!serverTools) return settings
  const isPermitted = (tool: JsonObject): boolean => findServerToolRefusal(permissions, tool) === undefined
  const permitted = Object.entries(serverTools)
    .map(([provider, tools]) => [provider, tools.filter(isPermitted)] as const)
    .filter(([, tools]) => tools.length > 0)
  return permitted.length === 0 ? kept : { ...kept, serverTools: Object.fromEntries(permitted) }
}

function toId(model: string | Model): string {
  return typeof model === 'string' ? model : model.id
}
