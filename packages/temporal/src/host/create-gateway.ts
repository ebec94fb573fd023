// A gateway: sessions over a Temporal service, for programs and for the tools of a worker. It knows no connection.
import type { Host, Logger } from '@baton/core/internal'
import type { AgentChoice, CatalogOptions } from '@baton/runtime'
import { createCatalog, createHostOver, SessionViewer, SYSTEM_TIME } from '@baton/runtime'
import type { Client } from '@temporalio/client'
import type { Tuning } from '../contract.ts'
import type { LiveBus } from '../live/live-bus.ts'
import { digest, digestMedia } from '../digest.ts'
import { ServiceCalls } from '../service-calls.ts'
import type { SessionLog } from '../session-view.ts'
import { TemporalEngine } from './temporal-engine.ts'

/** Options that gateways and workers share. */
export interface GatewayOptions extends AgentChoice, Pick<CatalogOptions, 'modelOf' | 'defaultModel' | 'secrets'> {}

export interface GatewayPlace {
  readonly client: Client
  readonly taskQueue: string
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
  readonly tuning?: Tuning
  /** Milliseconds until the clients of a dead gateway count as disconnected. Default: 90,000. */
  readonly leaseMs?: number | undefined
  readonly newId: () => string
}

export interface Gateway {
  readonly host: Host
  readonly engine: TemporalEngine
  readonly calls: ServiceCalls
  readonly views: SessionViewer
}

/** One renewal costs an Update for all clients of a session together. */
const CLIENT_LEASE_MS = 90_000

export function createGateway(options: GatewayOptions, place: GatewayPlace): Gateway {
  const { client, taskQueue, store, bus, log, tuning = {}, leaseMs = CLIENT_LEASE_MS, newId } = place
  const { agent, agents, agentOf, modelOf, defaultModel, secrets } = options
  const choice = { ...(agent && { agent }), ...(agents && { agents }), ...(agentOf && { agentOf }) }
  const models = { ...(modelOf && { modelOf }), ...(defaultModel && { defaultModel }) }
  const world = { environment: SYSTEM_TIME, blobs: store.blobs, log, digest, digestMedia }
  const catalog = createCatalog({ ...choice, ...models, ...world, runsChildren: true })
  const calls = new ServiceCalls(client)
  const engine = new TemporalEngine({ client, calls, taskQueue, catalog, store, bus, log, tuning, leaseMs })
  const views = new SessionViewer({ ...world, environment: { ...SYSTEM_TIME, newId }, store, catalog, secrets })
  const host = createHostOver({ engine, newId, wallMs: () => SYSTEM_TIME.clock.nowMs(), catalog })
  return { host, engine, calls, views }
}
