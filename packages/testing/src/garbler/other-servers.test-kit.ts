// Answers as written by individual gateways and local servers, handwritten: a row has a stream and its meaning. The
// real adapters read each one whole and byte by byte, with LF, and with a byte order mark and CRLF. The expected values
// come from docs/providers.md.
import type { JsonObject, Model, ModelAnswer, ModelPart, Transport } from '@baton/core/internal'
import { isBatonError, parseJson } from '@baton/core/internal'
import { RUNS_AFTER } from '@baton/core/machine'
import { createAnthropicModel } from '@baton/models/anthropic'
import { COMPATIBLE_QUIRKS, createOpenAiChatModel } from '@baton/models/openai-chat'
import { createOpenAiResponsesModel } from '@baton/models/openai-responses'
import { fitToolName } from '@baton/runtime'

export type Event = JsonObject | string
/** `text`, `thought`, or a tool name; then the content. */
export type Said = readonly [kind: string, value: string]
export type Row = readonly [situation: string, events: readonly Event[], expected: readonly Said[] | string]

const TOOLS = ['list_files', 'get_weather', 'now'].map((name) => ({
  name,
  description: '',
  inputSchema: { type: 'object' },
}))
const LIMIT = 500
export const SRV = '{"path":"/srv"}'
export const OSLO = '{"city":"Oslo"}'
export const LISTED: Said = ['list_files', SRV]
export const WEATHER: Said = ['get_weather', OSLO]
/** A call that does not run because its arguments never arrived. */
export const lost = (name: string): Said => [name, 'lost']

function writeEvents(events: readonly Event[], end = '\n'): string {
  return events
    .map((event) => (typeof event === 'string' ? event : `data: ${JSON.stringify(event)}`))
    .map((event) => event.replaceAll('\n', end) + end + end)
    .join('')
}

function sendBytes(body: string, step: number): Transport {
  const bytes = new TextEncoder().encode(body)
  const head = { status: 200, headers: { 'content-type': 'text/event-stream' } }
  return {
    post: (_request, _signal, onBytes) => {
      for (let at = 0; at < bytes.length; at += step) onBytes(bytes.subarray(at, at + step), head)
      return Promise.resolve(head)
    },
  }
}

export type Open = (transport: Transport) => Model
export const openChat: Open = (transport) =>
  createOpenAiChatModel({ model: 'm', transport, quirks: COMPATIBLE_QUIRKS, provider: 'theirs' })
export const openMessages: Open = (transport) => createAnthropicModel({ model: 'm', transport, apiKey: 'key' })
export const openResponses: Open = (transport) => createOpenAiResponsesModel({ model: 'm', transport, apiKey: 'key' })

async function ask(model: Model): Promise<ModelAnswer | string> {
  const request = {
    instructions: '',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }],
    tools: TOOLS,
    toolChoice: { type: 'auto' },
    settings: { maxOutputTokens: LIMIT },
    session: 's',
  } as const
  try {
    return await model.run(request, () => undefined, new AbortController().signal)
  } catch (cause) {
    if (isBatonError(cause)) return cause.code
    throw cause
  }
}

function readPart(part: ModelPart): readonly Said[] {
  if (part.type === 'text') return [['text', part.text]]
  if (part.type === 'reasoning') return part.text.trim() === '' ? [] : [['thought', part.text]]
  if (part.type !== 'call') return []
  const name = fitToolName(part.name, TOOLS) ?? part.name
  const { ok } = parseJson(part.arguments)
  return [[name, part.arguments.trim() === '' ? 'lost' : ok ? part.arguments : `broken: ${part.arguments}`]]
}

/** Answers to the stream: one, if all ways of sending it yield the same. */
export async function readAnswers(open: Open, events: readonly Event[]): Promise<readonly (ModelAnswer | string)[]> {
  const bodies = [writeEvents(events), `\uFEFF${writeEvents(events, '\r\n')}`]
  const answers = new Map<string, ModelAnswer | string>()
  for (const body of bodies)
    for (const step of [body.length * 4, 1]) {
      const answer = await ask(open(sendBytes(body, step)))
      answers.set(JSON.stringify(answer), answer)
    }
  return [...answers.values()]
}

/** An answer as a row: the code of a failure, or the contents, with the stop reason if its calls must not run. */
export async function readRow(open: Open, events: readonly Event[]): Promise<readonly (Row[2] | undefined)[]> {
  const answers = await readAnswers(open, events)
  return answers.map((answer) => {
    if (typeof answer === 'string') return answer
    const isIdle = !RUNS_AFTER.has(answer.finish) && answer.parts.some(({ type }) => type === 'call')
    return [...answer.parts.flatMap(readPart), ...(isIdle ? [['finish', answer.finish] as const] : [])]
  })
}

export const chunk = (delta: JsonObject, reason: string | null = null, more: JsonObject = {}): JsonObject => ({
  ...more,
  choices: [{ finish_reason: reason, delta, index: 0 }],
})
export const piece = (call: JsonObject, reason: string | null = null): JsonObject =>
  chunk({ tool_calls: [call] }, reason)
/** A piece of a call. */
export const made = (more: JsonObject, args?: JsonObject | string | null, name?: string | null): JsonObject => ({
  ...more,
  function: { ...(args !== undefined && { arguments: args }), ...(name !== undefined && { name }) },
})
export const CALLED = chunk({}, 'tool_calls')
export const DONE = 'data: [DONE]'
export const LS = 'list_files'
