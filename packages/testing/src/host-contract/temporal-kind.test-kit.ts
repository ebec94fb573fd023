// Hosts over a Temporal service in the contract. Its time is the real one: a situation that needs more of it than a moment is
// left to the hosts whose time can be moved.
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
import { setTimeout as wait } from 'node:timers/promises'
import type { VirtualTime } from '../simulator/virtual-time.ts'
import { createVirtualTime } from '../simulator/virtual-time.ts'
import type { HostKind } from './host-kind.ts'
import { assembleWorld, createSerialIds, createWorldParts } from './world-parts.ts'

/** A situation asks for more time than passes here. */
export class NeedsTime extends Error {}

/** Milliseconds that pass in truth. */
const PASS_MAX_MS = 2000
/** Milliseconds for which work is waited for. */
const PATIENCE_MS = 4000
/** Milliseconds between two looks that must see the same. */
const QUIET_MS = 50
const HOUR_MS = 3_600_000
/** As on the other kinds; only models and tools see it. */
const START_MS = 10 ** 12
/** Of an activity that no worker has taken: `PENDING_ACTIVITY_STATE_SCHEDULED`. */
const SCHEDULED = 1

/** `address`: of a service. */
export function createTemporalKind(address: string): HostKind {
  const bundle = bundleWorkflows()
  const connecting = Connection.connect({ address })
  sendTemporalLogs({ info: () => {}, warn: () => {} })
  return {
    name: 'over Temporal',
    restarts: false,
    createWorld: async (init) => {
      const newId = createSerialIds()
      // A local host takes one for itself and one for a log's birth: inputs have the same ids on all kinds.
      newId()
      newId()
      const memory = createMemoryStore()
      const store: Store = { ...memory, blobs: { ...memory.blobs, ...init.blobs } }
      const session = `tested-${randomUUID()}`
      const parts = createWorldParts(
        createHalfVirtualTime(store, new Client({ connection: await connecting })),
        newId,
        init,
      )
      const { log, agent } = parts
      const bus = createMemoryBus()
      const taskQueue = session
      // What a deployment of workers would have: the agents that a situation opens its sessions with.
      const agents = new Map<string, Agent>([[agent.name, agent]])
      const shared = { address, taskQueue, logStore: store, redis: bus, log, agent, ...init.catalog }
      const agentOf = ({ agent: name }: { readonly agent: string }): Agent | undefined => agents.get(name)
      const worker = await createTemporalWorker({ ...shared, agentOf, workflowBundle: await bundle, drainMs: 500 })
      const running = worker.run()
      const over = await createTemporalHost({ ...shared, newId })
      const stop = async (): Promise<void> => {
        await over.stop()
        worker.shutdown()
        await running
      }
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

/** A situation may hand in what is none. */
function isNamed(given: unknown): given is Agent {
  return typeof given === 'object' && given !== null && 'name' in given && 'models' in given
}

/**
 * The time of models and tools is virtual: it stands still while the service is busy. That of the service is the real one.
 */
function createHalfVirtualTime(store: Store, client: Client): VirtualTime {
  const virtual = createVirtualTime(START_MS)
  /** Undefined while something is under way that takes no time. */
  const look = async (): Promise<string | undefined> => {
    const seen: unknown[] = []
    for await (const { session, records } of store.list()) {
      const described = await client.workflow
        .getHandle(session)
        .describe()
        .catch(() => undefined)
      seen.push(session, records, described?.historyLength)
      const { pendingActivities = [], pendingWorkflowTask } = described?.raw ?? {}
      const isBusy = (pendingActivities ?? []).some(
        ({ state, activityType }) => state === SCHEDULED || activityType?.name === 'baton.publish',
      )
      if (pendingWorkflowTask || isBusy) return undefined
    }
    return JSON.stringify(seen)
  }
  const settle = async (): Promise<void> => {
    let before: string | undefined
    for (let same = 0; same < 2;) {
      await wait(QUIET_MS)
      await virtual.settle()
      const now = await look()
      same = now !== undefined && now === before ? same + 1 : 0
      before = now
    }
  }
  const runNext = async (untilMs: number): Promise<boolean> => {
    await settle()
    return await virtual.runNext(untilMs)
  }
  const until = async <Value>(work: Promise<Value>): Promise<Value> => {
    let hasEnded = false
    work.finally(() => (hasEnded = true)).catch(() => {})
    let idle = performance.now()
    for (;;) {
      await wait(QUIET_MS)
      if (hasEnded) return await work
      if (await runNext(virtual.nowMs() + HOUR_MS)) idle = performance.now()
      else if (performance.now() - idle > PATIENCE_MS) throw new NeedsTime(`it did not end in ${PATIENCE_MS} ms`)
    }
  }
  const refuse = (): never => {
    throw new NeedsTime('its time cannot be moved')
  }
  return {
    ...virtual,
    setWall: refuse,
    seeFromElsewhere: refuse,
    settle,
    runNext,
    runUntil: refuse,
    pass: async (ms) => {
      if (ms > PASS_MAX_MS) refuse()
      const untilMs = virtual.nowMs() + ms
      while (await runNext(untilMs));
      await virtual.runUntil(untilMs)
      await wait(ms)
      await settle()
    },
    until,
  }
}
