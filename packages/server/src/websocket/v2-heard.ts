// Turns what an app says was heard into what the session takes, which always means the newest answer.
import type { Played, Session } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Heard } from '@baton/protocol'

/** The session checks the other fields. @throws BatonError `invalid_event` for a message that is not an answer of the session */
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
  // A voice speaks answers in order: while it speaks an older one, the user has heard nothing of the newest.
  // What is no count stays what it is, and is refused.
  return { heard: turn < newest ? { type: 'chars', chars: Math.min(played.chars, 0) } : played }
}
