// Keeps a client attached while its front needs it: its lease is renewed long before it ends, after a failed renewal
// too, and a client that a restart of the session has detached is attached again at once.
import type { FrontSession, LeaseClient, Logger, Timers } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'

export interface KeptLease {
  readonly session: FrontSession
  readonly client: LeaseClient
  readonly timers: Timers
  readonly log: Logger
}

/** Length of a kept lease, so that two renewals may fail. */
export const KEPT_LEASE_MS = 30_000
const RENEWAL_MS = 10_000

/** Returns the function that ends the renewals; the lease then ends by itself. */
export function keepLease({ session, client, timers, log }: KeptLease): () => void {
  let isOver = false
  let stopTimer = (): void => {}
  const plan = (): void => {
    stopTimer()
    stopTimer = timers.start(RENEWAL_MS, () => void renew())
  }
  /** Never rejects. */
  const renew = async (): Promise<void> => {
    try {
      await client.renew()
    } catch (cause) {
      if (!isOver)
        log.warn('the lease of a client could not be renewed', {
          session: session.id,
          client: client.connection,
          cause: describeThrown(cause),
        })
    }
    if (!isOver) plan()
  }
  plan()
  const stopListening = session.onClientsGone(() => void renew())
  return () => {
    isOver = true
    stopTimer()
    stopListening()
  }
}
