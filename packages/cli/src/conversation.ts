// The two ends of a chat, each behind an interface: where turns run (in this process, or on a server), and the person.
import type { EventBody } from '@baton/core'

/** Where turns run. */
export interface ChatPartner {
  /** What a person should know before the first word. */
  readonly about: readonly string[]
  /** Opens the session of that name, or a new one. @throws BatonError */
  open(session: string | undefined): Promise<Conversation>
  close(): Promise<void>
}

export interface Conversation {
  readonly session: string
  /** What came before. */
  readonly about: readonly string[]
  /** A turn that was running when the session was left goes on: here it is. */
  readonly resumed: ConversationTurn | undefined
  send(text: string): ConversationTurn
  interrupt(): Promise<void>
  /** The model that answers from now on, or what answers now without a name. Resolves with a line about it. @throws */
  setModel(name: string | undefined): Promise<string>
  /** Answers a request for an approval, as it was shown. */
  decide(approvalId: string, isApproved: boolean): Promise<void>
  /** The session so far, readable. @throws */
  log(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface ConversationTurn extends AsyncIterable<EventBody> {
  /** @throws BatonError when the turn fails */
  readonly answer: Promise<{ readonly outcome: string }>
}

/** A call of a client tool, which the person runs. */
export interface AskedCall {
  readonly callId: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
}

/** @throws Error with what the person says went wrong; where nobody is there, that */
export type AskPerson = (call: AskedCall) => Promise<string>

export interface Person {
  /** What the person says next; undefined at the end. */
  next(): Promise<string | undefined>
  /** Present where somebody can be asked. Rejects when `signal` aborts, and when the person leaves. */
  readonly ask?: (question: string, signal: AbortSignal) => Promise<string>
  close(): void
}
