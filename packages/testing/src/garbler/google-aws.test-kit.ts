// Gemini's and Bedrock's streams for the garbler: what a recording means by the plainest reading of each provider's
// documentation, and what gateways in front of these two turn it into. Events of Bedrock carry the name of their frame
// as `type`.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { Operator, WireEvent } from './operators.test-kit.ts'
import type { Truth, Wire } from './truth.test-kit.ts'

const list = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : []
const object = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})
const string = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')

const candidateOf = (event: JsonObject): JsonObject => list(event['candidates'])[0] ?? {}
const partsOf = (event: JsonObject): readonly JsonObject[] => list(object(candidateOf(event)['content'])['parts'])

export function readGemini(events: readonly JsonObject[]): Truth | undefined {
  let text = ''
  let isEnded = false
  const calls: { name: string; arguments: string }[] = []
  for (const event of events) {
    if (event['error'] !== undefined) return undefined
    for (const part of partsOf(event)) {
      const call = object(part['functionCall'])
      // Partial arguments and Google's server tools are out of scope here.
      if (call['willContinue'] !== undefined || call['partialArgs'] !== undefined) return undefined
      if (part['executableCode'] !== undefined || part['toolCall'] !== undefined) return undefined
      if (part['functionCall'] !== undefined)
        calls.push({ name: string(call['name']), arguments: JSON.stringify(call['args'] ?? {}) })
      else if (part['thought'] !== true) text += string(part['text'])
    }
    if (candidateOf(event)['finishReason'] === 'STOP') isEnded = true
  }
  return isEnded ? { text, calls } : undefined
}

export function readBedrock(events: readonly JsonObject[]): Truth | undefined {
  let text = ''
  let isEnded = false
  const calls = new Map<JsonValue | undefined, { name: string; arguments: string }>()
  for (const event of events) {
    const index = event['contentBlockIndex']
    const tool = object(object(event['start'])['toolUse'])
    const delta = object(event['delta'])
    if (tool['type'] === 'server_tool_use' || string(event['type']).endsWith('Exception')) return undefined
    if (event['type'] === 'contentBlockStart' && tool['name'] !== undefined)
      calls.set(index, { name: string(tool['name']), arguments: '' })
    const call = calls.get(index)
    if (call) call.arguments += string(object(delta['toolUse'])['input'])
    else text += string(delta['text'])
    if (event['type'] === 'messageStop') isEnded = ['end_turn', 'tool_use'].includes(string(event['stopReason']))
  }
  // Nova writes its thinking into its text.
  if (!isEnded || text.includes('<thinking>')) return undefined
  return {
    text,
    calls: [...calls.values()].map(({ name, arguments: given }) => ({ name, arguments: given === '' ? '{}' : given })),
  }
}

/** The frames of a stream as events; empty if it is damaged. */
export function parseFrames(body: Uint8Array): readonly JsonObject[] {
  const events: JsonObject[] = []
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  for (let at = 0; at + 16 <= body.length; at += view.getUint32(at)) {
    const [length, headersLength] = [view.getUint32(at), view.getUint32(at + 4)]
    if (length < 16 || at + length > body.length) return []
    let type = ''
    for (let head = at + 12; head < at + 12 + headersLength;) {
      const nameLength = view.getUint8(head)
      const name = decodeText(body.subarray(head + 1, head + 1 + nameLength))
      const valueAt = head + 1 + nameLength + 3 // of a string: its kind, and its length in two bytes
      const valueLength = view.getUint16(valueAt - 2)
      if (name === ':event-type' || name === ':exception-type')
        type = decodeText(body.subarray(valueAt, valueAt + valueLength))
      head = valueAt + valueLength
    }
    const parsed = parseJson(decodeText(body.subarray(at + 12 + headersLength, at + length - 4)))
    if (!parsed.ok || !isJsonObject(parsed.value)) return []
    events.push({ ...parsed.value, type })
  }
  return events
}

/** Recorded as lines: `{"messageStart": {…}}`. */
export function parseNamed(events: readonly JsonObject[]): readonly JsonObject[] {
  return events.flatMap((event) => {
    const [entry] = Object.entries(event)
    return entry && isJsonObject(entry[1]) ? [{ ...entry[1], type: entry[0] }] : []
  })
}

const decodeText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const operator = (
  wire: Wire,
  name: string,
  change: (events: readonly JsonObject[]) => readonly WireEvent[],
): Operator => ({
  name,
  wire,
  apply: (events) => [
    ...change(events.filter((event) => event !== '[DONE]')),
    ...events.filter((event) => event === '[DONE]'),
  ],
})

const gemini = (name: string, change: (events: readonly JsonObject[]) => readonly WireEvent[]) =>
  operator('gemini', name, change)
const bedrock = (name: string, change: (events: readonly JsonObject[]) => readonly WireEvent[]) =>
  operator('bedrock', name, change)

const withCandidate = (event: JsonObject, candidate: JsonObject): JsonObject => ({
  ...event,
  candidates: [{ ...candidateOf(event), ...candidate }],
})

const withParts = (event: JsonObject, parts: readonly JsonObject[]): JsonObject =>
  withCandidate(event, { content: { ...object(candidateOf(event)['content']), parts } })

function eachPart(
  events: readonly JsonObject[],
  change: (part: JsonObject, number: number) => readonly JsonObject[],
): readonly JsonObject[] {
  let number = 0
  return events.map((event) =>
    partsOf(event).length === 0
      ? event
      : withParts(
          event,
          partsOf(event).flatMap((part) => change(part, number++)),
        ),
  )
}

const eachCall = (
  events: readonly JsonObject[],
  change: (call: JsonObject, part: JsonObject, number: number) => readonly JsonObject[],
): readonly JsonObject[] =>
  eachPart(events, (part, number) =>
    isJsonObject(part['functionCall']) ? change(part['functionCall'], part, number) : [part],
  )

const renameGemini = (name: string, markup: (tool: string) => string): Operator =>
  gemini(name, (events) =>
    eachCall(events, (call, part) => [{ ...part, functionCall: { ...call, name: markup(string(call['name'])) } }]),
  )

const hasReason = (event: JsonObject): boolean => typeof candidateOf(event)['finishReason'] === 'string'

const GEMINI: readonly Operator[] = [
  gemini('arguments as a text', (events) =>
    eachCall(events, (call, part) => [
      { ...part, functionCall: { ...call, args: JSON.stringify(call['args'] ?? {}) } },
    ]),
  ),
  renameGemini('a namespace of Gemini before the name', (name) => `default_api.${name}`),
  renameGemini('the same with a colon before the name', (name) => `default_api:${name}`),
  renameGemini('a namespace and a number around the name', (name) => `functions.${name}:0`),
  gemini('each call twice, with its id', (events) =>
    eachCall(events, (call, part, number) => {
      const known = { ...part, functionCall: { ...call, id: `call_${number}` } }
      return [known, known]
    }),
  ),
  gemini('a call and its signature in two parts', (events) =>
    eachCall(events, (_call, { thoughtSignature, ...part }) =>
      thoughtSignature === undefined ? [part] : [part, { text: '', thoughtSignature }],
    ),
  ),
  gemini('a reason in each event', (events) =>
    events.map((event) => (partsOf(event).length > 0 ? withCandidate(event, { finishReason: 'STOP' }) : event)),
  ),
  gemini('the reason before the rest', (events) => {
    const [first] = events.filter(hasReason)
    if (!first || events.length < 2) return events
    const early: JsonObject = { candidates: [{ index: 0, finishReason: 'STOP' }] }
    return [early, ...events]
  }),
  gemini('[DONE] behind the end', (events) => [...events, '[DONE]']),
  gemini('empty parts everywhere', (events) => eachPart(events, (part) => [{ text: '' }, part, { text: '' }])),
  gemini('events without a candidate', (events) => events.flatMap((event) => [{ candidates: [] }, event])),
  gemini('thoughts counted twice in the total', (events) =>
    events.map((event) => {
      const usage = object(event['usageMetadata'])
      const { candidatesTokenCount: said, thoughtsTokenCount: thought } = usage
      if (typeof said !== 'number' || typeof thought !== 'number') return event
      return { ...event, usageMetadata: { ...usage, candidatesTokenCount: said + thought } }
    }),
  ),
]

const toolOf = (event: JsonObject): JsonObject => object(object(event['start'])['toolUse'])

const renameBedrock = (name: string, markup: (tool: string) => string): Operator =>
  bedrock(name, (events) =>
    events.map((event) => {
      const tool = toolOf(event)
      return tool['name'] === undefined
        ? event
        : { ...event, start: { toolUse: { ...tool, name: markup(string(tool['name'])) } } }
    }),
  )

/** Calls `write` with each call's arguments before the block ends, and inserts its results. */
function addToCalls(
  events: readonly JsonObject[],
  write: (whole: string) => string,
  where: 'first' | 'last',
): readonly JsonObject[] {
  const whole = new Map<JsonValue | undefined, string>()
  for (const { contentBlockIndex: index, delta } of events) {
    const input = object(object(delta)['toolUse'])['input']
    if (typeof input === 'string') whole.set(index, (whole.get(index) ?? '') + input)
  }
  return events.flatMap((event) => {
    const { contentBlockIndex: index, type } = event
    const said = whole.get(index)
    if (said === undefined || said === '' || said === '{}') return [event]
    const more = {
      type: 'contentBlockDelta',
      contentBlockIndex: index ?? 0,
      delta: { toolUse: { input: write(said) } },
    }
    if (where === 'first' && type === 'contentBlockStart') return [event, more]
    return where === 'last' && type === 'contentBlockStop' ? [more, event] : [event]
  })
}

const BEDROCK: readonly Operator[] = [
  bedrock('an empty object first', (events) => addToCalls(events, () => '{}', 'first')),
  bedrock('the whole arguments twice', (events) => addToCalls(events, (whole) => whole, 'last')),
  renameBedrock('a namespace of Gemini before the name', (name) => `default_api.${name}`),
  renameBedrock('markup of gpt-oss behind the name', (name) => `${name}<|channel|>commentary`),
  renameBedrock('a namespace and a number around the name', (name) => `functions.${name}:0`),
  bedrock('indexes with gaps', (events) =>
    events.map((event) =>
      typeof event['contentBlockIndex'] === 'number'
        ? { ...event, contentBlockIndex: event['contentBlockIndex'] * 3 + 1 }
        : event,
    ),
  ),
  bedrock('each end of a block twice', (events) =>
    events.flatMap((event) => (event['type'] === 'contentBlockStop' ? [event, event] : [event])),
  ),
  bedrock('the reason before the rest', (events) => {
    const stop = events.find(({ type }) => type === 'messageStop')
    return stop ? [stop, ...events] : events
  }),
  bedrock('the counts before the reason', (events) => [
    ...events.filter(({ type }) => type !== 'messageStop' && type !== 'metadata'),
    ...events.filter(({ type }) => type === 'metadata'),
    ...events.filter(({ type }) => type === 'messageStop'),
  ]),
  bedrock('no counts in the end', (events) => events.filter(({ type }) => type !== 'metadata')),
  bedrock('pings everywhere', (events) => events.flatMap((event) => [event, { type: 'ping' }])),
  bedrock('a total that counts the cache once, and an input that has it', (events) =>
    events.map((event) => {
      if (event['type'] !== 'metadata') return event
      const usage = { inputTokens: 7361, outputTokens: 30, totalTokens: 7391, cacheReadInputTokens: 7351 }
      return { ...event, usage }
    }),
  ),
]

export const GOOGLE_AWS_OPERATORS: readonly Operator[] = [...GEMINI, ...BEDROCK]
