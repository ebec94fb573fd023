// Frees what was created for one session.
import type { Logger, Timers } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'
import type { SessionParts } from './catalog.ts'

/** Time limit of `dispose`, in milliseconds. */
const DISPOSE_MS = 10_000

/** Resolves within the limit. Never rejects. */
export async function disposeParts(
  parts: SessionParts,
  session: string,
  { timers, log }: { readonly timers: Timers; readonly log: Logger },
): Promise<void> {
  const message = `dispose timed out after ${DISPOSE_MS} ms`
  const limit = { timeoutMs: DISPOSE_MS, error: () => new BatonError({ code: 'internal', message }) }
  try {
    if (parts.dispose) await within(timers, limit, Promise.resolve(parts.dispose()))
  } catch (cause) {
    log.warn('dispose of a session failed', { session, cause: describeThrown(cause) })
  }
}
