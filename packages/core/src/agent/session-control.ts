// Values that steer a session, and their results. Options with a shape of their own are in `decode-command.ts`.
import type { MessageId } from '../events/session-event.ts'
import type { Accepted } from '../machine/input.ts'
import type { ContentPart } from '../messages.ts'

/** Text, or parts for images and files. */
export type UserInput = string | readonly ContentPart[]

export interface Interrupted {
  /** The answer whose turn was ended; absent if no turn was running, or not the named one. */
  readonly turn?: MessageId
}

/**
 * Options of `session.rewind`: removes a message and all later ones, and asks again (`again`) or with another message
 * (`replace`). A message of the assistant is asked again with its turn.
 */
export interface RewindOptions {
  readonly message: MessageId
  /** Only for a user message. */
  readonly replace?: UserInput
  readonly again?: boolean
  /** Ends a running turn first; otherwise a rewind is refused while one runs. */
  readonly interrupt?: boolean
  /** Sending the same id again has no effect. It becomes the id of the replacing message. */
  readonly inputId?: MessageId
}

/** `turn` is the answer in progress, for `session.turn`; absent if no answer was requested. */
export type Rewound = Accepted & { readonly turn?: MessageId }
