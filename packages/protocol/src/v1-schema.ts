// Wire version 1 as JSON Schema (draft 2020-12), for clients in other languages. Accepts exactly what `decode-frame.ts`
// accepts, as a test verifies; fields that a sender may omit are not required here.
import type { ClientFrameType, ServerFrameType } from './v1.ts'
import { ID_LENGTH_MAX, PROTOCOL_VERSION } from './v1.ts'

type JsonSchema = { readonly [key: string]: unknown }

/** Seconds, fractions and zone are optional: apps write time stamps in many ways, and nothing depends on them. */
export const TIMESTAMP_PATTERN =
  '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}([.,]\\d{1,9})?)?(Z|[+-]\\d{2}(:?\\d{2})?)?$'

const identifier = { type: 'string', minLength: 1, maxLength: ID_LENGTH_MAX } as const
const text = { type: 'string' } as const
const optionalText = { type: ['string', 'null'] } as const

/** A server ignores unknown types, so they are in no schema. */
export const CLIENT_FRAME_SCHEMAS = {
  'session.start': frameSchema(['session.start'], { sessionId: identifier }, ['sessionId']),
  'user.audio.transcript.final': frameSchema(['user.audio.transcript.final', 'transcript.final'], { text }, ['text']),
  'tool.result': frameSchema(['tool.result'], { callId: identifier, result: optionalText, error: optionalText }, [
    'callId',
  ]),
  'audio.output.interrupted': frameSchema(['audio.output.interrupted'], { reason: optionalText }, []),
} as const satisfies Record<ClientFrameType, JsonSchema>

export const SERVER_FRAME_SCHEMAS = {
  'session.started': frameSchema(['session.started'], { sessionId: identifier }, ['sessionId']),
  'tool.call': frameSchema(['tool.call'], { callId: identifier, name: text, arguments: text }, [
    'callId',
    'name',
    'arguments',
  ]),
  'assistant.speech.partial': frameSchema(['assistant.speech.partial'], { text }, ['text']),
  'assistant.speech.final': frameSchema(['assistant.speech.final'], { text }, ['text']),
  error: frameSchema(['error'], { code: text, message: text }, ['code', 'message']),
} as const satisfies Record<ServerFrameType, JsonSchema>

export const CLIENT_FRAME_SCHEMA: JsonSchema = schemaOfUnion(
  'A frame from an app to a server, version 1',
  CLIENT_FRAME_SCHEMAS,
)
export const SERVER_FRAME_SCHEMA: JsonSchema = schemaOfUnion(
  'A frame from a server to an app, version 1',
  SERVER_FRAME_SCHEMAS,
)

function frameSchema(types: readonly string[], payload: JsonSchema, required: readonly string[]): JsonSchema {
  return {
    type: 'object',
    properties: {
      id: identifier,
      type: { enum: types },
      sessionId: identifier,
      timestamp: { type: 'string', pattern: TIMESTAMP_PATTERN },
      payload: { type: 'object', properties: payload, required },
      protocolVersion: { enum: [PROTOCOL_VERSION, null] },
    },
    required: ['id', 'type', 'sessionId', 'timestamp', 'payload'],
  }
}

function schemaOfUnion(title: string, schemas: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, anyOf: Object.values(schemas) }
}
