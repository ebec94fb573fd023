// Hosts over a Temporal service in the contract: each world has its own worker and gateway in this process.
import type { Agent, Host, Session, Store } from '@baton/core'
import { createMemoryStore } from '@baton/host'
import type { SessionRecord } from '@baton/core/machine'
import {
  bundleWorkflows,
  createMemoryBus,
  createTemporalHost,
  createTemporalWorker,
  sendTemporalLogs,
} from '@baton/temporal'
import { Client, Connection } from '@temporalio/client'
import { randomUUID } from 'node:crypto'
import type { HostKind } from './host-kind.ts'
import { createSkippedTime, LEASE_MS } from './temporal-time.test-kit.ts'
import { assembleWorld, createSerialIds, createWorldParts } from './world-parts.ts'

/** Same as for the other kinds; only models and tools see it. */
const START_MS = 10 ** 12
/** `address`: of a Temporal service. */
export function createTemporalKind(address: string): HostKind {
  const bundle = bundleWorkflows()
  const connecting = Connection.connect({ address })
  sendTemporalLogs({ info: () => {}, warn: () => {} })
  return {
    name: 'over Temporal',
    restarts: false,
    createWorld: async (init) => {
      const newId = createSerialIds()
      newId() // a local host takes one for itself, so call ids match on all kinds
      const memory = createMemoryStore()
      const store: Store = { ...memory, blobs: { ...memory.blobs, ...init.blobs } }
      const session = `tested-${randomUUID()}`
      const client = new Client({ connection: await connecting })
      const time = createSkippedTime({ store, client, startMs: START_MS })
      const parts = createWorldParts(time, newId, init)
      const { log, agent } = parts
      const bus = createMemoryBus()
      const taskQueue = session
      // As in a deployment with workers: the agents with which a situation opens its sessions.
      const agents = new Map<string, Agent>([[agent.name, agent]])
      const shared = { address, taskQueue, logStore: store, redis: bus, log, agent, ...init.catalog }
      const agentOf = ({ agent: name }: { readonly agent: string }): Agent | undefined => agents.get(name)
      const own = { newId, clock: time.clock, workflowBundle: await bundle, drainMs: 500 }
      const worker = await createTemporalWorker({ ...shared, ...own, agentOf })
      const running = worker.run()
      const over = await createTemporalHost({ ...shared, newId, clientLeaseMs: LEASE_MS })
      const end = async (how: Parameters<Host['stop']>[0]): Promise<void> => {
        await over.stop(how)
        worker.shutdown()
        await running
      }
      let stopped: Promise<void> | undefined
      const stop: Host['stop'] = (how) => (stopped ??= end(how))
      const records = async (of = session): Promise<readonly SessionRecord[]> => {
        const all: SessionRecord[] = []
        for await (const record of store.read(of, 0)) all.push(record)
        return all
      }
      const open = (id?: string, options?: Parameters<Host['session']>[1]): Promise<Session> => {
        const given: unknown = options?.agent
        if (isNamed(given)) agents.set(given.name, given)
        return over.session(id, options)
      }
      return assembleWorld(parts, { host: { session: open as Host['session'], stop }, session, records })
    },
    close: async () => (await connecting).close(),
  }
}

/** A situation may pass something that is not an agent. */
function isNamed(given: unknown): given is Agent {
  return typeof given === 'object' && given !== null && 'name' in given && 'models' in given
}
