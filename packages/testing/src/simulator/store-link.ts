// The connection of one simulated process to a shared store. While it is cut, nothing is answered: a call fails, or
// hangs until it is restored. Requests in transit may arrive late, even after their process has died.
import type { Store } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Random } from '@baton/core/testing'
import type { VirtualTime } from './virtual-time.ts'

/** Fate of a call while the connection is cut. */
export type Cut = 'fails' | 'hangs'

export interface StoreLink {
  cut(how: Cut): void
  mend(): void
  isCut(): boolean
  /** The store, over this connection. */
  reach(store: Store): Store
}

export function createStoreLink(time: VirtualTime, random: Random): StoreLink {
  let how: Cut | undefined
  let waiting: (() => void)[] = []

  const failed = (): BatonError =>
    new BatonError({ code: 'store_failed', message: 'the simulated store cannot be reached' })
  /** Some requests pass a cut connection without an answer. */
  const pass = async (chanceOfPassing: number): Promise<void> => {
    if (how === undefined || random.chance(chanceOfPassing)) return
    if (how === 'fails') {
      await time.wait(random.below(200))
      throw failed()
    }
    await new Promise<void>((resolve) => void waiting.push(resolve))
    if (random.chance(0.5)) throw failed()
  }
  const over = async <Value>(act: () => Promise<Value>): Promise<Value> => {
    await pass(0.2)
    const value = await act()
    await pass(0)
    return value
  }
  async function* overEach<Value>(read: () => AsyncIterable<Value>): AsyncGenerator<Value> {
    await pass(0)
    yield* read()
    await pass(0)
  }
  return {
    cut: (given) => {
      how = given
    },
    mend: () => {
      how = undefined
      const late = waiting
      waiting = []
      for (const goOn of late) time.timers.start(random.below(100), goOn)
    },
    isCut: () => how !== undefined,
    reach: (store) => ({
      ...store,
      acquire: (...given) => over(() => store.acquire(...given)),
      append: (...given) => over(() => store.append(...given)),
      renew: (...given) => over(() => store.renew(...given)),
      release: (...given) => over(() => store.release(...given)),
      rest: (...given) => over(async () => await store.rest?.(...given)),
      resume: (...given) => over(async () => (await store.resume?.(...given)) ?? false),
      requestHandover: (...given) => over(() => store.requestHandover(...given)),
      read: (...given) => overEach(() => store.read(...given)),
      children: (...given) => overEach(() => store.children(...given)),
      list: (...given) => overEach(() => store.list(...given)),
      listRecoverable: () => overEach(() => store.listRecoverable()),
      listDue: (...given) => over(() => store.listDue(...given)),
      snapshots: {
        put: (...given) => over(() => store.snapshots.put(...given)),
        latest: (...given) => over(() => store.snapshots.latest(...given)),
      },
      blobs: {
        put: (...given) => over(() => store.blobs.put(...given)),
        get: (...given) => over(() => store.blobs.get(...given)),
        names: (...given) => over(() => store.blobs.names(...given)),
      },
    }),
  }
}
