// The host run by `serve` and `chat`: the agent, its chosen model, and the connections to providers.
import type { Environment, Logger, Store } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { LocalHost, SessionObserver } from '@baton/host'
import { createHost } from '@baton/host'
import { secretsIn } from '@baton/models/internal'
import { escapeLine } from '../terminal/escape-controls.ts'
import { openLatePrices } from './late-prices.ts'
import type { AgentWords, PreparedAgent } from './prepared-agent.ts'
import { prepareAgent } from './prepared-agent.ts'
import type { StoreLocation } from './store-location.ts'
import { openStore } from './store-location.ts'

export interface EmbeddedHost extends Omit<PreparedAgent, 'close' | 'modelOf'> {
  readonly host: LocalHost
  readonly store: Store
  /** Ends the sessions, then the connections to providers. */
  stop(drainMs: number): Promise<void>
}

export interface EmbeddedHostOptions extends AgentWords {
  /** Default: in memory. */
  readonly store?: StoreLocation
  readonly keepDays?: number | undefined
  /** Secrets to hide from errors. Default: those of the variables. */
  readonly secrets?: readonly string[]
  /** Address where other servers over the same store reach this one. */
  readonly address?: string | undefined
  readonly observers?: readonly SessionObserver[]
  /**
   * Milliseconds to wait for a session held by another process: it is handed over when it is at rest, and becomes free
   * when that process has died and its lease has ended. Default over a file: 12,000.
   */
  readonly heldMs?: number
}

const DAY_MS = 86_400_000
/** Longer than a lease. */
const HELD_MS = 12_000
/** Milliseconds between checks for whether a session is free. */
const LOOK_MS = 250

/**
 * @throws BatonError `invalid_agent`, `unknown_model`, `model_not_configured`, `invalid_option`, `store_locked`,
 * `store_failed`
 */
export async function openEmbeddedHost(init: EmbeddedHostOptions): Promise<EmbeddedHost> {
  const { close, modelOf, ...prepared } = await prepareAgent(init)
  const { agent, choice, environment, variables } = prepared
  const prices = await openLatePrices({ agent, find: modelOf, log: init.log })
  const warn = init.log && ((cause: string): void => init.log?.warn('the store needs attention', { cause }))
  const store = await openStore(init.store ?? { type: 'memory' }, warn)
  const log = init.log ?? (init.onNews && tellSources(init.onNews))
  const host = createHost({
    environment,
    agent,
    modelOf: prices.modelOf,
    priceOf: prices.priceOf,
    secrets: init.secrets ?? secretsIn(variables),
    store,
    defaultModel: choice.id,
    ...(init.address !== undefined && { address: init.address }),
    ...(init.keepDays !== undefined && { retentionMs: init.keepDays * DAY_MS }),
    ...(log && { log }),
    ...(init.observers && { observers: init.observers }),
  })
  const stop = async (drainMs: number): Promise<void> => {
    await host.stop({ drainMs })
    await store.close()
    await close()
  }
  const { heldMs = init.store?.type === 'sqlite' ? HELD_MS : 0 } = init
  return { ...prepared, host: waitForHeld(host, { heldMs, environment }), store, stop }
}

/** A chat has no log, but its person should know why tools are missing. */
function tellSources(tell: (line: string) => void): Logger {
  return {
    info: () => {},
    warn: (message, { source, cause } = {}) => {
      if (message === 'a tool source lists no tools' && typeof source === 'string' && typeof cause === 'string')
        tell(escapeLine(`${source} lists no tools: ${cause}`))
    },
  }
}

/** Each attempt asks the holder for the session again. */
function waitForHeld(
  host: LocalHost,
  { heldMs, environment }: { readonly heldMs: number; readonly environment: Environment },
): LocalHost {
  if (heldMs === 0) return host
  const session: LocalHost['session'] = async (id, init) => {
    for (let waitedMs = 0; ; waitedMs += LOOK_MS)
      try {
        return await host.session(id, init)
      } catch (cause) {
        if (!isBatonError(cause) || cause.code !== 'session_held' || waitedMs >= heldMs) throw cause
        await new Promise<void>((resolve) => void environment.timers.start(LOOK_MS, resolve))
      }
  }
  return { ...host, session }
}
