// Turns what `toModelOutput` of the AI SDK 5 to 7 and `experimental_toToolResultContent` of version 4 return into the result of a tool
// of Baton.
import { BatonError, describeValue, isJsonObject } from '@baton/core'
import { invalidOutput, readContent } from '../shared/content-parts.ts'

/**
 * A text, a JSON value, or content.
 * @throws BatonError `tool_failed` (the output is an error), `call_denied`, `result_invalid` (an unknown type)
 */
export function readModelOutput(name: string, said: unknown): unknown {
  if (!isJsonObject(said)) throw invalidOutput(name, 'it gave no output of the AI SDK')
  const { type, value, reason } = said
  switch (type) {
    case 'text':
      if (typeof value === 'string') return value
      throw invalidOutput(name, 'its text is not a text')
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
      throw invalidOutput(name, `it gave an output of the type ${describeValue(type)}`)
  }
}

function wordsOf(told: unknown): string {
  if (typeof told === 'string') return told
  return JSON.stringify(told ?? 'the tool failed and did not say why')
}
