// The lines of the log as they are written.
import { expect, test } from 'vitest'
import type { LoggerOptions } from './logging.ts'
import { createLogger } from './logging.ts'

function setUp(options: LoggerOptions = {}) {
  const lines: string[] = []
  const write = (line: string): void => {
    // Only the time differs from run to run.
    lines.push(
      line.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/, '<time>').replace(/\d\d:\d\d:\d\d\.\d{3}/, '<time>'),
    )
  }
  return { lines, log: createLogger({ ...options, write }) }
}

test('a line is one object of JSON with level, time, data and message', () => {
  const { lines, log } = setUp()
  log.info('a result was received', { session: 's', callId: 'c1', tool: 'agent.list', error: null })
  log.warn('a result was ignored', { session: 's', callId: 'c1', reason: 'late' })
  expect(lines).toEqual([
    '{"level":"info","time":"<time>","session":"s","callId":"c1","tool":"agent.list","error":null,"msg":"a result was received"}\n',
    '{"level":"warn","time":"<time>","session":"s","callId":"c1","reason":"late","msg":"a result was ignored"}\n',
  ])
})

test('for people a line is what the caller makes of it', () => {
  const { lines, log } = setUp({ readable })
  log.info('turn 1: convo.setState -> tts.speak', { session: 's' })
  expect(lines).toEqual(['INFO turn 1: convo.setState -> tts.speak {"session":"s"}'])
})

/** Formats like a real formatter, from JSON without secrets. */
function readable(json: string): string {
  const { level, time: _, msg, ...data } = JSON.parse(json) as Readonly<Record<string, string>>
  return `${level?.toUpperCase()} ${msg} ${JSON.stringify(data)}`
}

test.each([
  ['info', 2],
  ['warn', 1],
  ['silent', 0],
] as const)('at level %s, %i of an info and a warning are written', (level, count) => {
  const { lines, log } = setUp({ level })
  log.info('one')
  log.warn('two')
  expect(lines).toHaveLength(count)
})

test.each([
  ['JSON', {}],
  ['text', { readable }],
])('no secret is written as %s, whatever field or text it stands in', (_, options) => {
  const { lines, log } = setUp({ ...options, secrets: ['to"ken', 'key-1', ''] })
  log.warn('failed with to"ken', { cause: 'GET /ws?token=to"ken', deep: { list: ['key-1'] } })
  log.info('asked', { authorization: 'Bearer x-1', request: { apiKey: 'x-2', token: 'x-3' } })
  const text = lines.join('')
  expect(text).not.toMatch(/to\\?"ken|key-1|x-[123]/)
  expect(text.match(/\[redacted\]/g)).toHaveLength(6)
})

test('a secret field is hidden however deep it stands, in lists too', () => {
  const { lines, log } = setUp()
  log.info('asked', { servers: [{ request: { password: 'x-1', port: 80 } }] })
  expect(lines).toEqual([
    '{"level":"info","time":"<time>","servers":[{"request":{"password":"[redacted]","port":80}}],"msg":"asked"}\n',
  ])
})

test('data replaces neither the level, the time nor the message of its line', () => {
  const { lines, log } = setUp()
  log.warn('a result was ignored', { level: 'info', time: 'yesterday', msg: 'all is well', callId: 'c1' })
  expect(lines).toEqual(['{"level":"warn","time":"<time>","msg":"a result was ignored","callId":"c1"}\n'])
})

test('data that is not JSON leaves the message of its line', () => {
  const { lines, log } = setUp()
  const circular: Record<string, unknown> = {}
  circular['self'] = circular
  log.info('asked', circular as Parameters<typeof log.info>[1]) // as an untyped caller passes it
  expect(lines).toEqual(['{"level":"info","time":"<time>","data":"not JSON","msg":"asked"}\n'])
})
