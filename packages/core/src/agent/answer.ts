// A turn as a program follows it, and its answer.
import { BatonError } from '../errors.ts'
import type { CallView, LimitName, MessageId, SessionEvent, TurnStop } from '../events/session-event.ts'
import type { TurnOutcome } from '../machine/fact.ts'
import type { SourcePart, Usage } from '../messages.ts'
import type { KnownAgent } from './typed-calls.ts'

/**
 * Events from the moment the model gets the input until the turn ends: `for await (const event of turn)`. After the
 * last event the loop throws what `answer` rejects with. Unread text is joined, so an unread turn stays small. Await
 * its `answer`, not the turn itself.
 */
export interface Turn<Output = unknown, Call extends CallView = CallView> extends AsyncIterable<SessionEvent<Call>> {
  /** Id of the input that started it. */
  readonly id: MessageId
  /** @throws BatonError with the code of a failed turn, or of the refusal if the input is not accepted */
  readonly answer: Promise<Answer<Output>>
}

/**
 * `stop` says why the turn ended: `end`, or the reason it was cut short. With `end`, an agent with an output schema has
 * an `output`.
 */
export type Answer<Output = unknown> = AnswerParts &
  (
    | { readonly stop: 'end'; readonly output: Output }
    /** The calls of the last step, with their results. */
    | { readonly stop: 'tool'; readonly calls: readonly CallView[]; readonly output?: undefined }
    /** The value. Also present after a limit ended a complete answer; absent for an interrupted or silent turn. */
    | { readonly stop: Exclude<TurnStop, 'failed' | 'end' | 'tool'>; readonly output?: Output }
  )

interface AnswerParts {
  readonly outcome: Exclude<TurnOutcome, 'failed'>
  /** The full text. For an interrupted or stopped turn, the part that stays in the conversation. */
  readonly text: string
  /** Total over all steps of the turn. */
  readonly usage: Usage
  /**
   * Pages and documents cited by the turn's steps, without duplicates, numbered (`source-1`) in order of citation. At
   * most `ANSWER_SOURCES_MAX` (200); the events have all of them.
   */
  readonly sources: readonly SourcePart[]
  /** Limits that were reached. */
  readonly limits: readonly LimitName[]
  /** The oldest messages no longer reach the model: they were summarised or dropped. */
  readonly forgotten: boolean
}

/** Maximum sources of an `Answer`. */
export const ANSWER_SOURCES_MAX = 200

/**
 * The validated, typed answer of an agent with an output schema.
 * @throws BatonError `invalid_output` if there is none: the agent has no schema, or the turn was not answered
 */
export function readOutput<Output>(agent: KnownAgent<Output>, answer: Answer): Output {
  if (typeof (answer as Answer | null | undefined)?.outcome !== 'string')
    throw new BatonError({
      code: 'invalid_option',
      message: 'readOutput needs an agent and an answer of it',
      hint: 'Write readOutput(agent, answer). With send(text, { output: schema }), read answer.output.',
    })
  // It was validated by this agent's schema before the turn was answered.
  if (answer.output !== undefined) return answer.output as Output
  const why = agent.output ? `the turn was ${answer.outcome}` : `agent "${agent.name}" has no output schema`
  throw new BatonError({ code: 'invalid_output', message: `there is no output: ${why}` })
}
