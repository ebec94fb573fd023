// The error for a host that wants to acquire or remove a session held by another host.
import type { Holder } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'

export function createHeldError(session: string, { owner, leaseUntilMs, address }: Holder): BatonError {
  const isEnding = Number.isFinite(leaseUntilMs)
  const until = isEnding
    ? `until ${new Date(leaseUntilMs).toISOString()}, or longer if the host renews its lease`
    : 'indefinitely'
  return new BatonError({
    code: 'session_held',
    message: `session ${session} is held by host ${owner}${address === undefined ? '' : ` at ${address}`} ${until}`,
    data: { owner, ...(isEnding && { leaseUntilMs }), ...(address !== undefined && { address }) },
  })
}
