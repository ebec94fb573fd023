// Workers and gateways over a real Temporal service, whose workers tell destinations. Time is the machine's.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import type { Store } from '@baton/host'
import { createMemoryStore } from '@baton/host'
import { SYSTEM_TIME } from '@baton/runtime'
import type { TemporalWorker, TemporalWorkerOptions } from '@baton/temporal'
import {
  bundleWorkflows,
  createMemoryBus,
  createTemporalHost,
  createTemporalWorker,
  sendTemporalLogs,
} from '@baton/temporal'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { TellingKind, TellingOptions, TellingWorld } from './telling-kind.ts'

/** `address`: of a Temporal service. */
export function createTemporalTelling(address: string): TellingKind {
  sendTemporalLogs({ info: () => {}, warn: () => {} })
  const bundle = bundleWorkflows()
  return {
    name: 'over Temporal',
    createWorld: async (init) => {
      const taskQueue = `telling-${randomUUID()}`
      const place = { address, taskQueue, logStore: createMemoryStore(), redis: createMemoryBus() }
      return await start({ ...place, workflowBundle: await bundle, drainMs: 500 }, init)
    },
  }
}

export type TellingPlace = TemporalWorkerOptions & { readonly logStore: Store }

/** Runs until the function that it returns is called. */
export async function startWorker(options: TemporalWorkerOptions): Promise<TemporalWorker & { end(): Promise<void> }> {
  const worker = await createTemporalWorker(options)
  const running = worker.run()
  const end = async (): Promise<void> => {
    worker.shutdown()
    await running
  }
  return { ...worker, end }
}

async function start(place: TellingPlace, { steps, notify, ...own }: TellingOptions): Promise<TellingWorld> {
  const warnings: string[] = []
  const log = { info: () => {}, warn: (message: string) => void warnings.push(message) }
  const model = createScriptedModel({ steps, timers: SYSTEM_TIME.timers })
  const agent = defineAgent({ name: 'tested', ...own, model })
  const worker = await startWorker({ ...place, log, agent, ...(notify && { notify }) })
  const { workflowBundle: _, drainMs: __, connection: ___, ...shared } = place
  const host = await createTemporalHost({ ...shared, log, agent })
  const close = async (): Promise<void> => {
    await host.stop()
    await worker.end()
  }
  return {
    host,
    notices: worker.notices,
    warnings,
    when: (work) => work,
    until: untilSo,
    restart: async (next) => {
      await close()
      return await start(place, next)
    },
    close,
  }
}

/** The test's own time-out ends it. */
export async function untilSo(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(20)
}
