// State of a version 1 app's connection, and errors for its app.
import type { Refused } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import type { ClientFrame } from '@baton/protocol'
import { describeThrown } from '@baton/runtime'
import type { AppConnectionOptions } from './connection-init.ts'
import type { PeerLink } from './connect-to-peer.ts'
import type { SessionFollower } from './v1-follower.ts'
import type { V1Writer } from './v1-writer.ts'

/** The frames of one type. */
export type FrameOf<Type extends ClientFrame['type']> = Extract<ClientFrame, { readonly type: Type }>

export interface ConnectionState {
  readonly init: AppConnectionOptions
  readonly writer: V1Writer
  /** Cancels the timeout for the first `session.start`. */
  readonly stopWaiting: () => void
  /** Whether the app has disconnected. */
  readonly isGone: () => boolean
  follower: SessionFollower | undefined
  /** Set if a peer has the session; the peer then handles its turns and idle time. */
  link: PeerLink | undefined
  /** Consecutive frames refused unparsed. */
  refused: number
  /** The frame that started the session. */
  startText: string
  /** Set by the first `session.start`, which binds the connection to this session. */
  sessionId: string | undefined
  /** Called when another connection has opened the session. */
  readonly wake: () => void
  /** Stops waiting for that. */
  forget: () => void
}

export function reportFailure(state: ConnectionState, cause: unknown, sessionId?: string): void {
  const { log, connection, strangersLog = log } = state.init
  const code = isBatonError(cause) ? cause.code : 'internal'
  strangersLog.warn('a frame could not be processed', { connection, code, cause: describeThrown(cause) })
  sendError(state, code, isBatonError(cause) ? cause.message : 'the server failed', sessionId)
}

/** Errors of a turn use ids of their records; these errors have no record, so they get new ids. */
export function sendError(state: ConnectionState, code: Refused['code'], message: string, sessionId?: string): void {
  state.writer.write(
    state.init.newId(),
    { type: 'error', payload: { code, message } },
    state.sessionId ?? sessionId ?? 'none',
  )
}
