// How a program steers a session: interrupts, goes back, configures.
import type { MessageId } from '../events/session-event.ts'
import type { JsonValue } from '../json.ts'
import type { Delivery, Heard } from '../machine/input.ts'
import type { Accepted } from '../machine/refusal.ts'
import type { ModelSettings } from './model.ts'
import type { UserInput } from './session-api.ts'

export interface InterruptOptions {
  /**
   * The answer whose turn ends, such as `t1`. If a newer turn has begun, nothing happens: an interrupt that is sent again does not
   * end the next turn. By default the newest.
   */
  readonly turn?: MessageId
  readonly reason?: string
  /** How much of the newest answer the user took in; `reported` by default. */
  readonly heard?: Heard
  /** Handling of waiting inputs: `keep` by default. */
  readonly queue?: 'keep' | 'withdraw'
}

export interface Interrupted {
  /** The answer whose turn was ended; absent where no turn ran, or another one than was named. */
  readonly turn?: MessageId
}

export interface RewindOptions {
  readonly message: MessageId
  /** Only of what a user said. */
  readonly replace?: UserInput
  readonly again?: boolean
  /** Ends a running turn first; without it, a rewind is refused while one runs. */
  readonly interrupt?: boolean
  /** The same id again does nothing. Of what replaces the message, it is the new id. */
  readonly inputId?: MessageId
}

/** `turn`: what is answered now, for `session.turn`; absent where nothing is asked. */
export type Rewound = Accepted & { readonly turn?: MessageId }

interface Reported {
  /** The same id again is answered as before and does nothing. */
  readonly inputId?: MessageId
  /** Whether whoever reports it can be asked for approvals and questions while it is answered; true by default. */
  readonly asks?: boolean
}

/** Words of a speaker in a conversation that the agent listens to. */
export interface TranscriptEntry extends Reported {
  readonly speaker: string
  readonly text: string
}

/** An event outside the conversation. */
export interface UrgentEvent extends Reported {
  readonly name: string
  /**
   * The word in brackets before the name, for the model: 1 to 64 characters without brackets and line breaks. `Event` by
   * default.
   */
  readonly label?: string
  readonly detail?: JsonValue
  /** In words, for the model. */
  readonly message?: string
  /** `steer` by default: the running turn's next step reads it. `interrupt` ends the turn. */
  readonly delivery?: Delivery
  /** With `interrupt`: how much of the answer was taken in; `reported` by default. */
  readonly heard?: Heard
}

/** `stop` ends the turn and refuses what comes until `start`; `pause` keeps the turn for `continue`. */
export type SessionAction = 'pause' | 'continue' | 'stop' | 'start'

export interface SessionConfiguration {
  readonly model?: string
  readonly settings?: ModelSettings | null
}
