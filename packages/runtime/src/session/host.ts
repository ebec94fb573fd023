// A host as programs and fronts have it, over any engine: who may open which session.
import type { Host, Principal, Session, SessionInit } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Engine, SessionEngine } from '../engine.ts'
import { createSession } from './session.ts'

export interface HostOverInit {
  readonly engine: Engine
  readonly newId: () => string
}

const ANONYMOUS: Principal = { id: 'anonymous' }

export function createHostOver({ engine, newId }: HostOverInit): Host {
  let stopping: Promise<void> | undefined
  const isStopping = (): boolean => stopping !== undefined // a session that opens meanwhile asks too

  const session = async (id: string | undefined, init: SessionInit = {}): Promise<Session> => {
    if (isStopping()) throw createStoppedError()
    const { agent, principal = ANONYMOUS } = init
    const opened = await engine.open(id ?? newId(), { principal, ...(agent && { agent }) })
    const refusal = isStopping() ? createStoppedError() : refuseOpening(opened, principal)
    if (!refusal) return createSession({ engine: opened, principal, newId })
    await opened.close()
    throw refusal
  }
  return { session, stop: ({ drainMs = 0 } = {}) => (stopping ??= engine.stop({ drainMs })) }
}

/** The answer of a host that was stopped. */
export function createStoppedError(): BatonError {
  return new BatonError({ code: 'host_stopped', message: 'the host was stopped' })
}

function refuseOpening(opened: SessionEngine, { id }: Principal): BatonError | undefined {
  if (opened.state().principal === id) return undefined
  const message = `session ${opened.session} belongs to another principal than ${id}`
  return new BatonError({ code: 'unauthorized', message })
}
