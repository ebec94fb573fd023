// The answer to a host that asks for a session, or wants it removed, while another one holds it.
import type { Holder } from '@baton/core'
import { BatonError } from '@baton/core'

export function createHeldError(session: string, { owner, leaseUntilMs, address }: Holder): BatonError {
  const isEnding = Number.isFinite(leaseUntilMs)
  const until = isEnding
    ? `until ${new Date(leaseUntilMs).toISOString()}, or longer when it renews its lease`
    : 'for good'
  return new BatonError({
    code: 'session_held',
    message: `session ${session} is held by host ${owner}${address === undefined ? '' : ` at ${address}`} ${until}`,
    data: { owner, ...(isEnding && { leaseUntilMs }), ...(address !== undefined && { address }) },
  })
}
