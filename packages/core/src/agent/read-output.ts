// The typed value of an answer.
import { BatonError } from '../errors.ts'
import type { Answer } from './session-api.ts'
import type { KnownAgent } from './typed-calls.ts'

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
