// How a program steers a session: what it says, interrupts, rewinds, configures.
import type { MessageId } from '../events/session-event.ts'
import type { JsonValue } from '../json.ts'
import type { Accepted } from '../machine/input.ts'
import type { ContentPart } from '../messages.ts'
import type { ModelSettings } from '../model-settings.ts'
import type { Delivery, Heard } from '../machine/values.ts'

/** Text, or parts for images and files. */
export type UserInput = string | readonly ContentPart[]

/**
 * Options of `session.interrupt`. Without any, the newest turn ends, and the history keeps what the user was shown.
 */
export interface InterruptOptions {
  /**
   * The answer whose turn to end, such as `t1`; the newest by default. If a newer turn has begun, nothing happens, so
   * that a repeated interrupt does not end the next turn.
   */
  readonly turn?: MessageId
  readonly reason?: string
  /** How much of the newest answer the user heard or read; `reported` by default. */
  readonly heard?: Heard
  /** Whether to keep or withdraw queued inputs; `keep` by default. */
  readonly queue?: 'keep' | 'withdraw'
}

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

interface Reported {
  /** Sending the same id again has no effect and returns the same answer. */
  readonly inputId?: MessageId
  /** Whether the sender can answer approvals and questions during the answer; true by default. */
  readonly asks?: boolean
}

/** A speaker's words in a conversation that the agent listens to. */
export interface TranscriptEntry extends Reported {
  readonly speaker: string
  readonly text: string
}

/** An event outside the conversation. */
export interface UrgentEvent extends Reported {
  readonly name: string
  /**
   * Label in brackets before the name, for the model: 1 to 64 characters without brackets and line breaks. `Event` by
   * default.
   */
  readonly label?: string
  readonly detail?: JsonValue
  /** Description for the model. */
  readonly message?: string
  /** `steer` by default: the running turn's next step reads it. `interrupt` ends the turn. */
  readonly delivery?: Delivery
  /** With `interrupt`: how much of the answer the user heard or read; `reported` by default. */
  readonly heard?: Heard
}

/** `stop` ends the turn and refuses inputs until `start`; `pause` keeps the turn for `continue`. */
export type SessionAction = 'pause' | 'continue' | 'stop' | 'start'

/** Changes for `session.configure`. Absent fields stay; `settings: null` returns to those of the agent. */
export interface SessionConfiguration {
  readonly model?: string
  readonly settings?: ModelSettings | null
}
