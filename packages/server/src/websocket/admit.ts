// Identifies the principal of a connection, or refuses it: checks the request, then asks the program, which may take a
// moment. Conditions that may change meanwhile are checked again afterwards.
import type { Logger, Principal } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describeThrown } from '@baton/runtime'
import type { IncomingMessage } from 'node:http'
import type { Identity, PeerWarnings } from '../shared/peer-identity.ts'
import { claimsToBePeer, readIdentity, readPeer, waitForIdentity } from '../shared/peer-identity.ts'
import type { Refusal } from './admission.ts'
import {
  checkAdmission,
  CHAT_PATH,
  createQuotaRefusal,
  createUnauthorized,
  EDITOR_PATH,
  isLoopback,
  KEYS_UNAVAILABLE,
  NO_PEER,
  PATH,
  SHUTTING_DOWN,
  TOO_MANY,
  UNKNOWN_PRINCIPAL,
  UNREADABLE_CLIENT,
} from './admission.ts'
import { findClientAddress } from '../shared/client-address.ts'
import { deriveLimitKey } from '../shared/rate-limit.ts'
import type { ConnectionLimits, Quotas } from './limits.ts'
import type { WebSocketServerOptions } from './connection-options.ts'
import type { UnaskedSockets } from './unasked-sockets.ts'

export interface AdmissionParts {
  readonly init: WebSocketServerOptions
  readonly limits: ConnectionLimits
  readonly open: { readonly size: number }
  readonly isDraining: () => boolean
  readonly quotas: Quotas
  readonly unasked: UnaskedSockets
  readonly peerWarnings: PeerWarnings
  readonly strangersLog: Logger
}

export interface Admitted extends Identity {
  readonly isFromPeer?: boolean
}

export interface Asked {
  /** Its network address. */
  readonly client: string
  readonly admitted: Admitted | Refusal
}

/** Synchronous if `authenticate` returns no promise. Never rejects. */
export function admit(parts: AdmissionParts, request: IncomingMessage): Asked | Promise<Asked> {
  const { init, limits, open, isDraining, peerWarnings, unasked } = parts
  const { peers, address = '127.0.0.1', trustedProxies = 0 } = init
  const client = findClientAddress(request, trustedProxies)
  const state = { draining: isDraining(), full: open.size >= limits.connections, isLocal: isLoopback(address) }
  // A peer has already checked the token. Its clients' turns may run here while this server drains.
  const readHeader = (name: string): string | readonly string[] | undefined => request.headers[name]
  const peer = peers && readPeer(readHeader, peers)
  if (peer === 'unreadable') {
    peerWarnings.noteUnreadable(client)
    return { client, admitted: UNREADABLE_CLIENT }
  }
  if (peer) unasked.notePeer(request.socket)
  if (peer) return { client: peer.client, admitted: state.full ? TOO_MANY : { ...peer, isFromPeer: true } }
  // As an ordinary app it could get in under another name if no token is required.
  if (claimsToBePeer(readHeader)) {
    peerWarnings.noteStranger(client)
    return { client, admitted: NO_PEER }
  }
  const paths = [PATH, ...(init.chats ? [CHAT_PATH] : []), ...(init.editors ? [EDITOR_PATH] : [])]
  const refusal = checkAdmission(request, { ...init, ...state, paths })
  return refusal ? { client, admitted: refusal } : identify(parts, request, client)
}

function identify(parts: AdmissionParts, request: IncomingMessage, client: string): Asked | Promise<Asked> {
  const { authenticate, timers } = parts.init
  const tellRefusal = (cause: unknown): Asked => ({ client, admitted: describeRefusal(parts, cause) })
  const tell = (found: Identity | Principal | undefined): Asked => {
    if (!found) return { client, admitted: UNKNOWN_PRINCIPAL }
    const identity = readIdentity(found)
    return { client, admitted: checkRoom(parts, client, identity) ?? identity }
  }
  try {
    const found = authenticate ? authenticate(request) : ANONYMOUS
    if (!isPromise(found)) return tell(found)
    return waitForIdentity(timers, found).then(tell).catch(tellRefusal)
  } catch (cause) {
    return tellRefusal(cause)
  }
}

function isPromise(found: object | undefined): found is Promise<Identity | Principal | undefined> {
  return found !== undefined && 'then' in found
}

const ANONYMOUS: Identity = { principal: { id: 'anonymous' } }

/** Returns why there is no room for an authenticated client; called again when its connection begins. */
export function checkRoom(
  { init, limits, open, isDraining, quotas }: AdmissionParts,
  client: string,
  { principal }: Identity,
): Refusal | undefined {
  if (isDraining()) return SHUTTING_DOWN
  if (open.size >= limits.connections) return TOO_MANY
  const tooMany = quotas.checkConnection({
    address: deriveLimitKey(client),
    principal: init.authenticate && principal.id,
  })
  return tooMany === undefined ? undefined : createQuotaRefusal(tooMany)
}

function describeRefusal({ strangersLog }: AdmissionParts, cause: unknown): Refusal {
  strangersLog.warn('a connection could not be authenticated', { cause: describeThrown(cause) })
  if (!isBatonError(cause)) return UNKNOWN_PRINCIPAL
  if (cause.code === 'keys_unavailable') return KEYS_UNAVAILABLE
  return cause.code === 'unauthorized' ? createUnauthorized(cause.message) : UNKNOWN_PRINCIPAL
}
