// Converts the output of `toModelOutput` (AI SDK 5 to 7) and `experimental_toToolResultContent` (version 4) to a Baton
// tool result.
import { BatonError, describeValue, isJsonObject } from '@baton/core/internal'
import { invalidOutput, readContent } from '../shared/content-parts.ts'

/**
 * Returns a string, a JSON value, or content.
 * @throws BatonError `tool_failed` (the output is an error), `call_denied`, `result_invalid` (an unknown type)
 */
export function readModelOutput(name: string, said: unknown): unknown {
  if (!isJsonObject(said)) throw invalidOutput(name, 'it is not an AI SDK output')
  const { type, value, reason } = said
  switch (type) {
    case 'text':
      if (typeof value === 'string') return value
      throw invalidOutput(name, 'its text is not a string')
    case 'json':
      return value
    case 'error-text':
    case 'error-json':
      throw new BatonError({ code: 'tool_failed', message: wordsOf(value) })
    case 'execution-denied':
      throw new BatonError({
        code: 'call_denied',
        message: typeof reason === 'string' ? reason : 'the tool was not run',
      })
    case 'content':
      if (Array.isArray(value)) return readContent(name, value)
      throw invalidOutput(name, 'its content is not a list')
    default:
      throw invalidOutput(name, `its output has the unknown type ${describeValue(type)}`)
  }
}

function wordsOf(told: unknown): string {
  if (typeof told === 'string') return told
  return JSON.stringify(told ?? 'the tool failed and did not say why')
}
