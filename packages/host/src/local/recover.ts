// What a host does when it starts: sessions that a dead one left with work outstanding are opened, and so go on.
import type { Logger, Session, Timers } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describeThrown } from '@baton/runtime'
import { readOpening } from './session-log.ts'
import type { LimitedStore } from './store-in-time.ts'

export interface Recovery {
  /** Sessions that were opened again. */
  readonly recovered: number
  /** Those that could not be; each was logged. They are tried again when somebody asks for them, or at the next start. */
  readonly failed: number
}

export interface RecoverOptions {
  /** Milliseconds between two further looks, until the host stops; without it there is this one. A failed look is logged. */
  readonly everyMs?: number
}

export interface RecoverInit {
  readonly store: LimitedStore
  /** Whether a session of this agent can be opened here: another agent has other tools. */
  readonly knows: (agent: string) => boolean
  readonly log: Logger
  /** Opens a session for its principal. */
  readonly open: (session: string, principal: string) => Promise<Session>
}

/** Sessions that are opened at once. */
const AT_ONCE = 8

/** @throws BatonError `store_failed` when the sessions cannot be listed */
export async function recoverSessions(init: RecoverInit): Promise<Recovery> {
  let recovered = 0
  let failed = 0
  const left = listRecoverable(init.store)
  const work = async (): Promise<void> => {
    for await (const session of left) {
      try {
        if (await recover(init, session)) recovered += 1
      } catch (cause) {
        if (isBatonError(cause) && cause.code === 'session_held') continue // another host was faster
        failed += 1
        init.log.warn('a session could not be recovered', { session, cause: describeThrown(cause) })
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { recovered, failed }
}

/** Looks once, and with `everyMs` again and again until it is stopped. */
export function createRecovery(init: RecoverInit & { readonly timers: Timers }) {
  const { timers, log } = init
  let isStopped = false
  let stopTimer = (): void => {}
  const lookAgain = async (everyMs: number): Promise<void> => {
    try {
      const { recovered } = await recoverSessions(init)
      if (recovered > 0) log.info('sessions of a host that died go on here', { sessions: recovered })
    } catch (cause) {
      log.warn('sessions that could be recovered were not found', { cause: describeThrown(cause) })
    }
    wait(everyMs)
  }
  const wait = (everyMs: number): void => {
    if (!isStopped) stopTimer = timers.start(everyMs, () => void lookAgain(everyMs), { isBackground: true })
  }
  return {
    recover: async ({ everyMs }: RecoverOptions = {}): Promise<Recovery> => {
      const recovery = await recoverSessions(init)
      if (everyMs !== undefined) wait(everyMs)
      return recovery
    },
    stop: (): void => {
      isStopped = true
      stopTimer()
    },
  }
}

/** Read by several at once, each session goes to one of them. */
async function* listRecoverable(store: LimitedStore): AsyncGenerator<string> {
  for await (const { session } of store.listRecoverable()) yield session
}

async function recover({ store, knows, log, open }: RecoverInit, name: string): Promise<boolean> {
  const opening = await readOpening(store, name)
  if (!opening) return false
  if (!knows(opening.agent)) {
    log.info('a session of another agent is left as it is', { session: name, agent: opening.agent })
    return false
  }
  const session = await open(name, opening.principal)
  await session.close() // it stays open by itself while something is outstanding
  return true
}
