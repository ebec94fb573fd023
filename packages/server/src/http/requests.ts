// Reads what a request brings: JSON within its bound, and values of the address.
import type { JsonObject, JsonValue } from '@baton/core'
import { BatonError, isJsonObject, parseJson } from '@baton/core'
import { createInvalid } from './ui-messages.ts'

/** @throws BatonError `input_too_large`, `invalid_event` */
export async function readJsonBody(request: Request, bytesMax: number): Promise<JsonValue> {
  // A page of another origin can send text without asking first, and JSON it cannot.
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\b/i.test(type))
    throw createInvalid(`content-type must be application/json, not ${JSON.stringify(type.slice(0, 80))}`)
  const pieces: Uint8Array[] = []
  let length = 0
  if (request.body)
    for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
      // a stream of bytes in every runtime
      length += piece.byteLength
      if (length > bytesMax)
        throw new BatonError({ code: 'input_too_large', message: `the body has more than ${bytesMax} bytes` })
      pieces.push(piece)
    }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  const parsed = parseJson(new TextDecoder().decode(bytes))
  if (!parsed.ok) throw createInvalid('the body must be JSON')
  if (isDeeper(parsed.value, DEPTH_MAX)) throw createInvalid(`the body is deeper than ${DEPTH_MAX} levels`)
  return parsed.value
}

/** Objects and arrays in one another. */
const DEPTH_MAX = 100

export function isDeeper(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((field) => isDeeper(field, levels - 1))
}

/** @throws BatonError `input_too_large`, `invalid_event` */
export async function readObjectBody(request: Request, bytesMax: number): Promise<JsonObject> {
  const body = await readJsonBody(request, bytesMax)
  if (!isJsonObject(body)) throw createInvalid('the body must be a JSON object')
  return body
}

/** @throws BatonError `invalid_event` */
export function readNumber(url: URL, name: string): number | undefined {
  const text = url.searchParams.get(name)
  if (text === null) return undefined
  if (!/^\d{1,9}$/.test(text))
    throw createInvalid(`${name} must be a whole number, not ${JSON.stringify(text.slice(0, 40))}`)
  return Number(text)
}
