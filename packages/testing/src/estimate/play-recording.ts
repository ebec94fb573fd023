// Plays a recorded conversation on a host: its answers and their cost as the provider sent them, each with Baton's
// estimate of the request's cost.
import type { ContentPart, Model, ModelAnswer, ToolContent, ToolDeclaration } from '@baton/core/internal'
import { defineAgent, tool } from '@baton/core/internal'
import type { LocalHost } from '@baton/host'
import { createHost } from '@baton/host'
import type { RecordedItem, RecordedRequest } from './read-request.ts'

export interface CountedRequest {
  readonly request: RecordedRequest
  readonly answer: ModelAnswer
  /** Display name: the file and the number of the exchange. */
  readonly name: string
}

export interface Estimate {
  readonly name: string
  readonly estimated: number
  readonly counted: number
  /** Whether the provider had already counted a request of this conversation. */
  readonly isCalibrated: boolean
  /** Tokens of a picture depend on its size, which the recordings lack. */
  readonly hasPicture: boolean
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SILENT: ModelAnswer = { parts: [], finish: 'end', usage: {}, model: 'recorded' }

/**
 * Each request continues where the previous one ended. Requests that a host does not reach are missing from the result.
 */
export async function playRecording(
  requests: readonly CountedRequest[],
  { id, provider, capabilities }: Pick<Model, 'id' | 'provider' | 'capabilities'>,
): Promise<readonly Estimate[]> {
  const last = requests.at(-1)
  if (!last) return []
  const { instructions, tools, items } = last.request
  const estimates: Estimate[] = []
  const host: { current?: LocalHost } = {}
  let at = 0
  const takeResult = (): ToolContent => {
    const item = items[at]
    if (item?.role !== 'result') return { content: [{ type: 'text', text: '' }] }
    at += 1
    return { content: toParts(item) }
  }
  const run: Model['run'] = async () => {
    const recorded = requests.find(({ request }) => request.items.length === at)
    const session = await host.current?.session('recorded')
    const { context } = (await session?.info()) ?? {}
    const said = items[at]
    if (said?.role === 'assistant') at += 1
    else if (at < items.length) return SILENT
    if (!recorded) return said?.role === 'assistant' ? toAnswer(said) : SILENT
    const { usage } = recorded.answer
    const isCalibrated = estimates.length > 0
    const hasPicture = recorded.request.items.some((item) => item.role !== 'assistant' && item.images > 0)
    if (usage.inputTokens !== undefined && context)
      estimates.push({
        name: recorded.name,
        estimated: context.used,
        counted: usage.inputTokens,
        isCalibrated,
        hasPicture,
      })
    return at < items.length || said
      ? recorded.answer
      : { ...recorded.answer, parts: [{ type: 'text', text: 'end' }], finish: 'end' }
  }
  host.current = createHost({
    agent: defineAgent({
      name: 'recorded',
      model: { id, provider, capabilities, run },
      instructions,
      tools: tools.map((declared) => toTool(declared, takeResult)),
      emptyAnswer: 'silence',
    }),
  })
  const session = await host.current.session('recorded')
  while (at < items.length) {
    const item = items[at]
    if (item?.role !== 'user') break
    at += 1
    await session.send(toParts(item)).answer.catch(() => undefined)
  }
  await host.current.stop()
  return estimates
}

function toTool({ name, description, inputSchema }: ToolDeclaration, execute: () => ToolContent) {
  return tool({ name, description, input: inputSchema, effect: 'pure', execute })
}

function toParts({ text, images }: Exclude<RecordedItem, { readonly role: 'assistant' }>): readonly ContentPart[] {
  const picture = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: PIXEL } } as const
  return [{ type: 'text', text }, ...Array.from({ length: images }, () => picture)]
}

/** An answer whose stream was not recorded, or that precedes the first request. */
function toAnswer({ text, calls }: Extract<RecordedItem, { readonly role: 'assistant' }>): ModelAnswer {
  const parts = [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...calls.map((call) => ({ type: 'call', ...call }) as const),
  ]
  return { parts, finish: calls.length > 0 ? 'tool-calls' : 'end', usage: {}, model: 'recorded' }
}
