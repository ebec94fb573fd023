// Servers that share a store are peers. A secret that they share says that a connection or a request comes from a peer; what a
// peer says of its client is believed. How something is passed on is the fronts' affair.
import type { Principal } from '@baton/core'
import { BatonError, isJsonObject, parseJson } from '@baton/core'
import { isSameSecret } from './same-secret.ts'

export interface PeerOptions {
  /** The address at which peers reach this server, without a path: `ws://10.0.0.5:8080`. Give the host the same `address`. */
  readonly address: string
  /** A secret of at least 16 characters that only the peers know. */
  readonly secret: string
}

/** For whom a peer speaks. */
export interface PeerClient {
  readonly principal: Principal
  /** The network address of the client, as the peer saw it; empty where it does not know. */
  readonly client: string
  /** Until when that holds; see `Identity`. */
  readonly expiresAtMs?: number
}

/** What is to be checked: `secret`: the peer was reached, and did not take this server for its own; `client`: nor who is passed on. */
export type PeerProblem = 'address' | 'secret' | 'client'

/** Why nothing could be passed on to a peer. */
export interface NoLink {
  readonly why: string
  readonly problem: PeerProblem
}

const SECRET_HEADER = 'x-baton-peer'
const CLIENT_HEADER = 'x-baton-client'
/** Characters that a secret has at least. */
const SECRET_CHARS = 16
/** The HTTP status that a peer with a different secret answers with. */
export const NO_PEER_STATUS = 401
/** The one of a peer that cannot read who is passed on. */
export const UNREADABLE_STATUS = 422
/** On every answer to a request of a peer: others come from no server of Baton. */
export const ANSWER_MARK = 'x-baton-answer'
/** Milliseconds that a peer has to take a connection. */
export const CONNECT_MS = 3000

/** @throws BatonError `invalid_option` */
export function checkPeers({ address, secret }: PeerOptions): void {
  const url = URL.parse(address)
  if (!url || !isPeerScheme(url) || url.username !== '' || url.pathname !== '/')
    throw new BatonError({
      code: 'invalid_option',
      message: `the address for peers must be like ws://10.0.0.5:8080, not ${JSON.stringify(address)}`,
    })
  if (secret.length < SECRET_CHARS || !/^[\x21-\x7e]+$/.test(secret))
    throw new BatonError({
      code: 'invalid_option',
      message: `the secret of the peers must have at least ${SECRET_CHARS} visible ASCII characters, not ${secret.length}`,
    })
}

/**
 * Where a path, with its first slash, is at the peer that published this address. Undefined: the address is none of a WebSocket; the other server
 * may have checked less than this one.
 */
export function findAtPeer(path: string, address: string): URL | undefined {
  const url = URL.parse(address)
  // Put together, and not resolved: a path that begins with two slashes would name another server.
  return url && isPeerScheme(url) ? new URL(`${url.origin}${path}`) : undefined
}

function isPeerScheme({ protocol }: URL): boolean {
  return /^wss?:$/.test(protocol)
}

/** Reads a header of a request, by its name in small letters. */
export type ReadHeader = (name: string) => string | readonly string[] | null | undefined

/** Whether the other end says that it is a peer. */
export function claimsToBePeer(read: ReadHeader): boolean {
  return (read(SECRET_HEADER) ?? undefined) !== undefined
}

/** Undefined for what does not come from a peer; `unreadable` for a peer that does not tell who its client is. */
export function readPeer(read: ReadHeader, { secret }: PeerOptions): PeerClient | 'unreadable' | undefined {
  const given = read(SECRET_HEADER)
  if (typeof given !== 'string' || !isSameSecret(given, secret)) return undefined
  const parsed = parseJson(Buffer.from(String(read(CLIENT_HEADER)), 'base64url').toString())
  const { principal, client, expiresAtMs } = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  if (!isJsonObject(principal) || typeof principal['id'] !== 'string' || typeof client !== 'string') return 'unreadable'
  if (expiresAtMs !== undefined && typeof expiresAtMs !== 'number') return 'unreadable'
  return { principal: { ...principal, id: principal['id'] }, client, ...(expiresAtMs !== undefined && { expiresAtMs }) }
}

/** The headers by which a peer knows this server, and for whom it speaks. */
export function createPeerHeaders(secret: string, about: PeerClient): Record<string, string> {
  const { principal, client, expiresAtMs } = about
  const told: PeerClient = { principal, client, ...(expiresAtMs !== undefined && { expiresAtMs }) }
  return { [SECRET_HEADER]: secret, [CLIENT_HEADER]: Buffer.from(JSON.stringify(told)).toString('base64url') }
}

/** What an answer with this status says of a link that a peer did not make. */
export function describeRefusal(status: number | undefined): NoLink {
  const problem = status === NO_PEER_STATUS ? 'secret' : status === UNREADABLE_STATUS ? 'client' : 'address'
  return { why: `it answered with status ${status}`, problem }
}
