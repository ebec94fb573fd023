// Decodes what people and programs submit through a session: commands, and arguments of the Session API. Inputs
// reserved to clients or the host are refused, whatever their fields. The machine decides whether a command is allowed
// in the session's state.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { Heard } from '../machine/input.ts'
import { readContent } from './decode-content.ts'
import { readInputs } from './input-speaker.ts'
import type { ModelSettings, ToolChoice } from './model.ts'
import { SEND_ELSEWHERE, SETTINGS_ELSEWHERE } from './names-elsewhere.ts'
import {
  peek,
  readBoolean,
  readFields,
  readInteger,
  readJson,
  readLabel,
  readJsonObject,
  readList,
  readName,
  readNumber,
  readOneOf,
  readText,
  readTextBetween,
  readVariant,
  readSignal,
} from './read-value.ts'
import type { Schema } from './schema.ts'
import { describeForeignSchema, isStandardSchema, toObjectSchema } from './schema.ts'
import type { SendOptions } from './session-api.ts'
import type { Decoded, Read } from './value-reader.ts'
import { decodeWith, describeValue } from './value-reader.ts'

/** Maximum UTF-16 units of a reason. */
const REASON_CHARS_MAX = 4096
/** Maximum UTF-16 units; the id of a file-based model is as long as the file's path. */
const MODEL_CHARS_MAX = 4096

export const readReason = readTextBetween(0, REASON_CHARS_MAX)
export const readModelId = readTextBetween(1, MODEL_CHARS_MAX)
export const readDelivery = readOneOf('queue', 'steer', 'interrupt')

/** W3C Trace Context 1, 3.2: version, trace, parent and flags; ids of zeros only are invalid, and so is version ff. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

const readTraceparent: Read<string> = (reader, value) => {
  const text = readText(reader, value)
  return TRACEPARENT.test(text) ? text : reader.refuse('must be a W3C traceparent, such as 00-<32 hex>-<16 hex>-01')
}

const HEARD_OF = { message: { optional: readName } }

const HEARD_FORMS =
  "heard is { type: 'all' }, { type: 'none' }, { type: 'reported' }, { type: 'chars', chars: 35 }, { type: 'words', words: 12 } or { type: 'sentence', index: 2, words: 4 }"

export const readHeard: Read<Heard> = (reader, value) => {
  try {
    return readKnownHeard(reader, value)
  } catch (error) {
    reader.explain(HEARD_FORMS)
    throw error
  }
}

const readKnownHeard = readVariant('type', {
  all: readFields('heard', { type: readOneOf('all') }),
  none: readFields('heard', { type: readOneOf('none') }),
  reported: readFields('heard', { type: readOneOf('reported') }),
  display: readFields('heard', { type: readOneOf('display') }),
  chars: readFields('heard', { type: readOneOf('chars'), chars: readNumber(0), ...HEARD_OF }),
  words: readFields('heard', { type: readOneOf('words'), words: readInteger(0), ...HEARD_OF }),
  sentence: readFields('heard', {
    type: readOneOf('sentence'),
    index: readInteger(0),
    words: { optional: readInteger(0) },
    ...HEARD_OF,
  }),
})

/** Stop sequences of an answer, and their UTF-16 units; OpenAI and Gemini accept 4 and 5. */
const STOPS_MAX = 4
const STOP_CHARS_MAX = 256
const SERVICE_TIER_CHARS_MAX = 64

const readToolChoice: Read<ToolChoice> = readVariant('type', {
  auto: readFields('a tool choice', { type: readOneOf('auto') }),
  any: readFields('a tool choice', { type: readOneOf('any') }),
  none: readFields('a tool choice', { type: readOneOf('none') }),
  tool: readFields('a tool choice', { type: readOneOf('tool'), name: readName }),
})

/** Fields of request bodies, by provider name. */
const readProviderFields: Read<Readonly<Record<string, JsonObject>>> = (reader, value) => {
  const fields = readJsonObject(reader, value)
  for (const [provider, body] of Object.entries(fields))
    if (!isJsonObject(body)) reader.refuse(`must hold an object for each provider; "${provider}" has none`)
  return fields as Readonly<Record<string, JsonObject>> // each was checked
}

/** Tools that providers run, by provider name. */
const readServerTools: Read<Readonly<Record<string, readonly JsonObject[]>>> = (reader, value) => {
  const lists = readJsonObject(reader, value)
  for (const [provider, tools] of Object.entries(lists))
    if (!Array.isArray(tools) || !(tools as readonly JsonValue[]).every(isJsonObject))
      reader.refuse(`must hold a list of objects for each provider; "${provider}" has none`)
  return lists as Readonly<Record<string, readonly JsonObject[]>> // each was checked
}

const readShare: Read<number> = (reader, value) => {
  const share = readNumber(0)(reader, value)
  return share > 0 && share <= 1 ? share : reader.refuse('must be above 0 and at most 1')
}

export const readSettings: Read<ModelSettings> = readFields(
  'the settings of a model',
  {
    maxOutputTokens: { optional: readInteger(1) },
    moreForTools: { optional: readBoolean },
    temperature: { optional: readNumber(0) },
    reasoningTokens: { optional: readInteger(0) },
    effort: { optional: readOneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max') },
    topP: { optional: readShare },
    stop: { optional: readList(readTextBetween(1, STOP_CHARS_MAX), STOPS_MAX) },
    seed: { optional: readInteger(0) },
    serviceTier: { optional: readTextBetween(1, SERVICE_TIER_CHARS_MAX) },
    cache: { optional: readOneOf('off', '5m', '1h') },
    toolChoice: { optional: readToolChoice },
    parallelCalls: { optional: readBoolean },
    strictTools: { optional: readBoolean },
    provider: { optional: readProviderFields },
    serverTools: { optional: readServerTools },
  },
  SETTINGS_ELSEWHERE,
)

/** Decodes the settings of an agent or a step. Never throws. */
export function decodeModelSettings(value: unknown): Decoded<ModelSettings> {
  return decodeWith('settings', value, readSettings)
}

const readRemember = readOneOf('tool', 'arguments')

/** New arguments are validated before they are approved; an input could claim that for any. */
const readPlainDecision: Read<'approve' | 'deny'> = (reader, value) =>
  value === 'edit'
    ? reader.refuse('may not be "edit" here; session.decide takes new arguments, and validates them')
    : readOneOf('approve', 'deny')(reader, value)

const readTitle: Read<string | null> = (reader, value) => (value === null ? null : readText(reader, value))

const readTrue: Read<true> = (reader, value) => (value === true ? value : reader.refuse('must be true, or absent'))

const DESCRIPTION = { title: { optional: readTitle }, meta: { optional: readJsonObject } } as const

/** Reads the declining form if `decline` is present, else the form with a value. */
function readAnswer<A, D>(answered: Read<A>, declined: Read<D>): Read<A | D> {
  return (reader, value) => (peek(reader, value, 'decline') === undefined ? answered : declined)(reader, value)
}

const readCommand = readInputs({
  'user-input': readFields('a user-input', {
    type: readOneOf('user-input'),
    inputId: readName,
    parts: readContent,
    delivery: { optional: readDelivery },
    model: { optional: readModelId },
    settings: { optional: readSettings },
    output: { optional: readJsonObject },
    heard: { optional: readHeard },
    asks: { optional: readBoolean },
    more: { optional: readTrue },
    traceparent: { optional: readTraceparent },
  }),
  transcript: readFields('a transcript', {
    type: readOneOf('transcript'),
    inputId: readName,
    speaker: readText,
    text: readText,
    asks: { optional: readBoolean },
  }),
  'urgent-event': readFields('an urgent-event', {
    type: readOneOf('urgent-event'),
    inputId: readName,
    name: readName,
    label: { optional: readLabel },
    detail: { optional: readJson },
    message: { optional: readText },
    delivery: { optional: readDelivery },
    heard: { optional: readHeard },
    asks: { optional: readBoolean },
  }),
  interrupt: readFields('an interrupt', { type: readOneOf('interrupt'), reason: readReason, heard: readHeard }),
  rewind: readFields('a rewind', {
    type: readOneOf('rewind'),
    inputId: readName,
    exchange: readInteger(0),
    fromEntry: { optional: readInteger(0) },
    again: readBoolean,
    interrupt: { optional: readTrue },
    replace: {
      optional: readFields('what replaces a message', {
        parts: readContent,
        model: { optional: readModelId },
        settings: { optional: readSettings },
      }),
    },
  }),
  'set-model': readFields('a set-model', { type: readOneOf('set-model'), model: readModelId }),
  'set-settings': readFields('a set-settings', {
    type: readOneOf('set-settings'),
    settings: (reader, value) => (value === null ? null : readSettings(reader, value)),
  }),
  withdraw: readFields('a withdraw', { type: readOneOf('withdraw'), target: readName }),
  pause: readFields('a pause', { type: readOneOf('pause') }),
  continue: readFields('a continue', { type: readOneOf('continue') }),
  stop: readFields('a stop', { type: readOneOf('stop') }),
  start: readFields('a start', { type: readOneOf('start') }),
  approval: readFields('an approval', {
    type: readOneOf('approval'),
    approvalId: readName,
    principal: readName,
    decision: readPlainDecision,
    reason: { optional: readReason },
    remember: { optional: readRemember },
  }),
  'question-answer': readAnswer(
    readFields('a question-answer', {
      type: readOneOf('question-answer'),
      questionId: readName,
      principal: readName,
      value: readJson,
    }),
    readFields('a question-answer that declines', {
      type: readOneOf('question-answer'),
      questionId: readName,
      principal: readName,
      decline: readTrue,
      reason: { optional: readReason },
    }),
  ),
  describe: readFields('a describe', { type: readOneOf('describe'), ...DESCRIPTION }),
})

export type DecodedCommand = ReturnType<typeof readCommand>

/**
 * Decodes a command of a person or a program. An approval with edits and the index of a rewind are refused: only the
 * host makes them. Never throws; `invalid_event` names the field, `illegal_input` says who may submit such an input,
 * `input_too_large` names the limit.
 */
export function decodeUserCommand(value: unknown): Decoded<DecodedCommand> {
  return decodeWith('the command', value, readCommand)
}

/** A schema as the caller gave it, and as JSON Schema. */
export interface DecodedOutput {
  readonly schema: Schema
  readonly described: JsonObject
}

export interface DecodedSendOptions extends SendOptions {
  readonly output?: DecodedOutput
  /** Whether the sender can answer approvals and questions during the answer. */
  readonly asks?: boolean
}

const readOutputSchema: Read<DecodedOutput> = (reader, value) => {
  if (typeof value !== 'function' && (typeof value !== 'object' || value === null))
    return reader.refuseForm(`must be a schema of a library, or JSON Schema, not ${describeValue(value)}`)
  const foreign = describeForeignSchema(value)
  if (foreign !== undefined) return reader.refuseAll('invalid_schema', `output: ${foreign}`)
  // Its kind is checked next; `toObjectSchema` refuses anything else.
  const given = value as Schema
  const schema = isStandardSchema(given) ? given : readJsonObject(reader, given)
  let described: JsonObject
  try {
    // Drops what the library left undefined or hid.
    described = JSON.parse(JSON.stringify(toObjectSchema('output', schema))) as JsonObject // it was JSON before
  } catch (cause) {
    return reader.refuseAll('invalid_schema', cause instanceof Error ? cause.message : 'output: it cannot be described')
  }
  return { schema, described }
}

const readSendOptions: Read<DecodedSendOptions> = readFields(
  'the options of send',
  {
    model: { optional: readModelId },
    settings: { optional: readSettings },
    output: { optional: readOutputSchema },
    inputId: { optional: readName },
    delivery: { optional: readDelivery },
    heard: { optional: readHeard },
    asks: { optional: readBoolean },
    signal: { optional: readSignal },
    traceparent: { optional: readTraceparent },
  },
  SEND_ELSEWHERE,
)

/** Decodes the options of `send`; `undefined` means none. Never throws. */
export function decodeSendOptions(value: unknown): Decoded<DecodedSendOptions> {
  return value === undefined ? { ok: true, value: {} } : decodeWith('the options', value, readSendOptions)
}

const readTurnOptions: Read<{ readonly output?: DecodedOutput }> = readFields('the options of turn', {
  output: { optional: readOutputSchema },
})

/** Decodes the options of `turn`; `undefined` means none. Never throws. */
export function decodeTurnOptions(value: unknown): Decoded<{ readonly output?: DecodedOutput }> {
  return value === undefined ? { ok: true, value: {} } : decodeWith('the options', value, readTurnOptions)
}

const PLAIN_DECISION = { approvalId: readName, reason: { optional: readReason }, remember: { optional: readRemember } }

export type DecodedDecision = {
  readonly approvalId: string
  readonly reason?: string
  /** Also decides later calls of this tool, or those with the same arguments. */
  readonly remember?: 'tool' | 'arguments'
} & ({ readonly decision: 'approve' | 'deny' } | { readonly decision: 'edit'; readonly input: JsonObject })

const readKnownDecision: Read<DecodedDecision> = readVariant('decision', {
  approve: readFields('an approval', { ...PLAIN_DECISION, decision: readOneOf('approve') }),
  deny: readFields('a denial', { ...PLAIN_DECISION, decision: readOneOf('deny') }),
  edit: readFields('an edit', {
    ...PLAIN_DECISION,
    // An edit says nothing about other input, which the person has not seen.
    remember: { optional: readOneOf('arguments') },
    decision: readOneOf('edit'),
    input: readJsonObject,
  }),
})

const readDecision: Read<DecodedDecision> = (reader, value) => {
  try {
    return readKnownDecision(reader, value)
  } catch (error) {
    reader.explain("a decision is { approvalId, decision: 'approve' }")
    throw error
  }
}

/** Decodes a person's decision about a call; `input` is present exactly for an edit. Never throws. */
export function decodeDecision(value: unknown): Decoded<DecodedDecision> {
  return decodeWith('the decision', value, readDecision)
}

export type DecodedQuestionAnswer = { readonly questionId: string } & (
  { readonly value: JsonValue } | { readonly decline: true; readonly reason?: string }
)

const readQuestionAnswer: Read<DecodedQuestionAnswer> = readAnswer(
  readFields('an answer without `decline: true`', { questionId: readName, value: readJson }),
  readFields('an answer that declines', {
    questionId: readName,
    decline: readTrue,
    reason: { optional: readReason },
  }),
)

/** Decodes the answer to a tool's question: a value or a refusal to answer. Never throws. */
export function decodeQuestionAnswer(value: unknown): Decoded<DecodedQuestionAnswer> {
  return decodeWith('the answer', value, readQuestionAnswer)
}

export interface DecodedDescription {
  readonly title?: string | null
  readonly meta?: JsonObject
}

const readDescription: Read<DecodedDescription> = readFields('a description', DESCRIPTION)

/** Decodes a session's title and the program's notes about it. A null title removes it. Never throws. */
export function decodeDescription(value: unknown): Decoded<DecodedDescription> {
  return decodeWith('the description', value, readDescription)
}
