// Who is behind a request: a peer that passes it on and says for whom, or somebody whom the program knows; else why nobody is
// let in.
import type { Principal } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describeThrown } from '@baton/runtime'
import type { Identity } from '../shared/identity.ts'
import { readIdentity, waitForIdentity } from '../shared/identity.ts'
import { NO_PEER_STATUS, readPeer, UNREADABLE_STATUS } from '../shared/peer-identity.ts'
import type { HandlerOptions, HandlerParts } from './handler-parts.ts'
import { answerError, answerRefusal } from './http-errors.ts'

export interface Found extends Identity {
  /** Of the network, where it is known. */
  readonly address: string | undefined
  /** A peer has passed the request on; it has let the client in, and has counted what it asks. */
  readonly isFromPeer: boolean
}

/** Of a request that claims to come from a peer. `address`: where it comes from. @throws BatonError `rate_limited` */
export function findPeer({ peers, quotas }: HandlerParts, request: Request, address = ''): Found | Response {
  const read = (name: string): string | null => request.headers.get(name)
  const peer = peers && readPeer(read, peers.options)
  if (peer === 'unreadable') {
    peers?.warnings.noteUnreadable(address)
    const message = 'the header x-baton-client does not say whose request this is'
    return answerRefusal(UNREADABLE_STATUS, 'unauthorized', message)
  }
  if (peer) {
    const { principal, client, expiresAtMs } = peer
    const about = { principal, address: client === '' ? undefined : client, isFromPeer: true }
    return { ...about, ...(expiresAtMs !== undefined && { expiresAtMs }) }
  }
  // Whoever guesses the secret does so at the pace of other strangers.
  quotas.takeRequest({ principal: undefined, address: address === '' ? undefined : address })
  peers?.warnings.noteStranger(address)
  // Taken for an app, it would be let in where nobody is asked for a token, under another name.
  return answerRefusal(NO_PEER_STATUS, 'unauthorized', 'this is no peer: the servers of a store need the same secret')
}

/** Who asks, or why nobody is let in. */
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

const NOBODY = 'the server does not know who you are'
const ANONYMOUS: Principal = { id: 'anonymous' }

/** RFC 9110, 11.6.1: a 401 names a scheme. */
function answerUnauthorized(message: string): Response {
  const response = answerRefusal(401, 'unauthorized', message)
  response.headers.set('www-authenticate', 'Bearer')
  return response
}
