// Session events as JSON Schema (2020-12), for readers in other languages. Later versions may add fields.
import type { JsonObject, JsonValue } from '../json.ts'
import type { SessionEventType } from './session-event.ts'

const TEXT = { type: 'string' } as const
const COUNT = { type: 'integer', minimum: 0 } as const
const NUMBER = { type: 'number' } as const
const FLAG = { type: 'boolean' } as const
const ANY: JsonValue = true
const OBJECT = { type: 'object' } as const

const listOf = (items: JsonValue): JsonObject => ({ type: 'array', items })
const oneOf = (...values: readonly string[]): JsonObject => ({ enum: values })
const refer = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` })

/** A name with a trailing question mark is an optional field. */
function object(fields: Readonly<Record<string, JsonValue>>): JsonObject {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name.replace(/\?$/, ''), schema]),
  )
  return { type: 'object', properties, required: Object.keys(fields).filter((name) => !name.endsWith('?')) }
}

const PRINCIPAL = object({ id: TEXT })

const USAGE = object({
  'inputTokens?': NUMBER,
  'cacheReadTokens?': NUMBER,
  'cacheWriteTokens?': NUMBER,
  'outputTokens?': NUMBER,
  'reasoningTokens?': NUMBER,
  'costMicros?': NUMBER,
})

const ERROR = object({ code: TEXT, message: TEXT, 'issues?': TEXT })

const PART: JsonObject = {
  anyOf: [
    object({ type: oneOf('text'), text: TEXT }),
    object({ type: oneOf('image', 'file'), mediaType: TEXT, source: object({ type: oneOf('base64', 'url', 'blob') }) }),
  ],
}

const CALL = object({
  callId: TEXT,
  message: TEXT,
  step: COUNT,
  name: TEXT,
  'title?': TEXT,
  'kind?': oneOf('read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'other'),
  'locations?': listOf(object({ path: TEXT, 'line?': COUNT })),
  'diff?': listOf(object({ path: TEXT, oldText: { type: ['string', 'null'] }, newText: TEXT })),
  'destination?': TEXT,
  'asked?': object({
    message: TEXT,
    'destination?': TEXT,
    'each?': FLAG,
    'untrusted?': listOf(TEXT),
    'copied?': listOf(object({ path: TEXT, from: COUNT, to: COUNT, tool: TEXT })),
    'by?': listOf(PRINCIPAL),
  }),
  'waiting?': object({ afterMs: COUNT, say: TEXT }),
  input: ANY,
  'inputEdited?': FLAG,
  runs: oneOf('server', 'client'),
  effect: oneOf('pure', 'idempotent', 'once'),
  'provenance?': object({ trust: oneOf('trusted', 'untrusted'), 'source?': TEXT }),
  status: oneOf('proposed', 'awaiting-approval', 'waiting', 'running', 'settled'),
  'holder?': TEXT,
  'deadlineMs?': NUMBER,
  'waitsForClient?': FLAG,
  'result?': refer('result'),
})

const RESULT: JsonObject = {
  anyOf: [
    object({ type: oneOf('ok'), content: listOf(refer('part')), 'value?': ANY }),
    object({ type: oneOf('error', 'denied'), code: TEXT, message: TEXT, 'byPerson?': FLAG }),
    object({
      type: oneOf('cancelled', 'timed-out', 'unknown'),
      code: TEXT,
      message: TEXT,
      'begun?': FLAG,
      'detached?': FLAG,
    }),
  ],
}

const MESSAGE: JsonObject = {
  anyOf: [
    object({
      role: oneOf('user'),
      id: TEXT,
      from: oneOf('user', 'transcript', 'event'),
      parts: listOf(refer('part')),
      'speaker?': TEXT,
      'name?': TEXT,
      'label?': TEXT,
      'detail?': ANY,
      atMs: NUMBER,
    }),
    object({ role: oneOf('assistant'), id: TEXT, turn: COUNT, exchange: COUNT, atMs: NUMBER }),
  ],
}

const SOURCE = object({
  type: oneOf('source'),
  id: TEXT,
  'url?': TEXT,
  'title?': TEXT,
  'mediaType?': TEXT,
  'quote?': TEXT,
})

const CURSOR = object({
  pos: COUNT,
  'read?': COUNT,
  'since?': COUNT,
  'attempt?': COUNT,
  'text?': COUNT,
  'reasoning?': COUNT,
  'inputs?': listOf(COUNT),
})

const STEP = { message: TEXT, step: COUNT } as const
const PIECE = { ...STEP, offset: COUNT, text: TEXT } as const

/** Fields of each event, in addition to `type` and `cursor`. */
const EVENTS: Readonly<Record<SessionEventType, Readonly<Record<string, JsonValue>>>> = {
  'message-added': { message: refer('message') },
  'message-entered': { message: TEXT, exchange: COUNT },
  'message-withdrawn': { message: TEXT },
  'messages-removed': { fromExchange: COUNT, keep: listOf(TEXT), keepSteps: listOf(COUNT) },
  'step-started': { ...STEP, attempt: COUNT, model: TEXT },
  text: { ...PIECE, 'partial?': OBJECT },
  reasoning: PIECE,
  'call-writing': { ...PIECE, callId: TEXT, name: TEXT },
  'server-tool': { ...STEP, name: TEXT, status: oneOf('started', 'finished') },
  'step-reset': { ...STEP, reason: TEXT, 'error?': refer('error'), 'retryAtMs?': NUMBER },
  'text-cut': { ...STEP, keepChars: COUNT },
  sources: { ...STEP, sources: listOf(refer('source')) },
  call: { call: refer('call') },
  'call-progress': { callId: TEXT, note: ANY },
  'approval-requested': { approvalId: TEXT, call: refer('call'), expiresAtMs: NUMBER },
  'approval-decided': {
    approvalId: TEXT,
    callId: TEXT,
    decision: oneOf('approve', 'deny', 'edit'),
    principal: PRINCIPAL,
    'reason?': TEXT,
    'remember?': oneOf('tool', 'arguments'),
  },
  'question-asked': { questionId: TEXT, callId: TEXT, message: TEXT, schema: OBJECT, expiresAtMs: NUMBER },
  'question-answered': {
    questionId: TEXT,
    callId: TEXT,
    'value?': ANY,
    'declined?': oneOf('person', 'expired', 'nobody'),
  },
  limit: {
    limit: oneOf('rounds', 'calls', 'tokens', 'cost', 'time', 'output', 'messages'),
    'used?': NUMBER,
    'max?': NUMBER,
    reached: FLAG,
  },
  'step-finished': {
    ...STEP,
    finish: TEXT,
    usage: refer('usage'),
    'context?': object({ used: NUMBER, 'size?': NUMBER }),
    'interrupted?': FLAG,
  },
  'step-closed': STEP,
  'output-refused': { ...STEP, issue: TEXT, 'by?': oneOf('order', 'check', 'person') },
  'turn-finished': {
    message: TEXT,
    turn: COUNT,
    stop: oneOf('end', 'tool', 'max-tokens', 'limit', 'refused', 'cancelled', 'stopped', 'failed', 'silent'),
    text: TEXT,
    usage: refer('usage'),
    'error?': refer('error'),
  },
  session: {
    'activity?': oneOf('idle', 'running', 'waiting', 'paused', 'stopped'),
    'agent?': TEXT,
    'model?': TEXT,
    'title?': { type: ['string', 'null'] },
    'meta?': OBJECT,
    'plan?': listOf(object({ content: TEXT, status: oneOf('pending', 'in_progress', 'completed'), 'priority?': TEXT })),
    'settings?': OBJECT,
  },
  compacted: { how: oneOf('summary', 'dropped'), 'text?': TEXT },
  'content-left-out': { messages: listOf(TEXT), reason: TEXT },
  live: {},
  'turn-started': { message: TEXT, turn: COUNT },
  'answer-spoken': { message: TEXT, turn: COUNT, 'chars?': COUNT },
  interrupted: { reason: TEXT },
  'call-offered': { callId: TEXT, client: TEXT, offer: COUNT },
  'result-ignored': { callId: TEXT, reason: TEXT },
  'clients-gone': {},
  behind: {},
}

/** One session event. An unknown type is from a newer version. */
export const SESSION_EVENT_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'SessionEvent',
  oneOf: Object.entries(EVENTS).map(([type, fields]) =>
    object({ type: { const: type }, cursor: refer('cursor'), 'at?': refer('place'), ...fields }),
  ),
  $defs: {
    cursor: CURSOR,
    place: object({ pos: COUNT, fact: COUNT, nowMs: NUMBER, 'wallMs?': NUMBER }),
    message: MESSAGE,
    part: PART,
    call: CALL,
    result: RESULT,
    source: SOURCE,
    usage: USAGE,
    error: ERROR,
  },
}
