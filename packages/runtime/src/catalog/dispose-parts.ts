// Frees what was made for one session alone.
import type { Logger, Timers } from '@baton/core'
import { BatonError } from '@baton/core'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'
import type { SessionParts } from './catalog.ts'

/** Milliseconds that `dispose` may take. */
const DISPOSE_MS = 10_000

/** Never rejects, and ends. */
export async function disposeParts(
  parts: SessionParts,
  session: string,
  { timers, log }: { readonly timers: Timers; readonly log: Logger },
): Promise<void> {
  const message = `dispose did not end in ${DISPOSE_MS} ms`
  const limit = { timeoutMs: DISPOSE_MS, error: () => new BatonError({ code: 'internal', message }) }
  try {
    if (parts.dispose) await within(timers, limit, Promise.resolve(parts.dispose()))
  } catch (cause) {
    log.warn('the parts of a session could not be disposed of', { session, cause: describeThrown(cause) })
  }
}
