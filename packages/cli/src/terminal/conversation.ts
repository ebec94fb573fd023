// The two ends of a chat, each behind an interface: where turns run (in this process, or on a server), and the person.
import type { AskedFor, CallView, ContextUse, EventBody, JsonValue, PendingQuestion, Usage } from '@baton/core/internal'

/** Runs turns. */
export interface ChatPartner {
  /** Notes for a person before the first message. */
  readonly about: readonly string[]
  /** A suggestion what to ask, in one line. */
  readonly hint?: string
  /** Its agent's permissions, in one line, unless it is unrestricted. */
  readonly may: readonly string[]
  /**
   * Opens the session of that name, or a new one. `onAside` is called with each event outside of the turns that the
   * conversation follows: updates of background calls, and turns started by a task's end or by another device.
   * @throws BatonError
   */
  open(session: string | undefined, onAside: OnAside): Promise<Conversation>
  close(): Promise<void>
}

/** Called without an event when a running turn will have no further events. */
export type OnAside = (event?: EventBody) => void

export interface Conversation {
  readonly session: string
  /** Earlier messages. */
  readonly about: readonly string[]
  /** The turn that was running when the session was left, if it continues. */
  readonly resumed: ConversationTurn | undefined
  /** Requests that waited for the person when it was opened, as those of calls in the background do. */
  readonly waiting?: Waiting
  /**
   * Opens the session again after another process has taken it over. Resolves with the conversation to continue, whose
   * `about` summarizes the messages missed, or `undefined` if the session is still here. @throws BatonError
   */
  reopen?(): Promise<Conversation | undefined>
  send(text: string): ConversationTurn
  interrupt(): Promise<void>
  /**
   * Switches to another model for later answers, or without a name reports the current one. Resolves with a line about
   * it. @throws
   */
  setModel(name: string | undefined): Promise<string>
  /** Answers an approval request as it was shown. `always` also approves later calls of the tool. */
  decide(approvalId: string, answer: ApprovalAnswer): Promise<void>
  /** Absent if the session cannot be controlled. */
  readonly controls?: SessionControls
  /** Returns the session's log as readable lines. @throws */
  log(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface Waiting {
  readonly approvals: readonly { readonly approvalId: string; readonly call: AskingCall }[]
  readonly questions: readonly PendingQuestion[]
}

/** A call as whoever decides about it sees it. */
export type AskingCall = Pick<CallView, 'callId' | 'name' | 'input' | 'asked' | 'path'>

/** `nobody`: there is no one to approve it, so it is denied. */
export type ApprovalAnswer = 'approve' | 'deny' | 'always' | 'nobody'

/** Converts an answer to a decision. The model reads the reason, so it must not claim that a person saw the request. */
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
        reason: 'it needs an approval, and the command has no terminal to ask for one',
      } as const
  }
}

/** Each throws BatonError when the session refuses. */
export interface SessionControls {
  /** Asks for the last answer again. */
  retry(): Promise<ConversationTurn>
  /** Takes back the last message and its answer. Resolves with its text. */
  undo(): Promise<string>
  /** Creates a new session with the same conversation. Resolves with its name. */
  fork(): Promise<string>
  /** One line per tool. */
  tools(): readonly string[]
  status(): Promise<{ readonly model: string; readonly context: ContextUse }>
  /** Usage of all answers in the conversation. */
  usage(): Promise<Usage>
  /** Answers a tool's question. */
  answer(answer: QuestionAnswer): Promise<void>
}

/** A value, or a decline with a reason for the model if there was no one to ask. */
export type QuestionAnswer =
  | { readonly questionId: string; readonly value: JsonValue }
  | { readonly questionId: string; readonly decline: true; readonly reason?: string }

export interface ConversationTurn extends AsyncIterable<EventBody> {
  /** @throws BatonError when the turn fails */
  readonly answer: Promise<{ readonly outcome: string }>
}

/** A client tool call, which the person runs. */
export interface AskedCall {
  readonly callId: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  /** Why a policy requires approval. */
  readonly asked?: AskedFor
}

/** @throws Error with the failure described by the person, or if there is no one to ask */
export type AskPerson = (call: AskedCall) => Promise<string>

export interface Person {
  /**
   * Resolves with the person's next message; `undefined` at the end. Resolves with an empty one when `signal` aborts:
   * what the person has typed so far is kept for the next call.
   */
  next(signal: AbortSignal): Promise<string | undefined>
  /** Present if there is someone to ask. Rejects when `signal` aborts or the person leaves. */
  readonly ask?: (question: string, signal: AbortSignal) => Promise<string>
  close(): void
}
