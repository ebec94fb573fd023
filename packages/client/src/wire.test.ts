// The connection of version 2 over an in-memory socket and a manual clock: cases that real servers rarely cause.
import type { JsonObject } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import type { Requests } from '@baton/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { ClientError } from './client-error.ts'
import type { PlayedServer } from './played-server.test-kit.ts'
import { createPlayedServer } from './played-server.test-kit.ts'
import { environment, serveAgent } from './session/session.test-kit.ts'
import type { Notice, Wire } from './wire.ts'
import { openWire } from './wire.ts'
import { platformWorld } from './world.ts'

function open(server: PlayedServer) {
  const told: string[] = []
  const errors: ClientError[] = []
  const notices: Notice[] = []
  const wire = openWire(
    { url: 'ws://127.0.0.1:9/ws' },
    {
      world: server.world,
      takeConnecting: () => void told.push('connecting'),
      takeHello: () => void told.push('hello'),
      takeNotice: (notice) => void notices.push(notice),
      takeLoss: (isDeviceTaken) => void told.push(isDeviceTaken ? 'device taken' : 'lost'),
      complain: (error) => void errors.push(error),
      end: (error) => {
        told.push(`ended: ${error.code}`)
        wire.close(error)
      },
    },
  )
  const { newest, say, breakWith } = server
  return { wire, told, errors, notices, newest, say, begin: () => server.begin(100), breakWith }
}

function ask(wire: Wire): string[] {
  const answers: string[] = []
  wire.ask('session.info', {}, (answer) => void answers.push(answer.ok ? 'ok' : answer.error.code))
  return answers
}

test('a request is answered once, and one that breaks is answered as lost after the loss is told', () => {
  const server = createPlayedServer()
  const { wire, told, begin, newest, say, breakWith } = open(server)
  expect(ask(wire)).toEqual(['connection_failed'])
  begin()
  expect(server.sockets[0]?.protocol).toBe('baton.v2')
  const answers = ask(wire)
  const id = String(newest().sent[0]?.['id'])
  say({ type: 'ok', re: id })
  say({ type: 'ok', re: id })
  expect(answers).toEqual(['ok'])
  wire.ask('session.info', {}, () => void told.push('answered'))
  breakWith(1006)
  expect(told).toEqual(['connecting', 'hello', 'lost', 'answered'])
})

test('frames of a newer server, and what is no frame, change nothing', () => {
  const { begin, say, errors, notices, told } = open(createPlayedServer())
  begin()
  for (const text of ['', 'null', '[]', '{', '{"type":"tomorrow"}', '{"type":"events"}', '{"type":7}']) say(text)
  // Property names that every object has are not frame types.
  for (const text of ['{"type":"__proto__"}', '{"type":"constructor"}', '{"type":"toString","next":{"pos":1}}'])
    say(text)
  expect([errors, notices, told]).toEqual([[], [], ['connecting', 'hello']])
})

test('a server that says nothing is asked whether it lives, and left when it does not answer', () => {
  const server = createPlayedServer()
  const { begin, newest, say, told } = open(server)
  begin()
  server.advance(19_999)
  expect(newest().sent).toEqual([])
  server.advance(1)
  expect(newest().sent).toMatchObject([{ type: 'ping' }])
  say({ type: 'ok', re: String(newest().sent[0]?.['id']) })
  server.advance(20_000)
  expect(newest().sent).toHaveLength(2)
  server.advance(10_000)
  expect(server.sockets[0]?.isClosed).toBe(true)
  expect(told).toEqual(['connecting', 'hello', 'lost'])
  server.advance(250)
  expect(told.at(-1)).toBe('connecting')
})

test('a request without an answer is given up after 30 seconds', () => {
  const server = createPlayedServer()
  const { wire, begin, say } = open(server)
  begin()
  const answers = ask(wire)
  for (let seconds = 0; seconds < 30; seconds += 5) {
    say({ type: 'session.closed', session: 's' })
    server.advance(5000)
  }
  expect(answers).toEqual(['connection_failed'])
})

test('a server that is started again is asked again quickly, others ever more slowly', () => {
  const server = createPlayedServer()
  const { begin, breakWith, told } = open(server)
  const pauses: number[] = []
  const measure = (): void => {
    for (let ms = 0; ; ms++) {
      if (told.at(-1) === 'connecting') return void pauses.push(ms)
      server.advance(1)
    }
  }
  begin()
  server.advance(10_000)
  breakWith(1012)
  measure()
  for (const _ of [1, 2, 3]) {
    begin()
    breakWith(1006)
    measure()
  }
  begin()
  server.advance(10_000)
  breakWith(1006)
  measure()
  expect(pauses).toEqual([94, 375, 750, 1500, 188])
})

test('a device whose name is taken is told so', () => {
  const { begin, breakWith, told } = open(createPlayedServer())
  begin()
  breakWith(4409)
  expect(told).toEqual(['connecting', 'hello', 'device taken'])
})

test('a token that is no longer valid ends it for good, and nothing waits any more', () => {
  const server = createPlayedServer()
  const { wire, begin, breakWith, told } = open(server)
  begin()
  const answers = ask(wire)
  breakWith(4401)
  expect(told).toEqual(['connecting', 'hello', 'ended: unauthorized'])
  expect(answers).toEqual(['unauthorized'])
  expect(ask(wire)).toEqual(['session_closed'])
  expect(server.waiting()).toBe(0)
})

test.each([401, 403])('a connection that is refused with %d ends it for good', async (status) => {
  const server = createPlayedServer(status)
  const { breakWith, told } = open(server)
  breakWith(1006)
  await Promise.resolve()
  await Promise.resolve()
  expect(told.at(-1)).toBe('ended: unauthorized')
})

test('a server that is no server of this version is told, and tried again', () => {
  const server = createPlayedServer()
  const { newest, errors, told } = open(server)
  newest().onopen?.(undefined as never) // the event's fields are not read
  server.advance(10_000)
  expect(errors).toMatchObject([{ code: 'connection_failed', message: 'the server did not say hello in baton.v2' }])
  expect(errors[0]?.hint).toMatch(/same version/)
  server.advance(1000)
  expect(told).toEqual(['connecting', 'lost', 'connecting'])
})

test('a frame that is larger than the server takes is not sent', () => {
  const { wire, begin, newest } = open(createPlayedServer())
  begin()
  const answers: string[] = []
  wire.ask('input.hear', { input: 'i', speaker: 's', text: 'é'.repeat(20) }, (answer) => {
    answers.push(answer.ok ? 'ok' : answer.error.code)
  })
  expect(answers).toEqual(['input_too_large'])
  expect(newest().sent).toEqual([])
})

test('a long request that a real server refuses by its rate, without reading it, is answered with the wait', async () => {
  const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: [], timers: environment.timers }) })
  const server = await serveAgent({ agent, front: { limits: { addressFramesPerMinute: 1 } } })
  onTestFinished(() => server.stop())
  const { error } = await new Promise<{ readonly error: ClientError }>((resolve, reject) => {
    const ask = (given: Requests['input.hear']['given']): void =>
      wire.ask('input.hear', given, (answer) => {
        if (!answer.ok && answer.error.code === 'rate_limited') resolve(answer)
      })
    const input = { input: 'i', speaker: 's', text: '{"id":"another"}'.repeat(50) }
    const nothing = (): void => {}
    const told = { takeConnecting: nothing, takeNotice: nothing, takeLoss: nothing, end: nothing }
    const takeHello = (): void => [1, 2, 3].forEach(() => ask(input))
    const wire = openWire({ url: server.url }, { world: platformWorld(), ...told, takeHello, complain: reject })
    onTestFinished(() => wire.close(new ClientError({ code: 'session_closed', message: 'closed' })))
  })
  expect(error).toMatchObject({ code: 'rate_limited', retryable: true })
  expect(error.retryAfterMs).toBeGreaterThan(0)
})

test('fields of a request that have the names of the envelope do not replace it', () => {
  const { wire, begin, newest } = open(createPlayedServer())
  begin()
  const given = { input: 'i', name: 'n', id: 'mine', type: 'other' }
  wire.ask('input.notify', given, () => {})
  expect(newest().sent).toMatchObject([{ id: '1', type: 'input.notify' }])
})

test('a request that cannot be written as JSON is refused, and later ones are sent', () => {
  const { wire, begin, newest } = open(createPlayedServer())
  begin()
  const round: { self?: unknown } = {}
  round.self = round
  const answers: string[] = []
  wire.ask('input.notify', { input: 'i', name: 'n', detail: round as JsonObject }, (answer) => {
    answers.push(answer.ok ? 'ok' : answer.error.code)
  })
  expect(answers).toEqual(['invalid_event'])
  ask(wire)
  expect(newest().sent).toMatchObject([{ type: 'session.info' }])
})

test('a machine that has a network again does not wait for the pause, and connects once', () => {
  const server = createPlayedServer()
  const { wire, begin, breakWith, told } = open(server)
  begin()
  // There is already a connection.
  server.goOnline()
  expect(server.sockets).toHaveLength(1)
  for (const _ of [1, 2, 3, 4]) {
    breakWith(1006)
    server.advance(10_000)
  }
  breakWith(1006)
  server.goOnline()
  expect(told.at(-1)).toBe('connecting')
  const connections = server.sockets.length
  begin()
  // The shortened pause does not end a second time.
  server.advance(10_000)
  expect([server.sockets.length, told.at(-1)]).toEqual([connections, 'hello'])
  wire.close(new ClientError({ code: 'session_closed', message: 'closed' }))
  server.goOnline()
  expect([server.sockets.length, server.listening(), server.waiting()]).toEqual([connections, 0, 0])
})

test('an address that is none leaves nobody who waits for the network', () => {
  const server = createPlayedServer()
  const openSocket = (): never => {
    throw new SyntaxError('no address')
  }
  expect(() => open({ ...server, world: { ...server.world, openSocket } })).toThrow('url: SyntaxError: no address')
  expect([server.listening(), server.waiting()]).toEqual([0, 0])
})

test('a connection that was left says nothing any more, however late its frames and its end come', () => {
  const server = createPlayedServer()
  const { wire, begin, told, notices, say } = open(server)
  begin()
  const answers = ask(wire)
  const left = server.newest()
  wire.drop()
  server.advance(1000)
  begin()
  const before = [...told]
  expect(left.isClosed).toBe(true)
  say({ type: 'ok', re: left.sent[0]?.id ?? '' }, left)
  say({ type: 'session.closed', session: 's' }, left)
  server.breakWith(1006, left)
  expect([answers, notices, told]).toEqual([['connection_failed'], [], before])
  expect(ask(wire)).toEqual([])
})

test.each(['answered', 'lost', 'closed'] as const)('nothing waits for a request that was %s', (how) => {
  const server = createPlayedServer()
  const { wire, begin } = open(server)
  begin()
  const before = server.waiting()
  const answers = ask(wire)
  expect(server.waiting()).toBe(before + 1)
  if (how === 'answered') server.accept(server.newest().sent[0])
  else if (how === 'lost') server.breakWith(1006)
  else wire.close(new ClientError({ code: 'session_closed', message: 'closed' }))
  expect(answers).toEqual([{ answered: 'ok', lost: 'connection_failed', closed: 'session_closed' }[how]])
  expect(server.waiting()).toBe(how === 'closed' ? 0 : before)
})

test('requests that are under way together are each answered by their own answer, in any order', () => {
  const server = createPlayedServer()
  const { wire, begin } = open(server)
  begin()
  const told: string[] = []
  for (const name of ['one', 'two', 'three'])
    wire.ask('session.info', {}, (answer) => void told.push(`${name}: ${answer.ok ? 'ok' : answer.error.code}`))
  const [one, two, three] = server.newest().sent
  server.refuse(two, 'illegal_input')
  server.accept(three)
  server.breakWith(1006)
  server.accept(one)
  expect(told).toEqual(['two: illegal_input', 'three: ok', 'one: connection_failed'])
})

test('silence of one connection does not count on the next one', () => {
  const server = createPlayedServer()
  const { begin, breakWith, told } = open(server)
  begin()
  server.advance(20_000)
  breakWith(1006)
  server.advance(1000)
  begin()
  server.advance(19_999)
  expect([server.newest().sent, told.at(-1)]).toEqual([[], 'hello'])
})

test('a connection that breaks before the hello waits no longer for it', () => {
  const server = createPlayedServer()
  const { begin, breakWith, told, errors } = open(server)
  breakWith(1006)
  expect(server.waiting()).toBe(1)
  server.advance(1000)
  begin()
  server.advance(19_000)
  expect([errors, told]).toEqual([[], ['connecting', 'lost', 'connecting', 'hello']])
})

test('an error that answers no request is told, and the connection stays', () => {
  const server = createPlayedServer()
  const { begin, say, errors, told } = open(server)
  begin()
  say({ type: 'error', code: 'quota_exceeded', message: 'slower' })
  expect(errors).toMatchObject([{ code: 'quota_exceeded' }])
  expect(told).toEqual(['connecting', 'hello'])
})

test.each([true, false])(
  'a server is not left for the reason of an old refusal, nor asked for one after its hello (back first: %s)',
  async (isBackFirst) => {
    const server = createPlayedServer(401)
    const { begin, breakWith, told, errors } = open(server)
    if (!isBackFirst) begin()
    breakWith(1006)
    if (isBackFirst) {
      server.goOnline()
      begin()
    }
    await Promise.resolve()
    await Promise.resolve()
    expect(told.at(-1)).toBe(isBackFirst ? 'hello' : 'lost')
    expect(errors).toEqual([])
  },
)

test('a user that closes the client while it connects is not connected', () => {
  const server = createPlayedServer()
  const wire: { current?: Wire } = {}
  const closed = new ClientError({ code: 'session_closed', message: 'closed' })
  wire.current = openWire(
    { url: 'ws://127.0.0.1:9/ws' },
    {
      world: server.world,
      takeConnecting: () => wire.current?.close(closed),
      takeHello: () => {},
      takeNotice: () => {},
      takeLoss: () => {},
      complain: () => {},
      end: () => {},
    },
  )
  server.begin()
  server.breakWith(1006)
  server.advance(60_000)
  expect([server.sockets.length, server.waiting(), server.listening()]).toEqual([1, 0, 0])
})
