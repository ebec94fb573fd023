// Wire version 2 as JSON Schema (draft 2020-12), for clients in other languages. Session events are those of
// `SESSION_EVENT_SCHEMA`. Later versions may add fields.
import type { JsonObject, JsonValue } from '@baton/core'
import { SESSION_EVENT_SCHEMA } from '@baton/core'
import { REQUEST_ID_LENGTH_MAX } from './decode-v2-frame.ts'
import type { RequestType } from './v2-requests.ts'
import { PROTOCOL_VERSION_2 } from './v2.ts'

type Fields = Readonly<Record<string, JsonValue>>

const TEXT = { type: 'string' } as const
const NAME = { type: 'string', minLength: 1, maxLength: 256 } as const
const COUNT = { type: 'integer', minimum: 0 } as const
const FLAG = { type: 'boolean' } as const
const OBJECT = { type: 'object' } as const
const ANY: JsonValue = true

const oneOf = (...values: readonly string[]): JsonObject => ({ enum: values })
const refer = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` })
const listOf = (items: JsonValue): JsonObject => ({ type: 'array', items })

/** A name with a trailing question mark is an optional field. */
function object(fields: Fields): JsonObject {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name.replace(/\?$/, ''), schema]),
  )
  return { type: 'object', properties, required: Object.keys(fields).filter((name) => !name.endsWith('?')) }
}

const DEVICE: Fields = {
  name: NAME,
  'runs?': listOf(TEXT),
  'tools?': listOf({
    title: 'ClientTool',
    ...object({
      name: TEXT,
      description: TEXT,
      inputSchema: OBJECT,
      'effect?': oneOf('pure', 'idempotent', 'once'),
      'timeoutMs?': COUNT,
    }),
  }),
  'models?': listOf(TEXT),
  'leaseMs?': COUNT,
  'asks?': FLAG,
}

const CONTENT: JsonObject = { title: 'UserInput', anyOf: [TEXT, listOf(refer('part'))] }
const PLAYED: JsonObject = {
  title: 'Heard',
  anyOf: [
    object({ type: oneOf('all', 'none', 'reported', 'display') }),
    object({ type: oneOf('chars'), chars: COUNT, 'message?': TEXT }),
    object({ type: oneOf('words'), words: COUNT, 'message?': TEXT }),
    object({ type: oneOf('sentence'), index: COUNT, 'words?': COUNT, 'message?': TEXT }),
  ],
}
const OF_SENTENCES: Fields = { message: TEXT, step: COUNT, index: COUNT, next: refer('cursor') }
const DELIVERY = oneOf('queue', 'steer', 'interrupt')

const REQUESTS: Readonly<Record<RequestType, Fields>> = {
  ping: {},
  'session.open': {
    'session?': NAME,
    'existing?': FLAG,
    'title?': TEXT,
    'meta?': OBJECT,
    'from?': { title: 'OpenFrom', anyOf: [oneOf('start', 'turn', 'now'), refer('cursor')] },
    'messages?': { type: 'integer', minimum: 1, maximum: 200 },
    'device?': { title: 'DeviceOptions', ...object(DEVICE) },
    'speech?': { enum: [true, false, 'only'] },
  },
  'session.close': {},
  'session.info': {},
  'session.messages': { 'before?': TEXT, 'limit?': { type: 'integer', minimum: 1, maximum: 200 } },
  'session.describe': { 'session?': NAME, 'title?': { type: ['string', 'null'] }, 'meta?': OBJECT },
  'session.configure': { 'model?': TEXT, 'settings?': { title: 'ModelSettings | null', type: ['object', 'null'] } },
  'session.control': { action: oneOf('pause', 'continue', 'stop', 'start') },
  'session.fork': { 'before?': TEXT },
  'session.list': { 'cursor?': TEXT, 'limit?': { type: 'integer', minimum: 1, maximum: 200 }, 'meta?': OBJECT },
  'session.watch': {},
  'session.delete': { session: NAME },
  'input.send': {
    input: NAME,
    content: CONTENT,
    'model?': TEXT,
    'settings?': { title: 'ModelSettings', ...OBJECT },
    'delivery?': DELIVERY,
    'output?': OBJECT,
    'heard?': PLAYED,
    'asks?': FLAG,
  },
  'input.hear': { input: NAME, speaker: TEXT, text: TEXT, 'asks?': FLAG },
  'input.notify': {
    input: NAME,
    name: TEXT,
    'label?': TEXT,
    'detail?': ANY,
    'message?': TEXT,
    'delivery?': DELIVERY,
    'heard?': PLAYED,
    'asks?': FLAG,
  },
  'input.withdraw': { input: NAME },
  'input.rewind': {
    input: NAME,
    message: TEXT,
    'replace?': CONTENT,
    'again?': FLAG,
    'interrupt?': FLAG,
  },
  'turn.interrupt': { 'turn?': TEXT, 'reason?': TEXT, 'heard?': PLAYED, 'queue?': oneOf('keep', 'withdraw') },
  'speech.played': { message: TEXT, chars: COUNT },
  'approval.decide': {
    approvalId: TEXT,
    decision: oneOf('approve', 'deny', 'edit'),
    'input?': OBJECT,
    'reason?': TEXT,
    'remember?': oneOf('tool', 'arguments'),
  },
  'question.answer': { questionId: TEXT, 'value?': ANY, 'decline?': { const: true }, 'reason?': TEXT },
  'device.attach': DEVICE,
  'device.release': {},
  'call.claim': { callId: TEXT },
  'call.result': {
    callId: TEXT,
    outcome: {
      title: 'CallOutcome',
      anyOf: [object({ output: ANY }), object({ content: listOf(refer('part')) }), object({ error: TEXT })],
    },
    'device?': NAME,
  },
  'model.pieces': { run: NAME, pieces: listOf({ title: 'ModelEvent', ...OBJECT }) },
  'model.result': {
    run: NAME,
    outcome: {
      title: 'ModelOutcome',
      anyOf: [
        object({ answer: OBJECT }),
        object({ error: object({ message: TEXT, 'code?': TEXT, 'retryable?': FLAG }) }),
      ],
    },
  },
}

/** The fields of each request, in addition to `id` and `type`. */
export const REQUEST_FIELDS = Object.fromEntries(
  Object.entries(REQUESTS).map(([type, fields]) => [
    type,
    new Set(Object.keys(fields).map((name) => name.replace(/\?$/, ''))),
  ]),
) as unknown as Readonly<Record<RequestType, ReadonlySet<string>>> // the keys of REQUESTS

/**
 * Finds a fault in the fields of a request: a missing field, or a value of the wrong kind. The contents of objects and
 * lists are checked where they are used. Undefined if there is none.
 */
export function findFieldIssue(type: RequestType, fields: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, schema] of Object.entries(REQUESTS[type])) {
    const value = fields[name.replace(/\?$/, '')]
    if (value === undefined && name.endsWith('?')) continue
    if (!fits(schema, value)) return `${name.replace(/\?$/, '')} must be ${describe(schema)}, not ${show(value)}`
  }
  return undefined
}

function fits(schema: JsonValue, value: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema) || '$ref' in schema)
    return value !== undefined
  const { type, enum: values, const: only, anyOf, minimum, maximum, minLength, maxLength } = schema as Shallow // from this file
  if (anyOf) return anyOf.some((one) => fits(one, value) && !(isRefer(one) && typeof value !== 'object'))
  if (values) return values.includes(value as JsonValue)
  if (only !== undefined) return value === only
  if (!type || ![type].flat().includes(kindOf(value))) return false
  if (typeof value === 'string') return value.length >= (minLength ?? 0) && value.length <= (maxLength ?? Infinity)
  if (typeof value !== 'number') return true
  return Number.isSafeInteger(value) && value >= (minimum ?? 0) && value <= (maximum ?? Infinity)
}

interface Shallow {
  readonly type?: string | readonly string[]
  readonly enum?: readonly JsonValue[]
  readonly const?: JsonValue
  readonly anyOf?: readonly JsonValue[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
}

const isRefer = (schema: JsonValue): boolean => typeof schema === 'object' && schema !== null && '$ref' in schema

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value === 'number' ? 'integer' : typeof value
}

function describe(schema: JsonValue): string {
  const { type, enum: values, const: only, anyOf, minimum, maximum, minLength, maxLength } = schema as Shallow // as above
  if (anyOf) return [...new Set(anyOf.map(describe))].join(' or ')
  if (values) return values.map((one) => JSON.stringify(one)).join(', ')
  if (only !== undefined) return JSON.stringify(only)
  if (maxLength !== undefined) return `text of ${minLength ?? 0} to ${maxLength} characters`
  if (maximum !== undefined) return `a whole number from ${minimum ?? 0} to ${maximum}`
  return type === undefined ? 'a value that fits the schema' : [type].flat().join(' or ')
}

/** A short description, without nested values. */
function show(value: unknown): string {
  if (value === undefined) return 'missing'
  return typeof value === 'object' ? kindOf(value) : JSON.stringify(value).slice(0, 100)
}

const EVENT_DEFINITIONS = SESSION_EVENT_SCHEMA['$defs'] as JsonObject // it has them, by name
/** A frame's cursor may have `speech`, the server's own note. */
const CURSOR: JsonObject = { allOf: [refer('eventCursor'), { properties: { speech: OBJECT } }] }
const DEFINITIONS: JsonObject = {
  ...EVENT_DEFINITIONS,
  eventCursor: EVENT_DEFINITIONS['cursor'] ?? {},
  cursor: CURSOR,
}
const EVENT: JsonObject = { oneOf: SESSION_EVENT_SCHEMA['oneOf'] ?? [] }

/** Frames of an app. */
export const CLIENT_FRAME_2_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'A frame from an app to a server, version 2',
  oneOf: Object.entries(REQUESTS).map(([type, fields]) =>
    object({
      id: { type: 'string', minLength: 1, maxLength: REQUEST_ID_LENGTH_MAX },
      type: { const: type },
      ...fields,
    }),
  ),
  $defs: DEFINITIONS,
}

/** Frames of a server. The fields of an `ok` are those of its request's answer. */
export const SERVER_FRAME_2_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'A frame from a server to an app, version 2',
  oneOf: [
    object({
      type: { const: 'hello' },
      protocol: { const: PROTOCOL_VERSION_2 },
      nowMs: COUNT,
      limits: object({ frameBytes: COUNT, resultBytes: COUNT }),
    }),
    object({ type: { const: 'ok' }, re: TEXT }),
    object({
      type: { const: 'error' },
      're?': TEXT,
      code: TEXT,
      message: TEXT,
      'hint?': TEXT,
      'retryable?': { const: true },
      'retryAfterMs?': COUNT,
    }),
    object({ type: { const: 'events' }, events: listOf(refer('event')), next: refer('cursor') }),
    object({ type: { const: 'sentence' }, text: TEXT, start: COUNT, end: COUNT, ...OF_SENTENCES }),
    object({ type: { const: 'sentences.dropped' }, ...OF_SENTENCES }),
    object({ type: { const: 'model.run' }, run: NAME, model: NAME, request: OBJECT }),
    object({ type: { const: 'model.cancel' }, run: NAME }),
    object({ type: { const: 'session.closed' }, session: TEXT }),
    object({ type: { const: 'session.changed' }, change: OBJECT }),
  ],
  $defs: { ...DEFINITIONS, event: EVENT },
}
