// A store in memory that waits at its gate before everything that it does, so that a test decides what is still under
// way.
import type { ErrorCode, Store } from '@baton/core/internal'
import { BatonError } from '@baton/core'
import { createMemoryStore } from '@baton/host'

export function createGatedStore() {
  const memory = createMemoryStore()
  let gate: PromiseWithResolvers<void> | undefined
  let failure: ErrorCode | undefined
  const pass =
    <Given extends unknown[], Done>(act: (...given: Given) => Promise<Done>, fails = false) =>
    async (...given: Given): Promise<Done> => {
      await gate?.promise
      if (fails && failure) {
        const code = failure
        failure = undefined
        throw new BatonError({ code, message: 'the disk is full' })
      }
      return await act(...given)
    }
  const store: Store = {
    ...memory,
    append: pass(memory.append, true),
    acquire: pass(memory.acquire),
    remove: pass(memory.remove),
    blobs: { ...memory.blobs, put: pass(memory.blobs.put) },
    read: async function* (session, fromPos) {
      await gate?.promise
      yield* memory.read(session, fromPos)
    },
    list: async function* (options) {
      await gate?.promise
      yield* memory.list(options)
    },
  }
  return {
    store,
    hold: () => void (gate ??= Promise.withResolvers<void>()),
    go: () => {
      gate?.resolve()
      gate = undefined
    },
    /** The next append fails. With `store_locked` it is not tried again: the session is read again from its log. */
    failNext: (code: ErrorCode = 'store_failed') => void (failure = code),
  }
}
