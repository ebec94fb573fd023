// Sends a version 2 request about a session that the connection does not follow to the server that holds the session,
// and returns the frame with its answer.
import { isBatonError } from '@baton/core'
import type { V2ClientFrame, RequestType } from '@baton/protocol'
import { SUBPROTOCOL } from '@baton/protocol'
import type { Socket } from '../shared/socket.ts'
import { passOn } from './open-held-session.ts'
import type { V2ConnectionOptions } from './v2-state.ts'

/** Requests that name their session. `session.open` is passed on with the connection. */
const NAMES_SESSION: ReadonlySet<RequestType> = new Set<RequestType>(['session.describe', 'session.delete'])
/** Milliseconds for the holder to answer. */
const ANSWER_MS = 30_000

/** `undefined` unless `cause` names a peer that holds the session, or if that peer does not answer within 30 s. */
export async function askHolder(
  init: V2ConnectionOptions,
  frame: V2ClientFrame,
  cause: unknown,
): Promise<string | undefined> {
  if (!NAMES_SESSION.has(frame.type) || !isBatonError(cause) || cause.code !== 'session_held') return undefined
  const { address } = cause.data
  if (typeof address !== 'string') return undefined
  const answer = Promise.withResolvers<string | undefined>()
  const re = `"re":${JSON.stringify(frame.id)}`
  const isPassed = (text: string): boolean =>
    text.startsWith(`{"type":"ok",${re}`) || text.startsWith(`{"type":"error",${re}`)
  const socket = createCatcher(answer.resolve)
  const link = await passOn({ ...init, socket }, address, { protocol: SUBPROTOCOL, isPassed })
  if (!link) return undefined
  link.send(JSON.stringify(frame))
  const stop = init.timers.start(ANSWER_MS, () => answer.resolve(undefined))
  const answered = await answer.promise
  stop()
  link.close()
  return answered
}

/** A stand-in for the client's connection, which stays open when the peer's closes. */
function createCatcher(take: (text: string | undefined) => void): Socket {
  return {
    send: (text) => {
      take(text)
      return true
    },
    close: () => take(undefined),
    bufferedBytes: () => 0,
    onMessage: () => {},
    onClose: () => {},
  }
}
