// The input and the verdicts of an agent's `checkAnswer`, which sees an answer before it is taken.
import type { JsonValue } from '../json.ts'
import type { ContentPart, Message } from '../messages.ts'
import type { Principal } from './tool-context.ts'

export interface AnswerToCheck<Output = unknown> {
  /** The answer as it would be taken: with an output schema the JSON as the model wrote it, else the texts of all steps. */
  readonly text: string
  /** The value, which fits the output schema of the agent or of the turn; undefined without one. */
  readonly output: Output
}

/** A call of the turn that has settled. */
export interface AnsweredCall {
  readonly callId: string
  readonly name: string
  /** The arguments; a text where they are no JSON. */
  readonly input: JsonValue
  /** False: it was denied, failed, was cancelled or timed out, and `content` says so. */
  readonly ok: boolean
  /** The result as the model read it. */
  readonly content: readonly ContentPart[]
}

/** Context of a check. All of it is copied: changing it has no effect. */
export interface AnswerContext<Services = unknown> {
  readonly session: string
  readonly agent: string
  readonly principal: Principal
  readonly services: Services
  /** Answers of this turn that were sent back before, for whatever reason but the schema. */
  readonly refusals: number
  /** Calls of this turn, in their order. */
  readonly calls: readonly AnsweredCall[]
  /** The conversation that the model had read. */
  readonly messages: readonly Message[]
}

/**
 * `again`: the model reads why, and answers once more. `ask`: a person approves the answer or denies it, and `title` is what the person is
 * shown; `by` names the principals who may decide, in place of the session's own.
 */
export type AnswerVerdict =
  | 'accept'
  | { readonly again: string }
  | { readonly ask: string; readonly title?: string; readonly by?: readonly string[] }
