// Converts an operation's response to a tool result.
import type { JsonValue, ToolContent } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { bareType, isJsonType, isTextType } from '../shared/media-types.ts'
import type { Reading } from '../shared/service-answer.ts'
import { decode, malformed, quoteStart, readBody, readJson } from '../shared/service-answer.ts'

/**
 * Returns JSON as a value, text as a string, an image or file as a content part, and null for an empty body.
 * @param types documented media types of successful responses; empty if there are none
 * @throws BatonError `api_unauthorized`, `api_refused`, `api_rate_limited`, `api_failed`, `api_malformed`,
 * `api_unavailable`
 */
export async function readAnswer(
  response: Response,
  reading: Reading,
  types: readonly string[],
): Promise<JsonValue | ToolContent> {
  const bytes = await readBody(response, reading)
  if (bytes.length === 0) return null
  const said = response.headers.get('content-type') ?? ''
  const type = bareType(said)
  const isPromised = types.length > 0 && types.every(isJsonType)
  if (isJsonType(type) || (type === '' && isPromised)) return asData(readJson(bytes, reading))
  if (isPromised)
    throw malformed(reading, `responded with ${type.slice(0, 100)} instead of JSON${quoteStart(bytes, reading)}`)
  if (type === '' || isTextType(type)) return decode(bytes, said)
  const source = { type: 'base64', data: bytes.toString('base64') } as const
  if (/^image\/(png|jpeg|gif|webp)$/.test(type)) return { content: [{ type: 'image', mediaType: type, source }] }
  const name = readFileName(response.headers.get('content-disposition') ?? '')
  return { content: [{ type: 'file', mediaType: type, source, ...(name !== undefined && { name }) }] }
}

/** A service's JSON is data, even if it looks like a tool's content parts. */
function asData(value: JsonValue): JsonValue | ToolContent {
  if (isJsonObject(value) && Array.isArray(value['content']))
    return { content: [{ type: 'text', text: JSON.stringify(value) }] }
  return value
}

function readFileName(disposition: string): string | undefined {
  const name = /;\s*filename="?([^";]{1,200})/i.exec(disposition)?.[1]?.trim().split(/[\\/]/).at(-1)
  return name === undefined || name === '' ? undefined : name
}
