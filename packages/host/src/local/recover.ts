// Recovery at the start of a host: opens the sessions that a dead host left with outstanding work, which continues.
import type { Logger, Session, StoredSession, Timers } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describeThrown, readOpening } from '@baton/runtime'
import type { LimitedStore } from './store-in-time.ts'

export interface Recovery {
  /** Sessions that were opened again. */
  readonly recovered: number
  /**
   * Sessions that could not be opened. Each is logged once per reason. A damaged session, or one of another agent, is looked at
   * again when its log changes, when somebody asks for it or at the next start; the others at every look.
   */
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
/** Sessions that are remembered because they were not recovered; the others are looked at again each time. */
const LEFT_MAX = 10_000

/** Why a session was not recovered, and how it was listed then. */
interface Left {
  readonly listed: string
  readonly reason: string
}

/** By their names. */
type LeftSessions = Map<string, Left>

const OTHER_AGENT = 'another agent'
/** Reasons that only a change of the session’s log takes away. */
const LASTING: ReadonlySet<string> = new Set([OTHER_AGENT, 'log_damaged', 'log_version_unknown'])

/**
 * `former` are those that the last look left; `left` becomes those of this one.
 * @throws BatonError `store_failed` when the sessions cannot be listed
 */
async function recoverSessions(init: RecoverInit, former: LeftSessions, left: LeftSessions): Promise<Recovery> {
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
          init.log.info('a session of another agent is left as it is', { session, agent: outcome.agent }),
        )
      if (outcome.type === 'recovered') recovered += 1
    } catch (cause) {
      const reason = isBatonError(cause) ? cause.code : 'internal'
      if (reason === 'session_held') return // another host was faster
      failed += 1
      note(reason, () => init.log.warn('a session could not be recovered', { session, cause: describeThrown(cause) }))
    }
  }
  // Read by several at once, each session goes to one of them.
  const work = async (): Promise<void> => {
    for (let next = await sessions.next(); next.done !== true; next = await sessions.next()) await look(next.value)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { recovered, failed }
}

/** Looks once, and with `everyMs` again and again until it is stopped. */
export function createRecovery(init: RecoverInit & { readonly timers: Timers }) {
  const { timers, log } = init
  let isStopped = false
  let former: LeftSessions = new Map()
  let stopTimer = (): void => {}
  const look = async (): Promise<Recovery> => {
    const left: LeftSessions = new Map()
    const recovery = await recoverSessions(init, former, left)
    former = left
    return recovery
  }
  const lookAgain = async (everyMs: number): Promise<void> => {
    try {
      const { recovered } = await look()
      if (recovered > 0) log.info('sessions of a host that died go on here', { sessions: recovered })
    } catch (cause) {
      log.warn('sessions that could be recovered were not found', { cause: describeThrown(cause) })
    }
    wait(everyMs)
  }
  const wait = (everyMs: number): void => {
    stopTimer() // of an earlier call: one looks for all
    if (!isStopped) stopTimer = timers.start(everyMs, () => void lookAgain(everyMs), { isBackground: true })
  }
  return {
    recover: async ({ everyMs }: RecoverOptions = {}): Promise<Recovery> => {
      const recovery = await look()
      if (everyMs !== undefined) wait(everyMs)
      return recovery
    },
    stop: (): void => {
      isStopped = true
      stopTimer()
    },
  }
}

type Outcome = { readonly type: 'recovered' | 'gone' } | { readonly type: 'other-agent'; readonly agent: string }

async function recover({ store, knows, open }: RecoverInit, name: string): Promise<Outcome> {
  const opening = await readOpening(store, name)
  if (!opening) return { type: 'gone' }
  if (!knows(opening.agent)) return { type: 'other-agent', agent: opening.agent }
  const session = await open(name, opening.principal)
  await session.close() // it stays open by itself while something is outstanding
  return { type: 'recovered' }
}
