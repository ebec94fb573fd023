// Local hosts that tell destinations, in virtual time, over a store in memory.
import type { Store } from '@baton/core/internal'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { createSerialIds } from '../host-contract/world-parts.ts'
import type { VirtualTime } from '../simulator/virtual-time.ts'
import { createVirtualTime } from '../simulator/virtual-time.ts'
import type { TellingKind, TellingOptions, TellingWorld } from './telling-kind.ts'

const START_MS = 10 ** 12
/** Virtual milliseconds that a situation waits for something. */
const PATIENCE_MS = 3_600_000

export const LOCAL_TELLING: TellingKind = {
  name: 'local',
  createWorld: async (init) => {
    const store = createMemoryStore({ leaseMs: Infinity })
    return await start({ store, time: createVirtualTime(START_MS), newId: createSerialIds() }, init)
  },
}

interface Place {
  readonly store: Store
  readonly time: VirtualTime
  readonly newId: () => string
}

async function start(place: Place, { steps, notify, ...agent }: TellingOptions): Promise<TellingWorld> {
  const { store, time, newId } = place
  const { clock, timers } = time
  const warnings: string[] = []
  const transport = { post: () => Promise.reject(new Error('this world has no network')) }
  const host = createHost({
    environment: { clock, timers, newId, transport },
    agent: defineAgent({ name: 'tested', ...agent, model: createScriptedModel({ steps, timers }) }),
    store,
    log: { info: () => {}, warn: (message) => void warnings.push(message) },
    ...(notify && { notify }),
  })
  await time.until(host.recover())
  const stop = (): Promise<void> => time.until(host.stop())
  return {
    host,
    notices: host.notices,
    warnings,
    when: (work) => time.until(work),
    until: async (isSo) => {
      const untilMs = time.nowMs() + PATIENCE_MS
      await time.settle()
      while (!isSo()) if (!(await time.runNext(untilMs))) throw new Error('nothing is left to happen')
    },
    restart: async (next) => {
      await stop()
      return await start(place, next)
    },
    close: stop,
  }
}
