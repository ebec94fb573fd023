// State of a version 1 app's connection, and the beginning of its session: with its first `session.start` if the session is known, otherwise with the first
// message; here, or at the peer that holds it.
import type { FrontSession, Refused } from '@baton/core/internal'
import { findSessionIdIssue, isBatonError } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'
import { openHeldSession } from './open-held-session.ts'
import { CLOSE_CODES } from '../shared/socket.ts'
import type { SessionFollower } from './v1-follower.ts'
import { followSession } from './v1-follower.ts'
import type { ClientFrame } from '@baton/protocol'
import type { AppConnectionOptions } from './connection-options.ts'
import type { PeerLink } from './connect-to-peer.ts'
import type { V1Writer } from './v1-writer.ts'

/** The first `session.start` opens the session if it exists; later ones are only answered. */
export async function startSession(state: ConnectionState, frame: FrameOf<'session.start'>): Promise<void> {
  const { init, writer } = state
  const { sessionId } = frame
  const started = (): boolean =>
    writer.write(init.newId(), { type: 'session.started', payload: { sessionId } }, sessionId)
  if (state.sessionId !== undefined) {
    started()
    return
  }
  const issue = findSessionIdIssue(sessionId)
  if (issue !== undefined) {
    sendError(state, 'invalid_event', `a session's id must ${issue}`, 'none')
    return
  }
  const tooMany = init.quotas?.takeSession(init.address ?? '')
  if (tooMany !== undefined) {
    sendError(state, 'quota_exceeded', tooMany.message, sessionId)
    return
  }
  state.sessionId = sessionId
  if (await isUnknown(state, sessionId)) {
    state.stopWaiting()
    started()
  } else if (await openSession(state, started)) state.stopWaiting()
  else state.sessionId = undefined
}

/** Subscribed before the check, because another connection may open the session meanwhile. */
async function isUnknown(state: ConnectionState, session: string): Promise<boolean> {
  const { hasSession, starts } = state.init
  if (!hasSession || !starts) return false
  state.forget = starts.wait(session, state.wake)
  try {
    if (!(await hasSession(session))) return true
  } catch (cause) {
    state.init.log.warn('a session could not be looked up', { session, cause: describeThrown(cause) })
  }
  state.forget()
  return false
}

/** False if it could not be opened; the app was informed. */
export async function openSession(state: ConnectionState, onStarted: () => void): Promise<boolean> {
  const { init, writer, sessionId = '', follower: known, link } = state
  if (known || link) return true
  state.forget()
  let session: FrontSession | undefined
  try {
    const opened = await openHeldSession(init, sessionId, { isGone: state.isGone })
    if (opened.type === 'elsewhere') {
      state.link = opened.link
      // The peer needs the frame that names the session.
      state.link.send(state.startText)
      return true
    }
    session = opened.session
    const follower = await followSession(init, { session, writer, onStarted })
    if (!('refused' in follower)) {
      state.follower = follower
      init.starts?.noteOpened(sessionId)
      return true
    }
    sendError(state, follower.refused.code, follower.refused.message, sessionId)
  } catch (cause) {
    reportFailure(state, cause, sessionId)
    // By the time the app reconnects, the session may be free or its owner reachable.
    if (isBatonError(cause) && cause.code === 'session_held')
      init.socket.close(CLOSE_CODES.restarted, 'another server holds the session and cannot be reached; connect again')
  }
  // Not followed here; without closing, it would stay open forever.
  await session?.close()
  return false
}

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
