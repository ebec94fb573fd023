// Servers that share a store are peers. They authenticate each other with a shared secret, and a server trusts what a
// peer says about its client. Each front passes requests on in its own way. Failures are logged for the
// operator: every client fails in the same way, so each problem of a peer is logged at most once a minute.
import type { Principal, Timers, Clock, Logger } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue, isJsonObject, parseJson } from '@baton/core/internal'
import { isSameSecret } from './same-secret.ts'
import { checkPrincipal, within } from '@baton/runtime'
import type { RateLimit } from './rate-limit.ts'
import { createRateLimit } from './rate-limit.ts'

export interface PeerOptions {
  /**
   * The address where peers reach this server, without a path, such as `ws://10.0.0.5:8080`. Give the host the same
   * `address`.
   */
  readonly address: string
  /** A secret of at least 16 characters that only the peers know. */
  readonly secret: string
}

/** The client that a peer acts for. */
export interface PeerClient {
  readonly principal: Principal
  /** The network address of the client, as the peer saw it; empty if unknown. */
  readonly client: string
  /** When the client's access expires, in milliseconds since 1970; see `Identity`. */
  readonly expiresAtMs?: number
}

/**
 * The fault to look for. `address`: no peer answers there. `secret`: the peer refused this server's secret. `client`:
 * the peer could not read who the client is.
 */
export type PeerProblem = 'address' | 'secret' | 'client'

/** Why nothing could be passed on to a peer. */
export interface NoLink {
  readonly why: string
  readonly problem: PeerProblem
}

/** A peer's address that is invalid. */
export const BAD_ADDRESS: NoLink = { why: 'its address is not a WebSocket address', problem: 'address' }

const SECRET_HEADER = 'x-baton-peer'
const CLIENT_HEADER = 'x-baton-client'
/** Minimum length of a secret. */
const SECRET_CHARS = 16
/** The HTTP status of a peer with a different secret. */
export const NO_PEER_STATUS = 401
/** The HTTP status of a peer that cannot read who the client is. */
export const UNREADABLE_STATUS = 422
/** The header of every answer to a peer; an answer without it does not come from a Baton server. */
export const ANSWER_MARK = 'x-baton-answer'
/** Milliseconds for a peer to accept a connection. */
export const CONNECT_MS = 3000

const PEER_FIELDS: ReadonlySet<keyof PeerOptions> = new Set(['address', 'secret'] as const)

/** @throws BatonError `invalid_option` */
export function checkPeers(peers: PeerOptions): void {
  checkFields(peers, { what: 'peers', code: 'invalid_option', fields: PEER_FIELDS })
  checkKinds(peers, { what: 'peers', code: 'invalid_option', kinds: { address: 'text', secret: 'text' } })
  const { address, secret }: { readonly address?: string; readonly secret?: string } = peers // as untyped programs see it
  const url = URL.parse(address ?? '')
  // It is stored and logged, so anything but a bare origin is refused.
  if (!url || !isPeerScheme(url) || url.href !== `${url.origin}/`) {
    const shown = address?.replace(/\/\/.*@/s, '//…@').replace(/[?#].*/s, '?…')
    throw new BatonError({
      code: 'invalid_option',
      message: `the address for peers must be like ws://10.0.0.5:8080, without a path, not ${describeValue(shown)}`,
    })
  }
  const chars = secret?.length ?? 0
  const issue =
    chars < SECRET_CHARS
      ? `must have at least ${SECRET_CHARS} characters, not ${chars}`
      : /^[\x21-\x7e]+$/.test(secret ?? '')
        ? undefined
        : 'must consist of visible ASCII characters without spaces'
  if (issue !== undefined)
    throw new BatonError({ code: 'invalid_option', message: `the secret of the peers (BATON_PEER_SECRET) ${issue}` })
}

/**
 * Returns the URL of a path, which begins with a slash, at the peer that published this address. `undefined` if it is
 * not a WebSocket address: an older server may have published it unchecked.
 */
export function findAtPeer(path: string, address: string): URL | undefined {
  const url = URL.parse(address)
  // Concatenated, not resolved: a path with two leading slashes would name another server.
  return url && isPeerScheme(url) ? new URL(`${url.origin}${path}`) : undefined
}

function isPeerScheme({ protocol }: URL): boolean {
  return /^wss?:$/.test(protocol)
}

/** Reads a request header by its lower-case name. */
export type ReadHeader = (name: string) => string | readonly string[] | null | undefined

/** Whether the caller claims to be a peer; its secret is not checked. */
export function claimsToBePeer(read: ReadHeader): boolean {
  return (read(SECRET_HEADER) ?? undefined) !== undefined
}

/** `undefined` without the right secret; `unreadable` if the peer does not identify its client. */
export function readPeer(read: ReadHeader, { secret }: PeerOptions): PeerClient | 'unreadable' | undefined {
  const given = read(SECRET_HEADER)
  if (typeof given !== 'string' || !isSameSecret(given, secret)) return undefined
  const parsed = parseJson(Buffer.from(String(read(CLIENT_HEADER)), 'base64url').toString())
  const { principal, client, expiresAtMs } = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  if (!isJsonObject(principal) || typeof principal['id'] !== 'string' || typeof client !== 'string') return 'unreadable'
  if (expiresAtMs !== undefined && typeof expiresAtMs !== 'number') return 'unreadable'
  return { principal: { ...principal, id: principal['id'] }, client, ...(expiresAtMs !== undefined && { expiresAtMs }) }
}

/** Headers that identify this server to a peer, and its client. */
export function createPeerHeaders(secret: string, about: PeerClient): Record<string, string> {
  const { principal, client, expiresAtMs } = about
  const told: PeerClient = { principal, client, ...(expiresAtMs !== undefined && { expiresAtMs }) }
  return { [SECRET_HEADER]: secret, [CLIENT_HEADER]: Buffer.from(JSON.stringify(told)).toString('base64url') }
}

/** Why a peer refused, by the HTTP status of its answer. */
export function describeRefusal(status: number | undefined): NoLink {
  const problem = status === NO_PEER_STATUS ? 'secret' : status === UNREADABLE_STATUS ? 'client' : 'address'
  return { why: `it answered with status ${status}`, problem }
}

export interface Identity {
  readonly principal: Principal
  /** When the client must authenticate again, in milliseconds of the wall clock. Default: never. */
  readonly expiresAtMs?: number
}

/**
 * Reads the result of a front's `authenticate`; most return only a principal.
 * @throws BatonError `invalid_option` for a principal without an id, because a list for such a principal would show
 * everyone's sessions; for unknown fields, because they may be misspelt roles or an end that is never kept; for roles that
 * are not a list
 */
export function readIdentity(found: Principal | Identity): Identity {
  const isObject = typeof found === 'object'
  const isIdentity = isObject && 'principal' in found
  const identity: Identity = isIdentity ? found : { principal: found as Principal } // checked here
  const { id } = (identity.principal ?? {}) as { readonly id?: unknown } // untyped programs may return anything
  if (typeof id === 'string') {
    if (isIdentity) checkIdentity(identity)
    checkPrincipal(identity.principal, 'authenticate: principal')
    return identity
  }
  throw new BatonError({
    code: 'invalid_option',
    message: `authenticate must return a principal whose id is a string, not ${isObject ? `an id that is ${describeValue(id)}` : describeValue(found)}`,
    hint: 'Return { id: userId }, or undefined for an unknown caller.',
  })
}

function checkIdentity(identity: Identity): void {
  const what = { what: 'the result of authenticate', code: 'invalid_option' } as const
  const elsewhere = { roles: 'write { principal: { id, roles } }', id: 'write { principal: { id } }' }
  checkFields(identity, { ...what, fields: new Set(['principal', 'expiresAtMs']), elsewhere })
  checkKinds(identity, { ...what, kinds: { expiresAtMs: { unit: 'milliseconds since 1970', least: 0 } } })
}

/** Milliseconds that a program's `authenticate` may take. */
const IDENTITY_MS = 10_000

/** @throws BatonError `keys_unavailable` after 10 seconds */
export async function waitForIdentity<Found>(timers: Timers, asked: Promise<Found>): Promise<Found> {
  const error = (): BatonError =>
    new BatonError({ code: 'keys_unavailable', message: `authenticate took more than ${IDENTITY_MS} ms` })
  return await within(timers, { timeoutMs: IDENTITY_MS, error }, asked)
}

/** Number of problems that the log limit remembers. */
const PEERS_MAX = 1000

const CHECKS: Readonly<Record<PeerProblem, string>> = {
  address: 'the address that the peer publishes (--peer-address) must lead to it from this machine',
  secret: 'the secret of the peers (BATON_PEER_SECRET) must be the same on all servers of the store',
  client:
    'all servers of the store must run the same version, and nothing between them may change the header x-baton-client',
}

export class PeerWarnings {
  readonly #log: Logger
  readonly #told: RateLimit

  constructor(log: Logger, clock: Clock) {
    this.#log = log
    this.#told = createRateLimit({ perMinute: 1, clock, keysMax: PEERS_MAX })
  }

  /** Logs that nothing could be passed on to the peer at this address. */
  noteUnreachable(peer: string, { why, problem }: NoLink): void {
    const data = { peer, cause: why, check: CHECKS[problem] }
    this.#tell(`to ${peer} ${problem}`, 'the server that holds a session cannot be reached', data)
  }

  /** Logs that a client at this address claimed to be a peer but did not present the secret. */
  noteStranger(address: string): void {
    const data = { address, check: CHECKS.secret }
    this.#tell(`from ${address} secret`, 'a server that is not a peer of this one was refused', data)
  }

  /** Logs that a peer at this address identified its client in a form that this server does not know. */
  noteUnreadable(address: string): void {
    const data = { address, check: CHECKS.client }
    this.#tell(`from ${address} client`, 'a peer was refused because its header for the client cannot be read', data)
  }

  #tell(key: string, message: string, data: object): void {
    if (this.#told.take(key) === 0) this.#log.warn(message, { ...data })
  }
}
