// A log whose process dies around records of several sessions at once: each session stops at its own record until all
// of them have stopped.
import type { SessionLog } from '@baton/temporal'
import type { KillPlan } from '@baton/testing/kill-plan'
import { die } from '@baton/testing/killing-store'
import { setTimeout as wait } from 'node:timers/promises'

export interface Standing {
  readonly planOf: (session: string) => KillPlan | undefined
  /** Resolves when records of the session may be stored. */
  readonly mayWrite: (session: string) => Promise<void>
  /** Called when the session has stopped. */
  readonly tellThere: (session: string) => void
  /** Resolves when the process may die. */
  readonly struck: Promise<void>
}

/**
 * After the strike, it allows the records of `later` to be stored, and the process dies `laterMs` after that. A record
 * of `before` is not stored; a record of `after` is stored, but its caller does not learn that.
 */
export function standingAt(log: SessionLog, { planOf, mayWrite, tellThere, struck }: Standing): SessionLog {
  const later: Promise<void>[] = []
  let laterMs = 0
  const strike = async (): Promise<void> => {
    await struck
    await Promise.allSettled(later)
    await wait(laterMs)
    die()
  }
  strike().catch((cause: unknown) => process.stderr.write(`${String(cause)}\n`))
  return {
    ...log,
    put: async (session, records) => {
      await mayWrite(session)
      const plan = planOf(session)
      if (!plan || !records.some(({ pos }) => pos === plan.at)) {
        await log.put(session, records)
        return
      }
      if (plan.moment === 'after') await log.put(session, records)
      tellThere(session)
      if (plan.moment !== 'later') await new Promise<never>(() => {}) // until the process dies
      laterMs = Math.max(laterMs, plan.laterMs)
      const written = struck.then(() => log.put(session, records))
      later.push(written)
      await written
    },
  }
}
