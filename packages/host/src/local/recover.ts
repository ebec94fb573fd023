// Recovery at host startup: opens the sessions that a dead host left with outstanding work, so that they continue.
import type { Logger, StoredSession, Timers } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import type { OpenedSession } from '@baton/runtime'
import { createStoppedError, describeThrown, readIdentity } from '@baton/runtime'
import type { LimitedStore } from './store-in-time.ts'

/** Counts of `host.recover`: sessions of hosts that have died. */
export interface Recovery {
  /** Number of sessions that were reopened. */
  readonly recovered: number
  /**
   * Number of sessions that could not be opened. Each is logged once per reason. A damaged session, or one of another
   * agent, is retried when its log changes, when it is requested, or at the next start; others at every look.
   */
  readonly failed: number
}

export interface RecoverOptions {
  /**
   * Milliseconds between further looks, until the host stops. Without it there is only this one. A failed look is
   * logged.
   */
  readonly everyMs?: number
}

export interface RecoveryParts {
  readonly store: LimitedStore
  /** Whether a session of this agent can be opened here: another agent has other tools. */
  readonly knows: (agent: string) => boolean
  readonly log: Logger
  /** Opens a session for its principal. @throws BatonError `unknown_session` if it was removed meanwhile */
  readonly open: (session: string, principal: string) => Promise<OpenedSession>
}

/** Sessions opened in parallel. */
const AT_ONCE = 8
/** Unrecovered sessions to remember. Any others are retried at every look. */
const LEFT_MAX = 10_000

/** Why a session was not recovered, and how it was listed at that time. */
interface Left {
  readonly listed: string
  readonly reason: string
}

/** Unrecovered sessions by name. */
type LeftSessions = Map<string, Left>

const OTHER_AGENT = 'another agent'
/** Reasons that last until the session's log changes. */
const LASTING: ReadonlySet<string> = new Set([OTHER_AGENT, 'log_damaged', 'log_version_unknown'])

/**
 * Looks once. `former` holds the sessions the last look left; `left` is filled with those of this one.
 * @throws BatonError `store_failed` when the sessions cannot be listed
 */
async function recoverSessions(init: RecoveryParts, former: LeftSessions, left: LeftSessions): Promise<Recovery> {
  let recovered = 0
  let failed = 0
  const sessions = init.store.listRecoverable()[Symbol.asyncIterator]()
  const look = async (stored: StoredSession): Promise<void> => {
    const { session } = stored
    const listed = JSON.stringify([stored.records, stored.lastMs, stored.damage])
    const known = former.get(session)
    const note = (reason: string, tell: () => void): void => {
      if (left.size < LEFT_MAX) left.set(session, { listed, reason })
      if (reason !== known?.reason) tell()
    }
    if (known?.listed === listed && LASTING.has(known.reason)) {
      left.set(session, known)
      return
    }
    try {
      const outcome = await recover(init, session)
      if (outcome.type === 'other-agent')
        note(OTHER_AGENT, () =>
          init.log.info('a session of another agent was not recovered', { session, agent: outcome.agent }),
        )
      if (outcome.type === 'recovered') recovered += 1
    } catch (cause) {
      const reason = isBatonError(cause) ? cause.code : 'internal'
      // Another host was faster, or a removal.
      if (reason === 'session_held' || reason === 'unknown_session') return
      failed += 1
      note(reason, () => init.log.warn('a session could not be recovered', { session, cause: describeThrown(cause) }))
    }
  }
  // The workers share the iterator, so each session goes to only one of them.
  const work = async (): Promise<void> => {
    for (let next = await sessions.next(); next.done !== true; next = await sessions.next()) await look(next.value)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { recovered, failed }
}

/** Looks once, or repeatedly with `everyMs` until it is stopped. */
export function createRecovery(init: RecoveryParts & { readonly timers: Timers }) {
  const { timers, log } = init
  let isStopped = false
  let former: LeftSessions = new Map()
  let stopTimer = (): void => {}
  const open: RecoveryParts['open'] = (session, principal) =>
    isStopped ? Promise.reject(createStoppedError()) : init.open(session, principal)
  const look = async (): Promise<Recovery> => {
    const left: LeftSessions = new Map()
    const recovery = await recoverSessions({ ...init, open }, former, left)
    former = left
    return recovery
  }
  const lookAgain = async (everyMs: number): Promise<void> => {
    try {
      const { recovered } = await look()
      if (recovered > 0) log.info('sessions of a dead host continue here', { sessions: recovered })
    } catch (cause) {
      log.warn('recoverable sessions could not be listed', { cause: describeThrown(cause) })
    }
    wait(everyMs)
  }
  const wait = (everyMs: number): void => {
    stopTimer() // of an earlier call: one timer is enough
    if (!isStopped) stopTimer = timers.start(everyMs, () => void lookAgain(everyMs), { isBackground: true })
  }
  return {
    recover: async ({ everyMs }: RecoverOptions = {}): Promise<Recovery> => {
      const recovery = await look()
      if (everyMs !== undefined) wait(everyMs)
      return recovery
    },
    /** Whether the last look failed to open the session, which may succeed later. */
    isUnrecovered: (session: string): boolean => {
      const reason = former.get(session)?.reason
      return reason !== undefined && reason !== OTHER_AGENT
    },
    stop: (): void => {
      isStopped = true
      stopTimer()
    },
  }
}

type Outcome = { readonly type: 'recovered' | 'gone' } | { readonly type: 'other-agent'; readonly agent: string }

async function recover({ store, knows, open }: RecoveryParts, name: string): Promise<Outcome> {
  const identity = await readIdentity(store, name)
  if (!identity) return { type: 'gone' }
  if (!knows(identity.agent)) return { type: 'other-agent', agent: identity.agent }
  const { leave } = await open(name, identity.principal)
  leave() // it stays open by itself while work is outstanding
  return { type: 'recovered' }
}
