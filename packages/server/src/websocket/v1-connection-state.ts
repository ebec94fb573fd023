// State of a version 1 app's connection, and errors for its app.
import type { Refused } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { ClientFrame } from '@baton/protocol'
import { describeThrown } from '@baton/runtime'
import type { AppConnectionInit } from './connection-init.ts'
import type { PeerLink } from './connect-to-peer.ts'
import type { SessionFollower } from './v1-follower.ts'
import type { V1Writer } from './v1-writer.ts'

/** The frames of one kind. */
export type FrameOf<Type extends ClientFrame['type']> = Extract<ClientFrame, { readonly type: Type }>

export interface ConnectionState {
  readonly init: AppConnectionInit
  readonly writer: V1Writer
  /** Ends the wait for the first `session.start`. */
  readonly stopWaiting: () => void
  /** The app is gone. */
  readonly isGone: () => boolean
  follower: SessionFollower | undefined
  /** A peer has the session; its turns, and how long it may be idle, are the peer’s affair. */
  link: PeerLink | undefined
  /** Frames in a row that were refused unparsed. */
  refused: number
  /** The frame that began the session. */
  startText: string
  /** Set by the first `session.start`; the connection is its session's from then on. */
  sessionId: string | undefined
  /** Called when another connection has opened the session. */
  readonly wake: () => void
  /** Ends the wait for that. */
  forget: () => void
}

export function reportFailure(state: ConnectionState, cause: unknown, sessionId?: string): void {
  const { log, connection, strangersLog = log } = state.init
  const code = isBatonError(cause) ? cause.code : 'internal'
  strangersLog.warn('a frame could not be taken in', { connection, code, cause: describeThrown(cause) })
  sendError(state, code, isBatonError(cause) ? cause.message : 'the server failed', sessionId)
}

/** Errors of a turn have ids of their records; these have new ones, for no record speaks of them. */
export function sendError(state: ConnectionState, code: Refused['code'], message: string, sessionId?: string): void {
  state.writer.write(
    state.init.newId(),
    { type: 'error', payload: { code, message } },
    state.sessionId ?? sessionId ?? 'none',
  )
}
