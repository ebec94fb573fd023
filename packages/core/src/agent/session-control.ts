// How a program steers a session: interrupts, goes back, configures.
import type { MessageId } from '../events/session-event.ts'
import type { Played } from '../machine/input.ts'
import type { Accepted } from '../machine/refusal.ts'
import type { ModelSettings } from './model.ts'
import type { UserInput } from './session-api.ts'

export interface InterruptOptions {
  readonly reason?: string
  readonly heard?: Played
  /** What becomes of inputs that wait: `keep` by default. */
  readonly queue?: 'keep' | 'withdraw'
}

export interface RewindOptions {
  readonly message: MessageId
  /** Only of what a user said. */
  readonly replace?: UserInput
  readonly again?: true
  readonly interrupt?: true
  /** The same id again does nothing. Of what replaces the message, it is the new id. */
  readonly inputId?: MessageId
}

/** `turn`: what is answered now, for `session.turn`; absent where nothing is asked. */
export type Rewound = Accepted & { readonly turn?: MessageId }

export interface SessionConfiguration {
  readonly model?: string
  readonly settings?: ModelSettings | null
}
