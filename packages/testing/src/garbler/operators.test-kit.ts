// Streams of servers that almost follow a wire: each operator rewrites the events of an answer like one kind of gateway
// or local server. The meaning of the answer stays the same.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import { GOOGLE_AWS_OPERATORS } from './google-aws.test-kit.ts'
import type { Truth, Wire } from './truth.test-kit.ts'

export interface Random {
  below(limit: number): number
}

/** An event, or the text of one that is not JSON. */
export type WireEvent = JsonObject | '[DONE]'

export interface Operator {
  readonly name: string
  readonly wire: Wire
  apply(events: readonly WireEvent[], random: Random): readonly WireEvent[]
}

const list = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : []
const object = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})
const string = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')

type ChatEvent = (event: JsonObject) => readonly WireEvent[]

function eachChat(events: readonly WireEvent[], change: ChatEvent): readonly WireEvent[] {
  return events.flatMap((event) => (event === '[DONE]' ? [event] : change(event)))
}

const choiceOf = (event: JsonObject): JsonObject => list(event['choices'])[0] ?? {}
const piecesOf = (event: JsonObject): readonly JsonObject[] => list(object(choiceOf(event)['delta'])['tool_calls'])

function withChoice(event: JsonObject, choice: JsonObject): JsonObject {
  return { ...event, choices: [{ ...choiceOf(event), ...choice }] }
}

function withPieces(event: JsonObject, pieces: readonly JsonObject[]): JsonObject {
  return withChoice(event, { delta: { ...object(choiceOf(event)['delta']), tool_calls: pieces } })
}

/** Rewrites each piece of each call. Ids are remembered for pieces that lack them. */
function eachPiece(
  events: readonly WireEvent[],
  change: (piece: JsonObject, id: string, count: number) => JsonObject | readonly JsonObject[],
): readonly WireEvent[] {
  const ids = new Map<JsonValue | undefined, string>()
  let count = 0
  return eachChat(events, (event) => {
    const pieces = piecesOf(event)
    if (pieces.length === 0) return [event]
    const changed = pieces.flatMap((piece) => {
      const id = string(piece['id']) || (ids.get(piece['index']) ?? '')
      ids.set(piece['index'], id)
      return change(piece, id, count++)
    })
    return [withPieces(event, changed)]
  })
}

const argumentsOf = (piece: JsonObject): string => string(object(piece['function'])['arguments'])
const withArguments = (piece: JsonObject, text: string): JsonObject => ({
  ...piece,
  function: { ...object(piece['function']), arguments: text },
})

/** Full arguments of each call, by its index. */
function wholeArguments(events: readonly WireEvent[]): ReadonlyMap<JsonValue | undefined, string> {
  const whole = new Map<JsonValue | undefined, string>()
  for (const event of events)
    if (event !== '[DONE]')
      for (const piece of piecesOf(event))
        whole.set(piece['index'], (whole.get(piece['index']) ?? '') + argumentsOf(piece))
  return whole
}

/**
 * Emits the first piece of each call, then one piece with all its arguments as created by `write`; drops the other
 * pieces.
 */
function regroup(
  events: readonly WireEvent[],
  write: (piece: JsonObject, whole: string) => readonly JsonObject[],
): readonly WireEvent[] {
  const whole = wholeArguments(events)
  const seen = new Set<JsonValue | undefined>()
  return eachPiece(events, (piece, id) => {
    if (seen.has(piece['index'])) return []
    seen.add(piece['index'])
    return write({ ...piece, ...(id !== '' && { id }) }, whole.get(piece['index']) ?? '')
  })
}

/** Returned unchanged if other operators have made it invalid JSON. */
function toObject(text: string): JsonValue {
  const parsed = parseJson(text === '' ? '{}' : text)
  return parsed.ok ? parsed.value : text
}

const chat = (name: string, apply: Operator['apply']): Operator => ({ name, wire: 'chat', apply })

const rename = (name: string, markup: (tool: string) => string): Operator =>
  chat(name, (events) =>
    eachPiece(events, (piece) => {
      const tool = string(object(piece['function'])['name'])
      return tool === '' ? piece : { ...piece, function: { ...object(piece['function']), name: markup(tool) } }
    }),
  )

const isForCalls = (event: WireEvent): boolean =>
  event !== '[DONE]' && string(choiceOf(event)['finish_reason']) === 'tool_calls'

const CHAT: readonly Operator[] = [
  chat('the id under another index', (events) =>
    eachPiece(events, (piece, id, count) => (id === '' ? piece : { ...piece, id, index: count % 2 === 0 ? 7 : 0 })),
  ),
  chat('an index that counts pieces', (events) =>
    eachPiece(events, (piece, id, count) => (id === '' ? piece : { ...piece, id, index: count })),
  ),
  chat('the id in each piece', (events) => eachPiece(events, (piece, id) => (id === '' ? piece : { ...piece, id }))),
  chat('a reason in each piece', (events) =>
    eachChat(events, (event) => {
      const isAnswer = list(event['choices']).length > 0
      return [
        isAnswer && !choiceOf(event)['finish_reason'] && piecesOf(event).length > 0
          ? withChoice(event, { finish_reason: 'tool_calls' })
          : event,
      ]
    }),
  ),
  chat('the reason before the calls', (events) => {
    const reason = events.find(isForCalls)
    return reason === undefined ? events : [reason, ...events.filter((event) => event !== reason)]
  }),
  chat('an empty object first', (events) =>
    regroup(events, (piece, whole) => [
      withArguments(piece, '{}'),
      ...(whole === '' ? [] : [withArguments({ index: piece['index'] ?? 0 }, whole)]),
    ]),
  ),
  chat('the whole twice', (events) =>
    regroup(events, (piece, whole) => [withArguments(piece, whole), withArguments({ ...piece, function: {} }, whole)]),
  ),
  chat('in pieces, then the whole', (events) =>
    regroup(events, (piece, whole) => {
      const half = Math.floor(whole.length / 2)
      const rest = { ...piece, function: {} }
      return [
        withArguments(piece, whole.slice(0, half)),
        withArguments(rest, whole.slice(half)),
        withArguments(rest, whole),
      ]
    }),
  ),
  chat('all so far in each piece', (events, random) =>
    regroup(events, (piece, whole) => {
      const cuts = [1, 2, 3].map(() => 1 + random.below(Math.max(1, whole.length - 1))).toSorted((a, b) => a - b)
      return [...cuts, whole.length].map((cut, at) =>
        withArguments(at === 0 ? piece : { ...piece, function: {} }, whole.slice(0, cut)),
      )
    }),
  ),
  chat('a name in two pieces', (events) =>
    regroup(events, (piece, whole) => {
      const name = string(object(piece['function'])['name'])
      const half = Math.max(1, Math.floor(name.length / 2))
      const named = (part: string): JsonObject => ({ ...piece, function: { name: part } })
      return [named(name.slice(0, half)), named(name.slice(half)), withArguments({ ...piece, function: {} }, whole)]
    }),
  ),
  rename('markup of gpt-oss behind the name', (name) => `${name}<|channel|>commentary`),
  rename('a namespace and a number around the name', (name) => `functions.${name}:0`),
  rename('a namespace of Gemini before the name', (name) => `default_api.${name}`),
  chat('arguments as an object', (events) =>
    regroup(events, (piece, whole) => [
      { ...piece, function: { ...object(piece['function']), arguments: toObject(whole) } },
    ]),
  ),
  chat('no [DONE]', (events) => events.filter((event) => event !== '[DONE]')),
  chat('a total that counts the cache', (events) =>
    eachChat(events, (event) => [
      isJsonObject(event['usage'])
        ? {
            ...event,
            usage: {
              prompt_tokens: 10,
              completion_tokens: 30,
              total_tokens: 7391,
              prompt_tokens_details: { cached_tokens: 7351 },
            },
          }
        : event,
    ]),
  ),
  chat('a place for calls in each piece', (events) =>
    eachChat(events, (event) =>
      piecesOf(event).length === 0 && list(event['choices']).length > 0 ? [withPieces(event, [])] : [event],
    ),
  ),
  chat('thoughts whose tag was never opened', (events) => {
    // A server that detects thinking leaves no tags of it.
    if (JSON.stringify(events).includes('"reasoning')) return events
    const at = events.findIndex((event) => event !== '[DONE]' && list(event['choices']).length > 0)
    const thought = { choices: [{ index: 0, delta: { content: 'I should look.\n</think>\n\n' }, finish_reason: null }] }
    return [...events.slice(0, at), thought, ...events.slice(at)]
  }),
]

const messages = (name: string, change: (events: readonly JsonObject[]) => readonly WireEvent[]): Operator => ({
  name,
  wire: 'messages',
  apply: (events) => [
    ...change(events.filter((event) => event !== '[DONE]')),
    ...events.filter((event) => event === '[DONE]'),
  ],
})

const renumber = (events: readonly JsonObject[], number: (index: number) => number): readonly JsonObject[] =>
  events.map((event) => (typeof event['index'] === 'number' ? { ...event, index: number(event['index']) } : event))

const MESSAGES: readonly Operator[] = [
  messages('[DONE] behind the end', (events) => [...events, '[DONE]']),
  messages('[DONE] in place of the end', (events) => [
    ...events.filter(({ type }) => type !== 'message_stop'),
    '[DONE]',
  ]),
  messages('no end', (events) => events.filter(({ type }) => type !== 'message_stop')),
  messages('indexes with gaps', (events) => renumber(events, (index) => index * 3)),
  messages('indexes from 1', (events) => renumber(events, (index) => index + 1)),
  messages('one index for all', (events) => renumber(events, () => 0)),
  messages('each end of a block twice', (events) =>
    events.flatMap((event) => (event['type'] === 'content_block_stop' ? [event, event] : [event])),
  ),
  messages('the whole arguments twice', (events) => {
    const whole = new Map<JsonValue | undefined, string>()
    return events.flatMap((event) => {
      const delta = object(event['delta'])
      const index = event['index']
      if (delta['type'] === 'input_json_delta')
        whole.set(index, (whole.get(index) ?? '') + string(delta['partial_json']))
      const said = whole.get(index) ?? ''
      if (event['type'] !== 'content_block_stop' || said === '') return [event]
      return [
        { type: 'content_block_delta', index: index ?? 0, delta: { type: 'input_json_delta', partial_json: said } },
        event,
      ]
    })
  }),
  messages('pings everywhere', (events) => events.flatMap((event) => [event, { type: 'ping' }])),
]

const responses = (name: string, change: (events: readonly JsonObject[]) => readonly WireEvent[]): Operator => ({
  name,
  wire: 'responses',
  apply: (events) => change(events.filter((event) => event !== '[DONE]')),
})

const withOutput = (events: readonly JsonObject[], output: readonly JsonObject[]): readonly JsonObject[] =>
  events.map((event) =>
    event['type'] === 'response.completed' ? { ...event, response: { ...object(event['response']), output } } : event,
  )

const RESPONSES: readonly Operator[] = [
  responses('one index for all', (events) =>
    events.map((event) => ('output_index' in event ? { ...event, output_index: 0 } : event)),
  ),
  responses('no index', (events) =>
    events.map((event) => ({ ...event, output_index: undefined as unknown as number })),
  ),
  responses('items that only the end lists', (events) =>
    events.filter(({ type }) => !string(type).startsWith('response.output_item')),
  ),
  responses('an end that lists nothing', (events) => withOutput(events, [])),
  responses('another id for each item in the end', (events) =>
    withOutput(
      events,
      list(object(events.at(-1)?.['response'])['output']).map((item, at) => ({ ...item, id: `other_${at}` })),
    ),
  ),
  responses('[DONE] behind the end', (events) => [...events, '[DONE]']),
]

/**
 * The part that an operator affects: two of one kind would undo each other, or produce what no server writes. In order
 * of application.
 */
const KINDS: readonly RegExp[] = [
  /around the name|before the name|behind the name|a name in two/,
  /object|whole twice|then the whole|all so far|a name in two|whole arguments|as a text/,
  /index|the id in each/,
  /reason/,
  /lists|in the end$|counts before/,
  /\[DONE\]|no end/,
  /thoughts/,
  /total/,
  /a place for calls|each call twice/,
  /empty parts|without a candidate/,
  /end of a block/,
  /pings/,
]

/** As many operators as can be combined, in an order in which a server could apply them. */
export function chooseTogether(operators: readonly Operator[]): readonly Operator[] {
  const used = new Set<RegExp>()
  const chosen = operators.filter(({ name }) => {
    const kinds = KINDS.filter((kind) => kind.test(name))
    if (kinds.some((kind) => used.has(kind))) return false
    for (const kind of kinds) used.add(kind)
    return true
  })
  const place = ({ name }: Operator): number => KINDS.findIndex((kind) => kind.test(name))
  return chosen.toSorted((one, other) => place(one) - place(other))
}

export const OPERATORS: readonly Operator[] = [...CHAT, ...MESSAGES, ...RESPONSES, ...GOOGLE_AWS_OPERATORS]

/** How the bytes of events are framed. */
export const FRAMINGS = ['plain', 'with comments', 'with CRLF', 'with event names'] as const
export type Framing = (typeof FRAMINGS)[number]

export function writeEvents(events: readonly WireEvent[], framing: Framing): string {
  const end = framing === 'with CRLF' ? '\r\n' : '\n'
  return events
    .map((event) => {
      const data = event === '[DONE]' ? event : JSON.stringify(event)
      const named = framing === 'with event names' && event !== '[DONE]' && typeof event['type'] === 'string'
      const comment = framing === 'with comments' ? `: keep-alive${end}${end}` : ''
      return `${comment}${named ? `event: ${string(event['type'])}${end}` : ''}data: ${data}${end}${end}`
    })
    .join('')
}

export type { Truth }
