// The two ends of a chat, each behind an interface: where turns run (in this process, or on a server), and the person.
import type { AskedFor, ContextUse, EventBody, JsonValue, Usage } from '@baton/core'

/** Runs turns. */
export interface ChatPartner {
  /** Notes for a person before the first word. */
  readonly about: readonly string[]
  /** Suggestion what to ask, in one line. */
  readonly hint?: string
  /** Permissions of its agent, in one line, unless it may do everything. */
  readonly may: readonly string[]
  /** Opens the session of that name, or a new one. @throws BatonError */
  open(session: string | undefined): Promise<Conversation>
  close(): Promise<void>
}

export interface Conversation {
  readonly session: string
  /** Earlier messages. */
  readonly about: readonly string[]
  /** A turn that was running when the session was left goes on: here it is. */
  readonly resumed: ConversationTurn | undefined
  /**
   * Opens the session again after another process has taken it over. Resolves with the conversation to go on with, whose `about`
   * tells what was said meanwhile; undefined where the session is still here. @throws BatonError
   */
  reopen?(): Promise<Conversation | undefined>
  send(text: string): ConversationTurn
  interrupt(): Promise<void>
  /** The model that answers from now on, or what answers now without a name. Resolves with a line about it. @throws */
  setModel(name: string | undefined): Promise<string>
  /** Answers a request for an approval, as it was shown. `always`: later calls of the tool are approved too. */
  decide(approvalId: string, answer: ApprovalAnswer): Promise<void>
  /** Absent where the session is out of reach. */
  readonly controls?: SessionControls
  /** The session so far, readable. @throws */
  log(): Promise<readonly string[]>
  close(): Promise<void>
}

/** `nobody`: nobody is there who could approve it, so it is denied. */
export type ApprovalAnswer = 'approve' | 'deny' | 'always' | 'nobody'

/** The decision that an answer is. The model reads the reason, so it is not told that a person saw the request. */
export function readDecision(answer: ApprovalAnswer) {
  switch (answer) {
    case 'approve':
      return { decision: 'approve' } as const
    case 'always':
      return { decision: 'approve', remember: 'tool' } as const
    case 'deny':
      return { decision: 'deny' } as const
    case 'nobody':
      return {
        decision: 'deny',
        reason: 'the command denied it, because nobody is there who could approve it',
      } as const
  }
}

/** Each throws BatonError when the session refuses. */
export interface SessionControls {
  /** The last answer once more. */
  retry(): Promise<ConversationTurn>
  /** Takes back the last message with its answer. Resolves with its text. */
  undo(): Promise<string>
  /** A new session with the same conversation. Resolves with its name. */
  fork(): Promise<string>
  /** A line for each. */
  tools(): readonly string[]
  status(): Promise<{ readonly model: string; readonly context: ContextUse }>
  /** Usage of all answers of the conversation as it stands. */
  usage(): Promise<Usage>
  /** Answers what a tool asks. */
  answer(answer: QuestionAnswer): Promise<void>
}

/** A value, or a decline: the model reads why where nobody was there to ask. */
export type QuestionAnswer =
  | { readonly questionId: string; readonly value: JsonValue }
  | { readonly questionId: string; readonly decline: true; readonly reason?: string }

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
  /** Why a policy asks. */
  readonly asked?: AskedFor
}

/** @throws Error with what the person says went wrong; where nobody is there, that */
export type AskPerson = (call: AskedCall) => Promise<string>

export interface Person {
  /** Resolves with the person's next message; undefined at the end. */
  next(): Promise<string | undefined>
  /** Present where somebody can be asked. Rejects when `signal` aborts, and when the person leaves. */
  readonly ask?: (question: string, signal: AbortSignal) => Promise<string>
  close(): void
}
