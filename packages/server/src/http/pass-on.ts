// Passes a request on to the peer that holds its session, at most once, and returns the peer's answer. This server has
// already counted the request.
import type { Principal } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { NoLink, PeerOptions } from '../shared/peer-identity.ts'
import { BAD_ADDRESS, createPeerHeaders, findAtPeer } from '../shared/peer-identity.ts'
import type { PeerWarnings } from '../shared/peer-warnings.ts'
import { askPeer } from './ask-peer.ts'
import type { Asker, ChatQuotas } from './chat-quotas.ts'
import type { ServerWorld } from '../shared/server-world.ts'

export interface PassOnParts {
  readonly world: ServerWorld
  readonly limits: { readonly keepAliveMs: number }
  readonly quotas: ChatQuotas
  readonly peers: Peers | undefined
}

/** A front's knowledge of the other servers. */
export interface Peers {
  readonly options: PeerOptions
  readonly warnings: PeerWarnings
  /** Logs requests that are passed on; bursts are sampled. */
  readonly noteInfo: ServerWorld['log']['info']
}

export interface PassedRequest {
  readonly method: string
  /** Including its query. */
  readonly path: string
  /** Without the headers that identify the client to the peer. */
  readonly headers: Readonly<Record<string, string>>
  readonly readBody?: () => Promise<Uint8Array>
  readonly signal: AbortSignal
  readonly principal: Principal
  readonly expiresAtMs?: number | undefined
  readonly asker: Asker
  /** Whether a peer has already passed it on. */
  readonly isFromPeer?: boolean
}

/**
 * Returns the peer's answer, or `undefined` if `cause` names no peer or it cannot be reached; the client then tries
 * again later.
 * @throws BatonError `quota_exceeded`, `server_draining`, or an error of `readBody`
 */
export async function passOn(
  { world, limits, quotas, peers }: PassOnParts,
  request: PassedRequest,
  cause: unknown,
): Promise<Response | undefined> {
  const address = findHolder(cause)
  if (!peers || address === undefined || request.isFromPeer || address === peers.options.address) return undefined
  const { principal, expiresAtMs, asker, signal, method } = request
  const url = findAtPeer(request.path, address)
  const body = await request.readBody?.()
  const release = quotas.holdStream(asker)
  const about = { principal, client: asker.address ?? '', ...(expiresAtMs !== undefined && { expiresAtMs }) }
  const headers = { ...request.headers, ...createPeerHeaders(peers.options.secret, about) }
  const sent = { method, headers, signal, ...(body && { body }) }
  const more = { timers: world.timers, silenceMs: SILENT_BEATS * limits.keepAliveMs, onClose: release }
  const answer = url ? await askPeer({ ...sent, ...more, url }) : refuseAddress(release)
  if (answer instanceof Response) {
    peers.noteInfo('a request was passed on to the server that holds its session', { peer: address })
    return answer
  }
  if (!signal.aborted) peers.warnings.noteUnreachable(address, answer)
  return undefined
}

/** An answer counts as broken after this many missing keep-alive comments. */
const SILENT_BEATS = 2

function refuseAddress(release: () => void): NoLink {
  release()
  return BAD_ADDRESS
}

/** The address of the peer that holds the session, if that is the `cause`. */
function findHolder(cause: unknown): string | undefined {
  if (!isBatonError(cause) || cause.code !== 'session_held') return undefined
  const { address } = cause.data
  return typeof address === 'string' ? address : undefined
}
