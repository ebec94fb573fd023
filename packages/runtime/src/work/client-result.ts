// Checks a client's result against the output schema of its tool, as for server tools.
import type { Tool } from '@baton/core/internal'
import { BatonError, parseJson } from '@baton/core/internal'
import type { Outcome } from '@baton/core/machine'
import { within } from '../deadline.ts'
import type { Validated } from './arguments.ts'
import { describeToolFailure, stringifyResult } from './tool-result.ts'
import type { WorkContext } from './work.ts'

/** Time limit of a schema, in milliseconds. */
const CHECK_MS = 10_000

/**
 * Returns the outcome, or a `result_invalid` error in its place. Synchronous if the schema is, so that results keep
 * their order. Never throws or rejects.
 */
export function checkClientResult(
  { tools, validator, timers, secrets }: Pick<WorkContext, 'tools' | 'validator' | 'timers' | 'secrets'>,
  name: string,
  outcome: Outcome,
): Outcome | Promise<Outcome> {
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool?.output || tool.execute || outcome.type !== 'ok') return outcome
  const { output } = tool
  const [value, otherwise] = readTexts(outcome)
  const conclude = (checked: Validated): Outcome => (checked.ok ? outcome : createIssue(tool, checked.issues))
  const fail = (thrown: unknown): Outcome => describeToolFailure(thrown, secrets)
  try {
    const checked = validator.validate({ input: output, subject: 'the result is' }, value)
    const isSettled = !('then' in checked) && (checked.ok || otherwise === undefined)
    if (isSettled) return conclude(checked)
    const checking = Promise.resolve(checked).then(async (first) => {
      const asText =
        first.ok || otherwise === undefined
          ? first
          : await validator.validate({ input: output, subject: 'the result is' }, otherwise)
      return asText.ok ? asText : first
    })
    const message = `the output schema of "${name}" took longer than ${CHECK_MS} ms`
    const error = (): BatonError => new BatonError({ code: 'result_invalid', message })
    return within(timers, { timeoutMs: CHECK_MS, error }, checking).then(conclude, fail)
  } catch (thrown) {
    return fail(thrown)
  }
}

/**
 * The JSON text of the value that the content represents, or of its text, which is read as JSON first and as plain text
 * second.
 */
function readTexts({ content, value }: Extract<Outcome, { readonly type: 'ok' }>): readonly [string, string?] {
  if (value !== undefined) return [stringifyResult(value)]
  const [part] = content
  if (part?.type !== 'text' || content.length > 1) return [stringifyResult({ content })]
  const asText = stringifyResult(part.text)
  return parseJson(part.text).ok ? [part.text, asText] : [asText]
}

function createIssue({ name }: Pick<Tool, 'name'>, issues: string): Outcome {
  return { type: 'error', code: 'result_invalid', message: `the result of "${name}" is wrong: ${issues}` }
}
