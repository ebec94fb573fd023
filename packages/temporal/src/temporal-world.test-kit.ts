// A worker and a host of one process over a real Temporal service, with a scripted model.
import type { Agent, AgentOptions, Host, Store } from '@baton/core'
import { defineAgent } from '@baton/core'
import type { SessionRecord, Settlement } from '@baton/core/machine'
import type { ScriptedModel, ScriptedModelOptions } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import type { TemporalServer } from '@baton/testing/temporal'
import { Client, Connection } from '@temporalio/client'
import type { WorkflowHandle } from '@temporalio/client'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { SYSTEM_TIME } from '@baton/runtime'
import type { SessionStateView } from './state-view.ts'
import { STATE } from './contract.ts'
import type { TemporalHostOptions, TemporalWorkerOptions } from './index.ts'
import {
  bundleWorkflows,
  createMemoryBus,
  createTemporalHost,
  createTemporalWorker,
  sendTemporalLogs,
} from './index.ts'

export interface TemporalWorldOptions extends Partial<Omit<AgentOptions, 'model'>> {
  readonly steps: ScriptedModelOptions['steps']
  readonly host?: Partial<TemporalHostOptions>
  readonly worker?: Partial<TemporalWorkerOptions>
  readonly store?: Store
}

export interface TemporalWorld {
  readonly host: Host
  readonly agent: Agent
  readonly model: ScriptedModel
  readonly store: Store
  readonly client: Client
  readonly taskQueue: string
  handle(workflow: string): WorkflowHandle
  records(session: string): Promise<readonly SessionRecord[]>
  /** Resolves when no work of a session is in progress, and all of it is in the log. */
  settle(session: string): Promise<void>
  endWorker(): Promise<void>
  /** Ends its worker, and starts another one. */
  replaceWorker(): Promise<void>
  close(): Promise<void>
}

let bundle: ReturnType<typeof bundleWorkflows> | undefined

export async function createTemporalWorld(server: TemporalServer, init: TemporalWorldOptions): Promise<TemporalWorld> {
  const { steps, host: hostOptions, worker: workerOptions, store = createMemoryStore(), ...own } = init
  if (!bundle) sendTemporalLogs({ info: () => {}, warn: () => {} })
  bundle ??= bundleWorkflows()
  const workflowBundle = await bundle
  const model = createScriptedModel({ steps, timers: SYSTEM_TIME.timers })
  const agent = defineAgent({ name: 'tested', ...own, model })
  const taskQueue = `queue-${randomUUID()}`
  const { address } = server
  const shared = { address, taskQueue, agent, logStore: store, redis: createMemoryBus() }
  const startWorker = async (): Promise<() => Promise<void>> => {
    const worker = await createTemporalWorker({ ...shared, workflowBundle, drainMs: 500, ...workerOptions })
    const running = worker.run()
    return async () => {
      worker.shutdown()
      await running
    }
  }
  let stopWorker = await startWorker()
  const host = await createTemporalHost({ ...shared, ...hostOptions })
  const connection = await Connection.connect({ address })
  const client = new Client({ connection })
  return {
    host,
    agent,
    model,
    store,
    client,
    taskQueue,
    handle: (workflow) => client.workflow.getHandle(workflow),
    records: async (session) => {
      const all: SessionRecord[] = []
      for await (const record of store.read(session, 0)) all.push(record)
      return all
    },
    settle: (session) =>
      until(async () => {
        const view = await client.workflow.getHandle(session).query<SessionStateView>(STATE)
        return view.phase === 'idle' && view.unpublished === 0 && view.underWay.length === 0 && view.waiting === 0
      }),
    endWorker: () => stopWorker(),
    replaceWorker: async () => {
      await stopWorker()
      stopWorker = await startWorker()
    },
    close: async () => {
      await host.stop()
      await stopWorker()
      await connection.close()
    },
  }
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(50)
}

export async function settlements(world: TemporalWorld, session: string): Promise<readonly Settlement[]> {
  const facts = (await world.records(session)).flatMap((record) => record.facts)
  return facts.flatMap((fact) => (fact.type === 'call-settled' ? [fact.settlement] : []))
}

/** Plays in its own world, which is closed afterwards. @throws Error if there is no service */
export async function playInWorld(
  server: TemporalServer | undefined,
  init: TemporalWorldOptions,
  play: (world: TemporalWorld) => Promise<void>,
): Promise<void> {
  if (!server) throw new Error('there is no service')
  const world = await createTemporalWorld(server, init)
  try {
    await play(world)
  } finally {
    await world.close()
  }
}
