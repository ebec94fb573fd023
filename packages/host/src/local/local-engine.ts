// The engine of the local host: opens sessions as actors in this process. It does not check who may open a session.
import type { Engine, OpenedSession, SessionOpening } from '@baton/runtime'
import { AbortedCalls, hasRunningWork, waitForTurns } from '@baton/runtime'
import type { LocalSession, LocalSessionOptions } from './local-session.ts'
import { openLocalSession } from './local-session.ts'
import type { OpenSessions } from './open-sessions.ts'

/** Dependencies shared by all sessions of a host. */
type SharedOptions = Omit<
  LocalSessionOptions,
  'session' | 'agent' | 'principal' | 'meta' | 'mustExist' | 'aborted' | 'child' | 'openChildren'
>

export interface LocalEngineOptions extends SharedOptions {
  /** Milliseconds to wait for an aborted model call to end. */
  readonly abortMs?: number | undefined
}

export interface LocalOpening extends SessionOpening {
  /** Refuses a session without records instead of creating it: it may have been removed since it was found. */
  readonly mustExist?: boolean
}

export interface LocalEngine extends Engine {
  /** @throws BatonError as `Engine.open` does; `unknown_session` with `mustExist` */
  open(session: string, opening: LocalOpening): Promise<OpenedSession>
}

/** @throws BatonError `invalid_option` */
export function createLocalEngine({ abortMs, ...init }: LocalEngineOptions, openSessions: OpenSessions): LocalEngine {
  const { environment, leases, log } = init
  const openChildren = openSessions.children
  const shared = { ...init, openChildren, aborted: new AbortedCalls({ timers: environment.timers, log, abortMs }) }
  const open: LocalEngine['open'] = async (session, { agent, principal, meta = {}, mustExist = false }) => {
    // A principal that does not own the session must be refused before anything changes.
    const owns = (local: LocalSession): boolean => local.state().principal === principal.id
    const { local, leave } = await openSessions.hold(session, {
      mustExist,
      open: () => openLocalSession({ ...shared, session, agent, principal, meta, mustExist }),
      wake: (lingering) => lingering.wake(owns(lingering) ? agent : undefined),
    })
    if (agent && owns(local)) await adoptAgent(local, agent, leave)
    return { engine: local, leave }
  }
  const stop: Engine['stop'] = async ({ drainMs }) => {
    const sessions = await openSessions.all()
    await waitForTurns(environment, drainMs, () =>
      sessions.some((local) => !local.isClosed() && hasRunningWork(local.state())),
    )
    await openSessions.closeAll()
    leases.stop()
  }
  return { open, stop }
}

async function adoptAgent(
  local: LocalSession,
  agent: NonNullable<SessionOpening['agent']>,
  leave: () => void,
): Promise<void> {
  try {
    await local.adopt(agent)
  } catch (cause) {
    leave()
    throw cause
  }
}
