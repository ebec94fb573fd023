// Decodes reports of an attached client, or of the front that carries it: its presence, its tools, the outcome of its
// calls. The machine checks whether the client is attached and the call is its own.
import type { ErrorCode } from '../errors.ts'
import { isErrorCode } from '../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { ClientReport, Outcome } from '../machine/input.ts'
import { readContent } from './decode-content.ts'
import { readInputs } from './input-speaker.ts'
import {
  readBoolean,
  readFields,
  readInteger,
  readJson,
  readJsonObject,
  readList,
  readName,
  readNumber,
  readOneOf,
  readText,
  readVariant,
} from './read-value.ts'
import type { LeaseClientOptions } from './session-api.ts'
import type { Decoded, Read } from './value-reader.ts'
import { decodeWith, describeValue } from './value-reader.ts'

/** Maximum tool names that a client can run, and tools that it provides. */
const TOOLS_MAX = 1000

const OUTCOME_FORMS =
  "an outcome is { type: 'ok', content: [{ type: 'text', text: '…' }] } or { type: 'error', code: 'tool_failed', message: '…' }"

const readErrorCode: Read<ErrorCode> = (reader, value) =>
  isErrorCode(value) ? value : reader.refuse(`must be a code of docs/errors.md, not ${describeValue(value)}`)

const readResultValue: Read<JsonValue> = (reader, value) => reader.measure('result_invalid', value, readJson)

const readKnownOutcome = readVariant('type', {
  ok: readFields('a result', { type: readOneOf('ok'), content: readContent, value: { optional: readResultValue } }),
  error: readFields('an error', { type: readOneOf('error'), code: readErrorCode, message: readText }),
})

const readOutcome: Read<Outcome> = (reader, value) => {
  try {
    return readKnownOutcome(reader, value)
  } catch (error) {
    reader.explain(OUTCOME_FORMS)
    throw error
  }
}

/** Providers accept only objects as arguments. */
const readInputSchema: Read<JsonObject> = (reader, value) => {
  const schema = readJsonObject(reader, value)
  if (schema['type'] === 'object') return schema
  return reader.refuse(`must have the type "object" at its root, not ${describeValue(schema['type'])}`)
}

const readClientTool = readFields('a tool', {
  name: readName,
  description: readText,
  inputSchema: readInputSchema,
  effect: readOneOf('pure', 'idempotent', 'once'),
  runs: readOneOf('client'),
  timeoutMs: readNumber(1),
  parallel: readBoolean,
  onInterrupt: readOneOf('cancel', 'finish'),
})

const readLeaseClientOptions: Read<LeaseClientOptions> = readFields('a client', {
  client: readName,
  leaseMs: { optional: readNumber(1) },
  runs: { optional: readList(readName, TOOLS_MAX) },
  tools: {
    optional: readList(
      readFields('a tool', {
        name: readName,
        description: readText,
        inputSchema: readInputSchema,
        effect: { optional: readOneOf('pure', 'idempotent', 'once') },
        timeoutMs: { optional: readNumber(1) },
      }),
      TOOLS_MAX,
    ),
  },
  asks: { optional: readBoolean },
  onlyResults: { optional: readBoolean },
})

/** Decodes a client that holds a lease. Never throws. */
export function decodeLeaseClientOptions(value: unknown): Decoded<LeaseClientOptions> {
  return decodeWith('the client', value, readLeaseClientOptions)
}

const readReport: Read<ClientReport> = readInputs({
  'client-attached': readFields('a client-attached', {
    type: readOneOf('client-attached'),
    connection: readName,
    principal: readName,
    sequential: readBoolean,
    claims: readBoolean,
    reportsPlayback: readBoolean,
    asks: readBoolean,
    tools: { optional: readList(readName, TOOLS_MAX) },
    leaseMs: { optional: readNumber(1) },
  }),
  'client-detached': readFields('a client-detached', { type: readOneOf('client-detached'), connection: readName }),
  'client-tools': readFields('a client-tools', {
    type: readOneOf('client-tools'),
    connection: readName,
    tools: readList(readClientTool, TOOLS_MAX),
  }),
  'tool-result': readFields('a tool-result', {
    type: readOneOf('tool-result'),
    callId: readName,
    connection: readName,
    outcome: readOutcome,
  }),
  'call-claimed': readFields('a call-claimed', {
    type: readOneOf('call-claimed'),
    callId: readName,
    connection: readName,
    offer: readInteger(0),
  }),
  'call-reached': readFields('a call-reached', {
    type: readOneOf('call-reached'),
    callId: readName,
    offer: readInteger(0),
  }),
  'offer-failed': readFields('an offer-failed', {
    type: readOneOf('offer-failed'),
    callId: readName,
    offer: readInteger(0),
  }),
  'display-written': readFields('a display-written', {
    type: readOneOf('display-written'),
    turn: readInteger(0),
    chars: { optional: readInteger(0) },
  }),
})

/**
 * Decodes a client's report. Never throws; `invalid_event` names the field, `illegal_input` says who may submit such an
 * input, `input_too_large` names the limit.
 */
export function decodeClientReport(value: unknown): Decoded<ClientReport> {
  return decodeWith('the report', value, readReport)
}

/** Decodes the outcome of a client's tool. Never throws. */
export function decodeOutcome(value: unknown): Decoded<Outcome> {
  return decodeWith('the outcome', value, readOutcome)
}
