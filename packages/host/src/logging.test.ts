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

type Data = Parameters<ReturnType<typeof createLogger>['info']>[1]

/** Data as an untyped caller passes it. */
function untyped(data: unknown): Data {
  return data as Data
}

const CIRCULAR: Record<string, unknown> = { list: [] }
CIRCULAR['self'] = CIRCULAR
const fail = (): never => {
  throw new Error('no')
}
const THROWS = {
  get bad() {
    return fail()
  },
  callId: 'c1',
}

test.each<[string, unknown, string]>([
  ['a cycle', CIRCULAR, '"list":[],"self":"[circular]"'],
  ['a deeper cycle', { a: { b: CIRCULAR } }, '"a":{"b":{"list":[],"self":"[circular]"}}'],
  ['the same object twice', { a: CIRCULAR['list'], b: CIRCULAR['list'] }, '"a":[],"b":[]'],
  ['a BigInt', { size: 12n, sizes: [1n] }, '"size":"12","sizes":["1"]'],
  ['a getter that throws', THROWS, '"bad":"[unreadable]","callId":"c1"'],
  ['an error', { cause: new TypeError('no such field') }, '"cause":"TypeError: no such field"'],
  ['an error as the data', new RangeError('too much'), '"data":"RangeError: too much"'],
  ['a list as the data', ['a'], '"data":["a"]'],
  ['an address', { at: new URL('https://a.example/') }, '"at":"https://a.example/"'],
  ['a toJSON that throws', { a: { toJSON: fail }, b: 1 }, '"a":"[unreadable]","b":1'],
  ['a function', { f: () => {}, list: [() => {}] }, '"list":[null]'],
  ['bytes', { body: new Uint8Array(3) }, '"body":"[3 bytes]"'],
  ['a revoked proxy', { a: revoked() }, '"a":"[unreadable]"'],
])('%s is shown in its own place, beside the rest', (_, data, shown) => {
  const { lines, log } = setUp()
  log.info('asked', untyped(data))
  expect(lines).toEqual([`{"level":"info","time":"<time>",${shown},"msg":"asked"}\n`])
})

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

test.each<[string, unknown]>([
  ['a field', { toJSON: () => ({ level: 'info', msg: 'all is well' }) }],
  [
    'a class',
    new (class {
      toJSON(): object {
        return { level: 'info', msg: 'all is well' }
      }
    })(),
  ],
])('a toJSON that is %s does not replace the line', (_, data) => {
  const { lines, log } = setUp()
  log.warn('a result was ignored', untyped(data))
  expect(lines).toEqual(['{"level":"warn","time":"<time>","msg":"a result was ignored"}\n'])
})

test.each(['debug', 'Info', null, 1, '__proto__'])('the level %s is refused', (level) => {
  expect(() => createLogger({ level: level as 'info' })).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: `createLogger: level must be info, warn or silent, not "${level}"`,
    }),
  )
})

test('what a terminal obeys is escaped in texts and names', () => {
  const { lines, log } = setUp()
  log.info('a\u001b[2J\u009b1m', { 'b\u007f': 'c\n\u2028' })
  expect(lines).toEqual(['{"level":"info","time":"<time>","b\\u007f":"c\\n\\u2028","msg":"a\\u001b[2J\\u009b1m"}\n'])
})

test('a line has an end, whatever is logged', () => {
  const { lines, log } = setUp()
  let deep: object = {}
  for (let depth = 0; depth < 10_000; depth++) deep = { deep }
  const wide = Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => 'text'))
  log.info('asked'.repeat(100_000), { deep: untyped(deep), wide, long: 'x'.repeat(1_000_000), after: 'kept' } as Data)
  expect(lines[0]?.length).toBeLessThan(100_000)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info' })
})

test('a secret is redacted before its text is cut, and in a toJSON or an error', () => {
  const { lines, log } = setUp({ secrets: ['secret-key'] })
  const text = `${'x'.repeat(16_380)}secret-key`
  log.info(
    'asked',
    untyped({ text, a: { toJSON: () => ({ token: 't-1', b: 'secret-key' }) }, e: new Error('secret-key') }),
  )
  expect(lines[0]).not.toMatch(/secr|t-1/)
})

test('a list and an object that are cut say so', () => {
  const { lines, log } = setUp()
  const names = Array.from({ length: 201 }, (_, index) => `n${index}`)
  log.info('long', { list: names, object: Object.fromEntries(names.map((name) => [name, 1])) })
  const { list, object } = JSON.parse(lines[0] ?? '') as { readonly list: readonly string[]; readonly object: object }
  expect(list.slice(199)).toEqual(['n199', '[more]'])
  expect(Object.entries(object).slice(199)).toEqual([
    ['n199', 1],
    ['…', '[more]'],
  ])
})

test.each([
  [{ secrets: 'key-of-mine' }, 'createLogger: secrets must be an array of secrets, not text'],
  [{ write: null }, 'createLogger: write must be a function, not null'],
  [{ readable: 'pretty' }, 'createLogger: readable must be a function, not "pretty"'],
  [{ levels: 'info' }, 'createLogger has no field "levels"; it is called "level" here'],
])('createLogger refuses %o', (options, message) => {
  expect(() => createLogger(options as object)).toThrow(message)
})
