// A turn as a program follows it, and its answer.
import { BatonError } from '../errors.ts'
import type { CallView, LimitName, MessageId, SessionEvent, TurnStop } from '../events/session-event.ts'
import type { TurnOutcome } from '../machine/fact.ts'
import type { SourcePart, Usage } from '../messages.ts'
import type { Agent } from './agent.ts'

/**
 * Events from the moment in which the model gets the input, up to the turn's end: `for await (const event of turn)`.
 * The loop throws what `answer` rejects with, after the last event. Text that nobody reads yet is joined, so an unread turn
 * stays small. A turn is not awaited itself: its `answer` is.
 */
export interface Turn<Output = unknown, Call extends CallView = CallView> extends AsyncIterable<SessionEvent<Call>> {
  /** The id of the input that asks for it. */
  readonly id: MessageId
  /** @throws BatonError with the turn's code when it fails, or the refusal's when the input is not accepted */
  readonly answer: Promise<Answer<Output>>
}

/** `stop` says why it ended there: `end`, or what cut it short. With `end`, an agent with an output schema has an `output`. */
export type Answer<Output = unknown> = AnswerParts &
  (
    | { readonly stop: 'end'; readonly output: Output }
    /** The calls of the last step, with their results. */
    | { readonly stop: 'tool'; readonly calls: readonly CallView[]; readonly output?: undefined }
    /** The value. Also present after a limit ended the answer, if it is whole; absent for an interrupted or silent turn. */
    | { readonly stop: Exclude<TurnStop, 'failed' | 'end' | 'tool'>; readonly output?: Output }
  )

interface AnswerParts {
  readonly outcome: Exclude<TurnOutcome, 'failed'>
  /** The whole text. Of a turn that was interrupted or stopped, what was said until then and stays in the conversation. */
  readonly text: string
  /** Summed over all steps of the turn. */
  readonly usage: Usage
  /**
   * The pages and documents that the steps of the turn cite, each once and numbered (`source-1`), in the order in which they
   * were cited. The first `ANSWER_SOURCES_MAX` (200); the events have all of them.
   */
  readonly sources: readonly SourcePart[]
  /** Limits that were reached. */
  readonly limits: readonly LimitName[]
  /** The model was no longer told the oldest messages: they are summarised, or left out. */
  readonly forgotten: boolean
}

/** Sources that an `Answer` has at most. */
export const ANSWER_SOURCES_MAX = 200

/**
 * The validated answer of an agent with an output schema, with its type.
 * @throws BatonError `invalid_output` when there is none: the agent has no schema, or the turn was not answered
 */
export function readOutput<Output>(agent: Agent<Output>, answer: Answer): Output {
  // It was validated by this agent's schema before the turn was answered.
  if (answer.output !== undefined) return answer.output as Output
  const why = agent.output ? `the turn was ${answer.outcome}` : `agent "${agent.name}" has no output schema`
  throw new BatonError({ code: 'invalid_output', message: `there is no output: ${why}` })
}
