// Opens the session of a connection even if another process holds it: passes the connection on to that process, or
// waits until the session is free if that process cannot be reached.
import type { FrontSession, SessionDescription } from '@baton/core/internal'
import { isBatonError, frontOf, pause } from '@baton/core/internal'
import type { PeerLink } from './connect-to-peer.ts'
import { connectToPeer } from './connect-to-peer.ts'
import type { AppConnectionOptions } from './connection-options.ts'

export type OpenedSession =
  | { readonly type: 'here'; readonly session: FrontSession }
  /** The app's frames go to a peer. */
  | { readonly type: 'elsewhere'; readonly link: PeerLink }

export interface HeldSessionOptions {
  /** Whether the app has disconnected. */
  readonly isGone: () => boolean
  /** Description of a new session. */
  readonly description?: SessionDescription
  /** Refuses a session that does not exist with `unknown_session`; by default it is created. */
  readonly existing?: boolean
  /** The subprotocol for the peer; version 1 has none. */
  readonly protocol?: string
  /** Filters the peer's frames for the app; all by default. */
  readonly isPassed?: (text: string) => boolean
}

type HeldConnection = Pick<
  AppConnectionOptions,
  | 'host'
  | 'principal'
  | 'timers'
  | 'limits'
  | 'peers'
  | 'isFromPeer'
  | 'client'
  | 'socket'
  | 'log'
  | 'connection'
  | 'peerWarnings'
  | 'reachPeer'
>

/** Milliseconds between checks for whether the session is free. */
const LOOK_MS = 500

/** @throws BatonError `session_held` after `heldMs` or if the app disconnects, and any error of `Host.session` */
export async function openHeldSession(
  init: HeldConnection,
  sessionId: string,
  more: HeldSessionOptions,
): Promise<OpenedSession> {
  const { host, principal, timers, limits } = init
  const { isGone, description, existing = false } = more
  const dialled = new Set<string>()
  for (let leftMs = limits.heldMs; ; leftMs -= LOOK_MS)
    try {
      return {
        type: 'here',
        session: frontOf(await host.session(sessionId, { principal, existing, ...(description && { description }) })),
      }
    } catch (cause) {
      if (!isBatonError(cause) || cause.code !== 'session_held') throw cause
      const { owner, address } = cause.data
      // An owner that could not be reached once is dead or cut off, so its lease will end soon.
      if (typeof owner === 'string' && typeof address === 'string' && !dialled.has(owner)) {
        dialled.add(owner)
        const link = await passOn(init, address, more)
        if (link && !isGone()) return { type: 'elsewhere', link }
        // The app has disconnected: an open link would keep its place at the peer, which would offer its device calls.
        link?.close()
      }
      if (leftMs <= 0 || isGone()) throw cause
      await pause(timers, LOOK_MS)
    }
}

/** Returns `undefined` if the peer at `address` must not be asked or cannot be reached. */
export async function passOn(
  init: HeldConnection,
  address: string,
  { protocol, isPassed }: Pick<HeldSessionOptions, 'protocol' | 'isPassed'>,
): Promise<PeerLink | undefined> {
  const { peers, isFromPeer = false, principal, client = '', socket, limits, timers, log, connection } = init
  const { peerWarnings, reachPeer = connectToPeer } = init
  if (!peers || isFromPeer || address === peers.address) return undefined
  const link = await reachPeer({
    address,
    secret: peers.secret,
    principal,
    client,
    socket,
    limits,
    timers,
    ...(protocol !== undefined && { protocol }),
    ...(isPassed && { isPassed }),
  })
  if ('why' in link) {
    peerWarnings?.noteUnreachable(address, link)
    return undefined
  }
  log.info('a connection was passed on to the server that holds its session', { connection, peer: address })
  return link
}
