// Messages of an app over its own connection, as fronts pass them on.
import type { JsonObject } from '../json.ts'
import type { ContentPart } from '../messages.ts'
import type { Accepted, Outcome, Refused } from '../machine/input.ts'
import type { ModelSettings } from '../model-settings.ts'
import type { Delivery, Heard } from '../machine/values.ts'

export interface ConnectionOptions {
  /** Name of the connection, constant while it lasts: 1 to 256 characters. */
  readonly connection: string
  /** The app runs its calls strictly one after another. */
  readonly sequential?: boolean
  /** The app claims a call before it acts on it; otherwise a delivered call counts as claimed. */
  readonly claims?: boolean
  /** The app reports how much of an answer was heard; otherwise the displayed part counts. */
  readonly reportsPlayback?: boolean
  /** A person behind it can answer approvals and questions. */
  readonly asks?: boolean
}

/** Options as for `session.send`; `asks` defaults to the connection's. */
export interface SayOptions {
  readonly model?: string
  readonly settings?: ModelSettings
  readonly delivery?: Delivery
  /** JSON Schema that the answer must fit. */
  readonly output?: JsonObject
  /** Only with `delivery: 'interrupt'`. */
  readonly heard?: Heard
  readonly asks?: boolean
}

/**
 * A connected app, for a front that passes on its messages. Refusals are returned as data, since the front sends them
 * to the app. A call rejects with a `BatonError` only if the session is closed or its store fails.
 */
export interface ClientConnection {
  /** Starts offering client tools to it. Attaching again changes nothing. */
  attach(): Promise<Accepted | Refused>
  detach(): Promise<Accepted | Refused>
  /** Like `session.send`, without a turn: a connection's owner reads the session's events. */
  say(inputId: string, parts: readonly ContentPart[], options?: SayOptions): Promise<Accepted | Refused>
  interrupt(reason: string, heard: Heard): Promise<Accepted | Refused>
  /** The result of a call that was offered to the app. */
  result(callId: string, outcome: Outcome): Promise<Accepted | Refused>
  /** Whether the offer with this number was written to the app. */
  reached(callId: string, offer: number): Promise<Accepted | Refused>
  missed(callId: string, offer: number): Promise<Accepted | Refused>
  /**
   * The answer of this turn is about to be displayed; with `chars`, a voice has played that many UTF-16 units of its
   * text.
   */
  display(turn: number, chars?: number): Promise<Accepted | Refused>
}
