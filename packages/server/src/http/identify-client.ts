// Identifies the caller of a request: a peer that names the client it acts for, or a client known to the program.
// Otherwise returns the refusal.
import type { Principal } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describeThrown } from '@baton/runtime'
import type { Identity } from '../shared/identity.ts'
import { readIdentity, waitForIdentity } from '../shared/identity.ts'
import { NO_PEER_STATUS, readPeer, UNREADABLE_STATUS } from '../shared/peer-identity.ts'
import type { HandlerOptions, HandlerParts } from './handler-parts.ts'
import { answerError, answerRefusal } from './http-errors.ts'

export interface Found extends Identity {
  /** The network address, if known. */
  readonly address: string | undefined
  /** Whether a peer passed the request on. It has authenticated the client and counted the request. */
  readonly isFromPeer: boolean
}

/**
 * Returns the client of a request that claims to come from a peer, or the refusal. `address`: the request's network
 * address. @throws BatonError `rate_limited`
 */
export function findPeer({ peers, quotas }: HandlerParts, request: Request, address = ''): Found | Response {
  const read = (name: string): string | null => request.headers.get(name)
  const peer = peers && readPeer(read, peers.options)
  if (peer === 'unreadable') {
    peers?.warnings.noteUnreadable(address)
    const message = 'the header x-baton-client does not identify the client'
    return answerRefusal(UNREADABLE_STATUS, 'unauthorized', message)
  }
  if (peer) {
    const { principal, client, expiresAtMs } = peer
    const about = { principal, address: client === '' ? undefined : client, isFromPeer: true }
    return { ...about, ...(expiresAtMs !== undefined && { expiresAtMs }) }
  }
  // A guess at the secret counts like any anonymous request.
  quotas.takeRequest({ principal: undefined, address: address === '' ? undefined : address })
  peers?.warnings.noteStranger(address)
  // As an ordinary client it could get in under the wrong name if no token is needed.
  return answerRefusal(
    NO_PEER_STATUS,
    'unauthorized',
    'the caller is not a peer: servers that share a store need the same secret',
  )
}

/** Returns the client, or the refusal. */
export async function identify(
  { world }: HandlerParts,
  request: Request,
  authenticate: HandlerOptions['authenticate'],
): Promise<Identity | Response> {
  try {
    const found = authenticate
      ? await waitForIdentity(world.timers, (async () => await authenticate(request))())
      : ANONYMOUS
    return found ? readIdentity(found) : answerUnauthorized(NOBODY)
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'keys_unavailable') return answerError(cause, world.log)
    world.log.info('a request could not be authenticated', { cause: describeThrown(cause) })
    return answerUnauthorized(isBatonError(cause) && cause.code === 'unauthorized' ? cause.message : NOBODY)
  }
}

const NOBODY = 'authentication failed'
const ANONYMOUS: Principal = { id: 'anonymous' }

/** RFC 9110, 11.6.1: a 401 names a scheme. */
function answerUnauthorized(message: string): Response {
  const response = answerRefusal(401, 'unauthorized', message)
  response.headers.set('www-authenticate', 'Bearer')
  return response
}
