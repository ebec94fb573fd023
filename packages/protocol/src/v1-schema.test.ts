// The JSON Schemas and the decoder accept the same frames: literal ones, and frames with any damaged field.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Decoded } from './decode-frame.ts'
import { decodeClientFrame, decodeServerFrame } from './decode-frame.ts'
import { CLIENT_FRAME_SCHEMA, CLIENT_FRAME_SCHEMAS, SERVER_FRAME_SCHEMA, SERVER_FRAME_SCHEMAS } from './v1-schema.ts'
import type { ClientFrame, ClientFrameType, ServerFrame, ServerFrameType } from './v1.ts'

const around = { id: 'f1', sessionId: 's1', timestamp: '2026-01-02T03:04:05Z' }

const clientFrames = {
  'session.start': { ...around, type: 'session.start', payload: { sessionId: 's1' } },
  'user.audio.transcript.final': { ...around, type: 'user.audio.transcript.final', payload: { text: 'x' } },
  'tool.result': {
    ...around,
    type: 'tool.result',
    payload: { callId: 'c1', result: null, error: 'e' },
    protocolVersion: 1,
  },
  'audio.output.interrupted': { ...around, type: 'audio.output.interrupted', payload: { reason: 'barge_in' } },
} as const satisfies Record<ClientFrameType, ClientFrame>

const serverFrames = {
  'session.started': { ...around, type: 'session.started', payload: { sessionId: 's1' } },
  'tool.call': { ...around, type: 'tool.call', payload: { callId: 'c1', name: 'a.b', arguments: '{}' } },
  'assistant.speech.partial': { ...around, type: 'assistant.speech.partial', payload: { text: 'x' } },
  'assistant.speech.final': { ...around, type: 'assistant.speech.final', payload: { text: 'x' }, protocolVersion: 1 },
  error: { ...around, type: 'error', payload: { code: 'internal', message: 'x' } },
} as const satisfies Record<ServerFrameType, ServerFrame>

// Our schemas are wider than Zod's own type of a JSON Schema; a wrong one makes fromJSONSchema throw.
const read = (schema: unknown) => z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
const clientSchema = read(CLIENT_FRAME_SCHEMA)
const serverSchema = read(SERVER_FRAME_SCHEMA)

test('there is a schema for each type of frame, and it accepts the literal frame', () => {
  const accepts = (schema: object, frame: object) => read(schema).safeParse(frame).success
  const refused = [
    ...Object.values(clientFrames).filter((frame) => !accepts(CLIENT_FRAME_SCHEMAS[frame.type], frame)),
    ...Object.values(serverFrames).filter((frame) => !accepts(SERVER_FRAME_SCHEMAS[frame.type], frame)),
  ]
  expect(refused).toEqual([])
})

/** A frame with one field of the envelope or the payload replaced or removed. */
function damagedFrom(frames: readonly object[]): fc.Arbitrary<unknown> {
  const value = fc.oneof(
    fc.constant(undefined),
    fc.constantFrom('', 'x', 'x'.repeat(257), '2026-01-02T03:04', '2026-1-2', null, 1, 2, {}, [], true),
    fc.jsonValue(),
  )
  const key = fc.constantFrom(
    'id',
    'sessionId',
    'timestamp',
    'payload',
    'protocolVersion',
    'callId',
    'result',
    'error',
    'text',
    'reason',
    'other',
  )
  return fc.tuple(fc.constantFrom(...frames), key, value, fc.boolean()).map(([frame, name, replacement, inside]) => {
    const payload = (frame as { readonly payload: object }).payload
    return inside ? { ...frame, payload: { ...payload, [name]: replacement } } : { ...frame, [name]: replacement }
  })
}

test('damaged frames: schema and decoder agree', () => {
  const sides = [
    { frames: Object.values(clientFrames), schema: clientSchema, decode: decodeClientFrame },
    { frames: Object.values(serverFrames), schema: serverSchema, decode: decodeServerFrame },
  ]
  for (const { frames, schema, decode } of sides)
    fc.assert(
      fc.property(damagedFrom(frames), (damaged) => {
        const text = JSON.stringify(damaged)
        expect(decode(text).ok).toBe(schema.safeParse(JSON.parse(text)).success)
      }),
      { numRuns: 400 },
    )
})

test('random JSON and random text never throw', () => {
  const type = fc.constantFrom(...Object.keys(clientFrames), ...Object.keys(serverFrames), 'transcript.final', 'x')
  const frame = fc.record({
    id: fc.jsonValue(),
    type,
    sessionId: fc.jsonValue(),
    timestamp: fc.jsonValue(),
    payload: fc.jsonValue(),
  })
  const text = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    frame.map((value) => JSON.stringify(value)),
  )
  const readMessage = (decoded: Decoded<unknown>) => (decoded.ok ? '' : decoded.error.message)
  fc.assert(
    fc.property(text, (input) => {
      // This message marks an error that the decoder did not create.
      expect(readMessage(decodeClientFrame(input))).not.toBe('the frame could not be read')
      expect(readMessage(decodeServerFrame(input))).not.toBe('the frame could not be read')
    }),
    { numRuns: 500 },
  )
})

test('text nested a million deep is no frame', () => {
  expect(decodeClientFrame('['.repeat(1_000_000)).ok).toBe(false)
  expect(decodeClientFrame(`{"type":"error","payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`).ok).toBe(true)
})
