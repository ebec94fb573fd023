// What an app says that was heard, as the session takes it: of the answer that is being written, or was written last.
import type { Played, Session } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Heard } from '@baton/protocol'

/** The session decodes the rest. @throws BatonError `invalid_event` for a message that is no answer of the session */
export function readHeard(session: Pick<Session, 'lastTurn'>, heard: Heard | undefined): { readonly heard?: Played } {
  if (heard === undefined) return {}
  if (typeof heard !== 'object' || heard.type !== 'chars' || !('message' in heard)) return { heard }
  const { message, ...played } = heard
  const turn = Number(/^t([1-9]\d{0,15})$/.exec(String(message))?.[1])
  const newest = session.lastTurn()?.turn ?? 0
  if (!(turn <= newest))
    throw new BatonError({
      code: 'invalid_event',
      message: `heard.message names no answer of this session: "${String(message).slice(0, 100)}"`,
      hint: 'Send the `message` of the sentence that was heard last.',
    })
  // A voice speaks one answer after another.
  return { heard: turn < newest ? { type: 'chars', chars: 0 } : played }
}
