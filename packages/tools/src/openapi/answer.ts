// Turns the answer of an operation into a tool's result.
import type { JsonValue, ToolContent } from '@baton/core'
import { isJsonObject } from '@baton/core'
import { bareType, isJsonType, isTextType } from '../shared/media-types.ts'
import type { Reading } from '../shared/service-answer.ts'
import { decode, malformed, quoteStart, readBody, readJson } from '../shared/service-answer.ts'

/**
 * JSON as a value, text as text, an image or a file as a part for the model; null for an answer without a body.
 * @param types media types of successful answers, as the document says; empty if it says nothing
 * @throws BatonError `api_unauthorized`, `api_refused`, `api_rate_limited`, `api_failed`, `api_malformed`, `api_unavailable`
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
    throw malformed(reading, `answered with ${type.slice(0, 100)} in place of JSON${quoteStart(bytes, reading)}`)
  if (type === '' || isTextType(type)) return decode(bytes, said)
  const source = { type: 'base64', data: bytes.toString('base64') } as const
  if (/^image\/(png|jpeg|gif|webp)$/.test(type)) return { content: [{ type: 'image', mediaType: type, source }] }
  const name = readFileName(response.headers.get('content-disposition') ?? '')
  return { content: [{ type: 'file', mediaType: type, source, ...(name !== undefined && { name }) }] }
}

/** A service's JSON is data, even if it looks like a tool's images and files. */
function asData(value: JsonValue): JsonValue | ToolContent {
  if (isJsonObject(value) && Array.isArray(value['content']))
    return { content: [{ type: 'text', text: JSON.stringify(value) }] }
  return value
}

function readFileName(disposition: string): string | undefined {
  const name = /;\s*filename="?([^";]{1,200})/i.exec(disposition)?.[1]?.trim().split(/[\\/]/).at(-1)
  return name === undefined || name === '' ? undefined : name
}
