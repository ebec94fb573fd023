// Messages of an app over a connection of its own, as fronts pass them on.
import type { JsonObject } from '../json.ts'
import type { ContentPart } from '../messages.ts'
import type { Delivery, Outcome, Heard } from '../machine/input.ts'
import type { Accepted, Refused } from '../machine/refusal.ts'
import type { ModelSettings } from './model.ts'

export interface ConnectionInit {
  /** Names the connection, the same for as long as it lasts: 1 to 256 characters. */
  readonly connection: string
  /** The app answers its calls strictly one after another. */
  readonly sequential?: boolean
  /** It claims a call before it acts on it; else a call that has reached it counts as claimed. */
  readonly claims?: boolean
  /** It says how much of an answer was heard; else what was displayed counts. */
  readonly reportsPlayback?: boolean
  /** A person behind it can be asked for approvals and questions. */
  readonly asks?: boolean
}

/** As those of `session.send`; `asks` of the connection by default. */
export interface SayOptions {
  readonly model?: string
  readonly settings?: ModelSettings
  readonly delivery?: Delivery
  /** JSON Schema that the answer fits. */
  readonly output?: JsonObject
  /** Only with `delivery: 'interrupt'`. */
  readonly heard?: Heard
  readonly asks?: boolean
}

/**
 * An app that is connected, for a front that hands on what it says. What the session refuses is the answer, as data, since
 * the app is to be told. A call is rejected with a `BatonError` only where the session is closed or its store fails.
 */
export interface ClientConnection {
  /** From now on client tools are offered to it. Attached again, it stays as it is. */
  attach(): Promise<Accepted | Refused>
  detach(): Promise<Accepted | Refused>
  /** As `session.send`, without a turn of its own: whoever has a connection reads the session's events. */
  say(inputId: string, parts: readonly ContentPart[], options?: SayOptions): Promise<Accepted | Refused>
  interrupt(reason: string, heard: Heard): Promise<Accepted | Refused>
  /** The result of a call that it was asked for. */
  result(callId: string, outcome: Outcome): Promise<Accepted | Refused>
  /** The offer with this number was written to it, or could not be. */
  reached(callId: string, offer: number): Promise<Accepted | Refused>
  missed(callId: string, offer: number): Promise<Accepted | Refused>
  /** The answer of this turn is about to be displayed; with `chars`, a voice has played so many UTF-16 units of its text. */
  display(turn: number, chars?: number): Promise<Accepted | Refused>
}
