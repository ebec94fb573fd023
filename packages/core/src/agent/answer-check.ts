// The input and the verdicts of an agent's `checkAnswer`, which sees an answer before it is accepted.
import type { JsonValue } from '../json.ts'
import type { ContentPart, Message } from '../messages.ts'
import type { Principal } from './policy.ts'

export interface AnswerToCheck<Output = unknown> {
  /** The answer as it would be accepted: the model's JSON if there is an output schema, else the texts of all steps. */
  readonly text: string
  /** The value that fits the output schema of the agent or the turn; undefined without one. */
  readonly output: Output
}

/** A settled call of the turn. */
export interface AnsweredCall {
  readonly callId: string
  readonly name: string
  /** The arguments; text if they are not JSON. */
  readonly input: JsonValue
  /** False if the call was denied, failed, was cancelled or timed out; `content` says which. */
  readonly ok: boolean
  /** The result as the model read it. */
  readonly content: readonly ContentPart[]
}

/** Context of a check. It is a copy: changing it has no effect. */
export interface AnswerContext<Services = unknown> {
  readonly session: string
  readonly agent: string
  readonly principal: Principal
  readonly services: Services
  /** Answers of this turn that were already sent back, other than for not matching the schema. */
  readonly refusals: number
  /** Calls of this turn, in order. */
  readonly calls: readonly AnsweredCall[]
  /** The conversation that the model had read. */
  readonly messages: readonly Message[]
}

/**
 * `again`: the model reads the reason and answers once more. `ask`: a person approves or denies the answer and sees
 * `title`; `by` names the principals who may decide, instead of the session's own.
 */
export type AnswerVerdict =
  | 'accept'
  | { readonly again: string }
  | { readonly ask: string; readonly title?: string; readonly by?: readonly Principal[] }
