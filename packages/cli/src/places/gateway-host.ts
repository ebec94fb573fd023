// The host of `baton serve --temporal`: a stateless gateway.
import type { Host, Logger, SessionViews } from '@baton/core/internal'
import type { OwnedLogStore } from '@baton/core/internal'
import { openPostgresStore } from '@baton/host/postgres'
import type { AgentWords, PreparedAgent } from './prepared-agent.ts'
import { prepareAgent } from './prepared-agent.ts'
import type { TemporalPlace } from '../commands/temporal-options.ts'
import { importTemporal } from '../commands/temporal-options.ts'

export interface GatewayHost extends Omit<PreparedAgent, 'close' | 'modelOf'> {
  readonly host: Host & { readonly views: SessionViews }
  readonly store: OwnedLogStore
  stop(drainMs: number): Promise<void>
}

/** @throws BatonError as prepareAgent does, `store_failed`; Error when the service cannot be reached */
export async function openGatewayHost(
  init: AgentWords & { readonly log: Logger; readonly secrets?: readonly string[] },
  { address, namespace, taskQueue, redis, postgres }: TemporalPlace,
): Promise<GatewayHost> {
  const { createTemporalHost } = await importTemporal()
  const { close, modelOf, ...prepared } = await prepareAgent(init)
  const store = await openPostgresStore(postgres)
  const host = await createTemporalHost({
    address,
    namespace,
    taskQueue,
    logStore: store,
    ...(redis !== undefined && { redis }),
    agent: prepared.agent,
    modelOf,
    defaultModel: prepared.choice.id,
    log: init.log,
    ...(init.secrets && { secrets: init.secrets }),
  })
  const stop = async (drainMs: number): Promise<void> => {
    await host.stop({ drainMs })
    await store.close()
    await close()
  }
  return { ...prepared, host, store, stop }
}
