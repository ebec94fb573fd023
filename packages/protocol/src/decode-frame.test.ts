// Literal frames of wire version 1, and the decoder's errors for malformed ones.
import { describe, expect, test } from 'vitest'
import type { ClientFrame, ServerFrame } from './v1.ts'
import { decodeClientFrame, decodeServerFrame, encodeFrame } from './decode-frame.ts'

const around = { id: 'f1', sessionId: 's1', timestamp: '2026-01-02T03:04:05.678Z' }

function client(type: string, payload: unknown, more: object = {}): ReturnType<typeof decodeClientFrame> {
  return decodeClientFrame(JSON.stringify({ ...around, type, payload, ...more }))
}

describe('frames of an app', () => {
  test('each known frame comes out as it went in', () => {
    const frames: readonly ClientFrame[] = [
      { ...around, type: 'session.start', payload: { sessionId: 's1' } },
      { ...around, type: 'user.audio.transcript.final', payload: { text: 'hello' }, protocolVersion: 1 },
      { ...around, type: 'tool.result', payload: { callId: 'c1', result: '', error: null } },
      { ...around, type: 'tool.result', payload: { callId: 'c1', result: null, error: 'broken' } },
      { ...around, type: 'audio.output.interrupted', payload: { reason: 'barge_in' } },
    ]
    for (const frame of frames) expect(decodeClientFrame(encodeFrame(frame))).toEqual({ ok: true, frame })
  })

  test('transcript.final is another name of user.audio.transcript.final', () => {
    expect(client('transcript.final', { text: 'hi' })).toMatchObject({ frame: { type: 'user.audio.transcript.final' } })
  })

  test('an id has 256 characters at most', () => {
    const ofLength = (length: number) => client('transcript.final', { text: 'hi' }, { id: 'x'.repeat(length) })
    expect([ofLength(256).ok, ofLength(257).ok, ofLength(0).ok]).toEqual([true, false, false])
  })

  test('unknown extra fields are dropped', () => {
    const decoded = client('transcript.final', { text: 'hi', confidence: 0.9 }, { device: 'phone' })
    expect(decoded).toEqual({
      ok: true,
      frame: { ...around, type: 'user.audio.transcript.final', payload: { text: 'hi' } },
    })
  })

  test('an unknown type is named, whatever else the frame holds', () => {
    expect(decodeClientFrame('{"type":"app.metrics"}')).toEqual({ ok: true, unknownType: 'app.metrics' })
  })

  test.each([
    ['both set: the result wins', { result: 'r', error: 'e' }, { result: 'r', error: null }],
    ['an empty result is a result', { result: '', error: 'e' }, { result: '', error: null }],
    ['only an error', { error: 'e' }, { result: null, error: 'e' }],
    ['only a result', { result: 'r' }, { result: 'r', error: null }],
    ['neither: an error that says nothing', {}, { result: null, error: null }],
  ])('tool.result, %s', (_situation, payload, expected) => {
    expect(client('tool.result', { callId: 'c1', ...payload })).toMatchObject({
      frame: { payload: { callId: 'c1', ...expected } },
    })
  })

  test('an interruption without a reason is a barge-in', () => {
    expect(client('audio.output.interrupted', {})).toMatchObject({ frame: { payload: { reason: 'barge_in' } } })
  })

  test.each([
    ['payload must be an object, not missing', 'session.start', undefined, {}],
    ['payload must be an object, not an array', 'session.start', [], {}],
    ['payload.sessionId must be a string of 1 to 256 characters, not missing', 'session.start', {}, {}],
    ['payload.text must be a string, not 7', 'transcript.final', { text: 7 }, {}],
    ['payload.callId must be a string of 1 to 256 characters, not empty', 'tool.result', { callId: '' }, {}],
    ['payload.result must be a string or null, not an object', 'tool.result', { callId: 'c', result: {} }, {}],
    [
      'timestamp must be an ISO 8601 time, not "yesterday"',
      'transcript.final',
      { text: 'x' },
      { timestamp: 'yesterday' },
    ],
    ['protocolVersion must be 1 or absent, not 2', 'transcript.final', { text: 'x' }, { protocolVersion: 2 }],
  ])('%s', (message, type, payload, more) => {
    expect(client(type, payload, more)).toEqual({
      ok: false,
      error: { code: 'invalid_event', message, id: 'f1', sessionId: 's1' },
    })
  })

  test('a frame without a readable id is answered without one', () => {
    const decoded = client('session.start', { sessionId: 's1' }, { id: 5 })
    expect(decoded).toEqual({
      ok: false,
      error: { code: 'invalid_event', message: 'id must be a string of 1 to 256 characters, not 5', sessionId: 's1' },
    })
  })

  test.each(['', 'null', '[]', '"text"', '{', '{"type":'])('%j is no frame', (text) => {
    expect(decodeClientFrame(text)).toMatchObject({ ok: false, error: { code: 'invalid_event' } })
  })

  test('a type that is a name of Object.prototype is unknown', () => {
    expect(decodeClientFrame('{"type":"constructor"}')).toEqual({ ok: true, unknownType: 'constructor' })
  })
})

describe('frames of a server', () => {
  test('each known frame comes out as it went in', () => {
    const frames: readonly ServerFrame[] = [
      { ...around, type: 'session.started', payload: { sessionId: 's1' } },
      { ...around, type: 'tool.call', payload: { callId: 'c1', name: 'agent.spawn', arguments: '{"prompt":"x"}' } },
      { ...around, type: 'assistant.speech.partial', payload: { text: 'He' } },
      { ...around, type: 'assistant.speech.final', payload: { text: 'Hello' }, protocolVersion: 1 },
      { ...around, type: 'error', payload: { code: 'rate_limited', message: 'slower' } },
    ]
    for (const frame of frames) expect(decodeServerFrame(encodeFrame(frame))).toEqual({ ok: true, frame })
  })

  test('a frame of an app is unknown to an app', () => {
    expect(decodeServerFrame(JSON.stringify({ ...around, type: 'session.start', payload: {} }))).toEqual({
      ok: true,
      unknownType: 'session.start',
    })
  })
})

test('the text of a frame has the fields in the order of the description', () => {
  const frame: ServerFrame = { payload: { text: 'Hi' }, ...around, type: 'assistant.speech.final', protocolVersion: 1 }
  expect(encodeFrame(frame)).toBe(
    '{"id":"f1","type":"assistant.speech.final","sessionId":"s1","timestamp":"2026-01-02T03:04:05.678Z","payload":{"text":"Hi"},"protocolVersion":1}',
  )
})
