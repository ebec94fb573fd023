// A host that is opened when first needed, and retried after a failure: an editor may start the agent before a key is
// set.
import type { Host } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { LocalHost } from '@baton/host'
import type { EmbeddedHost } from './embedded-host.ts'

export interface LateHost {
  /** For a front: opens the real host on demand. */
  readonly host: Host & Pick<LocalHost, 'sessions' | 'has' | 'watch' | 'remove'>
  /** @throws BatonError when opening fails */
  open(): Promise<EmbeddedHost>
  /** Why no model can answer yet; `undefined` when one can. @throws BatonError for any other problem */
  missing(): Promise<string | undefined>
  stop(drainMs: number): Promise<void>
}

export function createLateHost(openHost: () => Promise<EmbeddedHost>): LateHost {
  let opened: Promise<EmbeddedHost> | undefined
  const open = (): Promise<EmbeddedHost> => {
    opened ??= openHost().catch((cause: unknown) => {
      opened = undefined
      throw cause
    })
    return opened
  }
  const host: LateHost['host'] = {
    session: async (id, init) => await (await open()).host.session(id, init),
    sessions: async (query) => await (await open()).host.sessions(query),
    has: async (session) => await (await open()).host.has(session),
    remove: async (session, by) => await (await open()).host.remove(session, by),
    watch: (query) => watchLater(open, query),
    stop: async (options) => await (await open()).host.stop(options),
  }
  return {
    host,
    open,
    missing: async () => {
      try {
        await open()
        return undefined
      } catch (cause) {
        if (isBatonError(cause) && cause.code === 'model_not_configured') return cause.message
        throw cause
      }
    },
    stop: async (drainMs) => {
      const embedded = await opened?.catch(() => undefined) // opening failed, and the error was reported then
      await embedded?.stop(drainMs)
    },
  }
}

async function* watchLater(open: () => Promise<EmbeddedHost>, query: Parameters<LocalHost['watch']>[0]) {
  yield* (await open()).host.watch(query)
}
