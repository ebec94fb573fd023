// What the fake Bedrock server streams: one answer as the frames of ConverseStream, in the order and with the padding of
// recorded ones. Exceptions inside of a stream are hand-made from AWS's model of the API: no recording has one.
import type { JsonObject } from '@baton/core'
import { encodeFrame } from '@baton/models/bedrock'

export interface FakeBedrockCall {
  /** As it stands on the wire: one of the request's tools. */
  readonly name: string
  readonly input: JsonObject
}

export interface FakeBedrockSaid {
  /** Claude's, with a signature. */
  readonly thought?: string
  readonly text?: string
  readonly calls?: readonly FakeBedrockCall[]
  readonly stopReason?: string
  /** A frame of this type in place of the end: `throttlingException`. */
  readonly exception?: { readonly type: string; readonly message: string }
  /** The connection breaks after so many frames, or the body ends, or nothing more comes. */
  readonly cutAfterFrames?: number
  readonly endAfterFrames?: number
  readonly stallAfterFrames?: number
}

/** Characters of one delta: small, so that every answer comes in several. */
const DELTA_CHARS = 7
const PADDING = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

export function listFrames(said: FakeBedrockSaid, index: number): readonly Uint8Array[] {
  const { thought, text = '', calls = [], exception } = said
  const reasoning = thought === undefined ? [] : [reasoningEvents(thought, `signature-of-answer-${index}`)]
  const texts = text === '' ? [] : [splitPieces(text).map((piece) => delta({ text: piece }))]
  const asked = calls.map((call, number) => callEvents(call, `tooluse_${index}_${number}`))
  const blocks = [...reasoning, ...texts, ...asked].flatMap((events, contentBlockIndex) =>
    [...events, { type: 'contentBlockStop', payload: {} }].map(({ type, payload }) => ({
      type,
      payload: { contentBlockIndex, ...payload },
    })),
  )
  const stopReason = said.stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
  const end = exception
    ? [exceptionFrame(exception)]
    : [
        eventFrame('messageStop', { stopReason }, index),
        eventFrame('metadata', { usage, metrics: { latencyMs: 1 } }, index + 9),
      ]
  return [
    eventFrame('messageStart', { role: 'assistant' }, index),
    ...blocks.map(({ type, payload }, number) => eventFrame(type, payload, number * 5)),
    ...end,
  ]
}

interface Event {
  readonly type: string
  readonly payload: JsonObject
}

function delta(value: JsonObject): Event {
  return { type: 'contentBlockDelta', payload: { delta: value } }
}

function reasoningEvents(thought: string, signature: string): readonly Event[] {
  const texts = splitPieces(thought).map((text) => delta({ reasoningContent: { text } }))
  return [...texts, delta({ reasoningContent: { signature } })]
}

/** No arguments come as an empty text. */
function callEvents({ name, input }: FakeBedrockCall, toolUseId: string): readonly Event[] {
  const pieces = Object.keys(input).length === 0 ? [''] : splitPieces(JSON.stringify(input))
  const start = { type: 'contentBlockStart', payload: { start: { toolUse: { name, toolUseId } } } }
  return [start, ...pieces.map((piece) => delta({ toolUse: { input: piece } }))]
}

function splitPieces(text: string): readonly string[] {
  const chars = Array.from(text)
  const count = Math.ceil(chars.length / DELTA_CHARS)
  return Array.from({ length: count }, (_, at) => chars.slice(at * DELTA_CHARS, (at + 1) * DELTA_CHARS).join(''))
}

function eventFrame(type: string, payload: JsonObject, seed: number): Uint8Array {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return encodeFrame({ headers, body: toBytes({ ...payload, p: PADDING.slice(0, 1 + ((seed * 11) % 61)) }) })
}

function exceptionFrame({ type, message }: { readonly type: string; readonly message: string }): Uint8Array {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }
  return encodeFrame({ headers, body: toBytes({ message }) })
}

function toBytes(payload: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(payload))
}
