// The local engine: sessions as actors in this process.
import type { Agent } from '@baton/core'
import type { Engine } from '@baton/runtime'
import { AbortedCalls, hasRunningWork, waitForTurns } from '@baton/runtime'
import type { LocalSession, LocalSessionOptions } from './local-session.ts'
import { openLocalSession } from './local-session.ts'
import type { OpenSessions } from './open-sessions.ts'

/** Dependencies shared by all sessions of a host. */
export interface LocalEngineOptions extends Omit<
  LocalSessionOptions,
  'session' | 'agent' | 'principal' | 'meta' | 'aborted'
> {
  /** Milliseconds to wait for an aborted model call to end. */
  readonly abortMs?: number | undefined
}

/** @throws BatonError `invalid_option` */
export function createLocalEngine({ abortMs, ...init }: LocalEngineOptions, openSessions: OpenSessions): Engine {
  const { environment, leases, log } = init
  const shared = { ...init, aborted: new AbortedCalls({ timers: environment.timers, log, abortMs }) }
  const open: Engine['open'] = async (session, { agent, principal, meta = {} }) => {
    // A principal that does not own the session must be refused before anything changes.
    const owns = (local: LocalSession): boolean => local.state().principal === principal.id
    const { local, leave } = await openSessions.hold(session, {
      open: () => openLocalSession({ ...shared, session, agent, principal, meta }),
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

async function adoptAgent(local: LocalSession, agent: Agent, leave: () => void): Promise<void> {
  try {
    await local.adopt(agent)
  } catch (cause) {
    leave()
    throw cause
  }
}
