// From what a tool returned to what the model is told: JSON as text, bounded, with a way to read the rest.
import type { BlobStore, ContentPart, JsonObject, ToolContent } from '@baton/core'
import { BatonError, isBatonError, tool } from '@baton/core'
import type { Outcome } from '@baton/core/machine'

/** Characters of a result that go to the model at once; a longer one is kept whole and its head is shown. */
export const INLINE_CHARS = 16_384
const HEAD_CHARS = 12_288
/** Characters of a result that is kept at all. */
const KEPT_CHARS = 8 * 1024 * 1024
/** The tool that reads on in a result. It is offered once a result was too long. */
export const READ_RESULT = 'result.read'

export interface KeepResult {
  readonly blobs: BlobStore
  readonly session: string
  readonly callId: string
}

/** @throws BatonError `result_invalid`, `result_too_large` */
export async function outcomeOf(value: unknown, keep: KeepResult): Promise<Outcome> {
  const content = contentOf(value)
  const bounded: ContentPart[] = []
  for (const [index, part] of content.entries()) {
    const long = part.type === 'text' && part.text.length > INLINE_CHARS
    bounded.push(long ? await keepLong(part.text, `${keep.callId}_${index}`, keep) : part)
  }
  return { type: 'ok', content: bounded }
}

/** Any throw of a tool becomes a result that the model can act on. */
export function failureOf(thrown: unknown): Outcome {
  if (isBatonError(thrown)) return { type: 'error', code: thrown.code, message: thrown.message.slice(0, HEAD_CHARS) }
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return { type: 'error', code: 'tool_failed', message: message.slice(0, HEAD_CHARS) }
}

function contentOf(value: unknown): readonly ContentPart[] {
  if (isContent(value)) return value.content
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  let text: string | undefined
  try {
    text = JSON.stringify(value ?? null)
  } catch (cause) {
    throw new BatonError({ code: 'result_invalid', message: `the result is not JSON: ${String(cause)}`, cause })
  }
  if (text === undefined)
    throw new BatonError({ code: 'result_invalid', message: `the result is a ${typeof value}, which is not JSON` })
  return [{ type: 'text', text }]
}

function isContent(value: unknown): value is ToolContent {
  return (
    typeof value === 'object' &&
    value !== null &&
    'content' in value &&
    Array.isArray(value.content) &&
    Object.keys(value).length === 1
  )
}

async function keepLong(text: string, handle: string, keep: KeepResult): Promise<ContentPart> {
  if (text.length > KEPT_CHARS)
    throw new BatonError({
      code: 'result_too_large',
      message: `the result has ${text.length} characters; at most ${KEPT_CHARS} are kept`,
    })
  await keep.blobs.put(keep.session, `result/${handle}`, text)
  const rest = `{"handle":"${handle}","offset":${HEAD_CHARS}}`
  return {
    type: 'text',
    text: `${text.slice(0, HEAD_CHARS)}\n[${text.length} characters in all. Read on with ${READ_RESULT} ${rest}]`,
  }
}

/** The tool behind the handles, bound to one session. */
export function readResultTool(blobs: BlobStore, session: string): ReturnType<typeof tool> {
  return tool({
    name: READ_RESULT,
    description: 'Reads on in a tool result that was too long to show at once.',
    input: READ_RESULT_INPUT,
    effect: 'pure',
    execute: async (input: JsonObject) => {
      const handle = String(input['handle'])
      const text = await blobs.get(session, `result/${handle}`)
      if (text === undefined) throw new BatonError({ code: 'tool_failed', message: `there is no result "${handle}"` })
      const offset = Number(input['offset'] ?? 0)
      const end = Math.min(text.length, offset + HEAD_CHARS)
      return { text: text.slice(offset, end), offset, end, characters: text.length, more: end < text.length }
    },
  })
}

const READ_RESULT_INPUT = {
  type: 'object',
  properties: {
    handle: { type: 'string', description: 'The handle that stands at the end of the shortened result' },
    offset: { type: 'integer', minimum: 0, description: 'The character to begin with' },
  },
  required: ['handle', 'offset'],
  additionalProperties: false,
} as const
