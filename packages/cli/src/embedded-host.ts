// The host that `serve` and `chat` run: the agent, the model that was chosen for it, and the way to providers.
import type { Agent, AgentProfile, Environment, Logger, Model, Store } from '@baton/core'
import type { LocalHost, SessionObserver } from '@baton/host'
import { createHost, createNodeEnvironment } from '@baton/host'
import type { ModelChoice, Variables } from '@baton/models/choose-model'
import { chooseModel, createModelOf, readMaxOutputTokens, secretsIn } from '@baton/models/choose-model'
import { describeToolVerdict } from '@baton/models/prompted'
import type { ToolVerdict } from '@baton/models/prompted'
import { createPriceOf } from '@baton/models/prices'
import { createSchemaWarnings } from '@baton/models/schema-warnings'
import { createUndiciTransport } from '@baton/models/transport/undici'
import type { Console } from './console.ts'
import { createDefaultAgent } from './default-agent.ts'
import { loadAgent } from './load-agent.ts'
import { isLocalModel, loadLocalModel } from './local-model.ts'
import { withAddress } from './model-options.ts'
import type { StoreLocation } from './store-location.ts'
import { openStore } from './store-location.ts'

export interface EmbeddedHost {
  readonly host: LocalHost
  readonly agent: Agent
  readonly choice: ModelChoice
  readonly environment: Environment
  readonly store: Store
  /** The variables, with the address of `--base-url` in them. */
  readonly variables: Variables
  /** Ends the sessions, then the connections to providers. */
  stop(drainMs: number): Promise<void>
}

export interface EmbeddedHostInit {
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly baseUrl: string | undefined
  readonly exchanges: number | undefined
  /** Of the agent of who names none. */
  readonly profile?: AgentProfile
  /** In memory by default. */
  readonly store?: StoreLocation
  readonly keepDays?: number | undefined
  /** What no error may show; those of the variables by default. */
  readonly secrets?: readonly string[]
  /** Where other servers over the same store reach this one. */
  readonly address?: string | undefined
  readonly terminal: Console
  readonly log?: Logger
  readonly observers?: readonly SessionObserver[]
  /** Told in a sentence what a person should know, such as that a server takes no tools. */
  readonly onNews?: (line: string) => void
}

const DAY_MS = 86_400_000

/** @throws BatonError `invalid_agent`, `unknown_model`, `model_not_configured`, `invalid_option`, `store_locked`, `store_failed` */
export async function openEmbeddedHost(init: EmbeddedHostInit): Promise<EmbeddedHost> {
  const { folder } = init.terminal
  const { variables, model } = withAddress(init.terminal.variables, init.model, init.baseUrl)
  const loaded =
    init.agent === undefined ? createDefaultAgent(folder, init.profile) : await loadAgent(init.agent, folder)
  const [named = loaded.models[0]] = model === undefined ? [] : [model]
  const local = isLocalModel(named) ? await loadLocalModel(named, folder) : undefined
  const choice = local
    ? { id: local.id, reason: `because the ${model === undefined ? 'agent' : 'option --model'} names it` }
    : chooseModel({ variables, agentModels: loaded.models, ...(model !== undefined && { flag: model }) })
  const maxOutputTokens = readMaxOutputTokens(variables)
  const agent = adapted(loaded, { ...init, model: local?.id ?? model, maxOutputTokens }, choice)
  const transport = createUndiciTransport({ variables })
  const environment = createNodeEnvironment(transport)
  const onToolVerdict = toldTo(init)
  const remote = createModelOf({ variables, transport, clock: environment.clock, onToolVerdict })
  const warned = init.log ? createSchemaWarnings(init.log) : (model: Model): Model => model
  const modelOf = (id: string): Model => warned(local && id === local.id ? local : remote(id))
  const warn = init.log && ((cause: string): void => init.log?.warn('the store should be looked at', { cause }))
  const store = await openStore(init.store ?? { type: 'memory' }, warn)
  const host = createHost({
    environment,
    agent,
    modelOf,
    priceOf: createPriceOf(),
    secrets: init.secrets ?? secretsIn(variables),
    store,
    defaultModel: choice.id,
    ...(init.address !== undefined && { address: init.address }),
    ...(init.keepDays !== undefined && { retentionMs: init.keepDays * DAY_MS }),
    ...(init.log && { log: init.log }),
    ...(init.observers && { observers: init.observers }),
  })
  const stop = async (drainMs: number): Promise<void> => {
    await host.stop({ drainMs })
    await store.close()
    await transport.close()
    await local?.close()
  }
  return { host, agent, choice, environment, store, variables, stop }
}

/** That tools work is nothing new to a person. */
function toldTo({ log, onNews }: EmbeddedHostInit): (verdict: ToolVerdict, model: string) => void {
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

interface Adapting extends Pick<EmbeddedHostInit, 'model' | 'exchanges'> {
  readonly maxOutputTokens: number | undefined
}

/** What the person who starts the program says wins over the file. */
function adapted(agent: Agent, init: Adapting, choice: ModelChoice): Agent {
  const { maxOutputTokens } = init
  return {
    ...agent,
    ...(init.model !== undefined && { models: [choice.id] }),
    ...(maxOutputTokens !== undefined && { settings: { ...agent.settings, maxOutputTokens } }),
    ...(init.exchanges !== undefined && { window: { ...agent.window, exchanges: init.exchanges } }),
  }
}
