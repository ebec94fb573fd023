// The connection of version 2 over a socket in memory and a clock that the test moves: what a real server rarely does.
import type { ServerFrame2 } from '@baton/protocol'
import { expect, test } from 'vitest'
import type { ClientError } from './client-error.ts'
import type { Notice, Wire } from './wire.ts'
import { openWire } from './wire.ts'
import type { WebSocketLike, World } from './world.ts'

interface FakeSocket extends WebSocketLike {
  readonly sent: readonly Readonly<Record<string, unknown>>[]
  readonly isClosed: boolean
}

function createFake(probed?: number) {
  let nowMs = 0
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>()
  const sockets: (FakeSocket & { protocol: string | undefined })[] = []
  const world: World = {
    nowMs: () => nowMs,
    random: () => 0.5,
    newId: () => 'id',
    probe: () => Promise.resolve(probed),
    start: (delayMs, callback) => {
      const timer = { atMs: nowMs + delayMs, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    openSocket: (_, protocol) => {
      const sent: Readonly<Record<string, unknown>>[] = []
      const state = { isClosed: false }
      const socket = {
        protocol,
        sent,
        get isClosed() {
          return state.isClosed
        },
        send: (text: string) => void sent.push(JSON.parse(text) as Readonly<Record<string, unknown>>), // a frame
        close: () => {
          state.isClosed = true
        },
        onopen: null,
        onmessage: null,
        onclose: null,
        onerror: null,
      }
      sockets.push(socket)
      return socket
    },
  }
  const advance = (ms: number): void => {
    for (const endMs = nowMs + ms; ;) {
      const [next] = [...timers].sort((one, other) => one.atMs - other.atMs)
      if (!next || next.atMs > endMs) {
        nowMs = endMs
        return
      }
      timers.delete(next)
      nowMs = next.atMs
      next.callback()
    }
  }
  return { world, sockets, advance, waiting: () => timers.size }
}

const HELLO: ServerFrame2 = { type: 'hello', protocol: 2, nowMs: 0, limits: { frameBytes: 100, resultBytes: 50 } }

function open(fake: ReturnType<typeof createFake>) {
  const told: string[] = []
  const errors: ClientError[] = []
  const notices: Notice[] = []
  const wire = openWire(
    { url: 'ws://127.0.0.1:9/ws' },
    {
      world: fake.world,
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
  const newest = (): FakeSocket => {
    const socket = fake.sockets.at(-1)
    if (!socket) throw new Error('nothing was opened')
    return socket
  }
  const say = (frame: ServerFrame2 | string): void =>
    newest().onmessage?.({ data: typeof frame === 'string' ? frame : JSON.stringify(frame) } as never) // as a browser's event
  const begin = (): void => {
    newest().onopen?.(undefined as never) // a browser's event has nothing that is read
    say(HELLO)
  }
  const breakWith = (code: number): void => newest().onclose?.({ code } as never) // as above
  return { wire, told, errors, notices, newest, say, begin, breakWith }
}

function ask(wire: Wire): string[] {
  const answers: string[] = []
  wire.ask('session.info', {}, (answer) => void answers.push(answer.ok ? 'ok' : answer.error.code))
  return answers
}

test('a request is answered once, and one that breaks is answered as lost after the loss is told', () => {
  const fake = createFake()
  const { wire, told, begin, newest, say, breakWith } = open(fake)
  expect(ask(wire)).toEqual(['connection_failed'])
  begin()
  expect(fake.sockets[0]?.protocol).toBe('baton.v2')
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
  const { begin, say, errors, notices, told } = open(createFake())
  begin()
  for (const text of ['', 'null', '[]', '{', '{"type":"tomorrow"}', '{"type":"events"}']) say(text)
  expect([errors, notices, told]).toEqual([[], [], ['connecting', 'hello']])
})

test('a server that says nothing is asked whether it lives, and left when it does not answer', () => {
  const fake = createFake()
  const { begin, newest, say, told } = open(fake)
  begin()
  fake.advance(19_999)
  expect(newest().sent).toEqual([])
  fake.advance(1)
  expect(newest().sent).toMatchObject([{ type: 'ping' }])
  say({ type: 'ok', re: String(newest().sent[0]?.['id']) })
  fake.advance(20_000)
  expect(newest().sent).toHaveLength(2)
  fake.advance(10_000)
  expect(fake.sockets[0]?.isClosed).toBe(true)
  expect(told).toEqual(['connecting', 'hello', 'lost'])
  fake.advance(250)
  expect(told.at(-1)).toBe('connecting')
})

test('a request without an answer is given up after 30 seconds', () => {
  const fake = createFake()
  const { wire, begin, say } = open(fake)
  begin()
  const answers = ask(wire)
  for (let seconds = 0; seconds < 30; seconds += 5) {
    say({ type: 'session.closed', session: 's' })
    fake.advance(5000)
  }
  expect(answers).toEqual(['connection_failed'])
})

test('a server that is started again is asked again quickly, others ever more slowly', () => {
  const fake = createFake()
  const { begin, breakWith, told } = open(fake)
  const pauses: number[] = []
  const measure = (): void => {
    for (let ms = 0; ; ms++) {
      if (told.at(-1) === 'connecting') return void pauses.push(ms)
      fake.advance(1)
    }
  }
  begin()
  fake.advance(10_000)
  breakWith(1012)
  measure()
  for (const _ of [1, 2, 3]) {
    begin()
    breakWith(1006)
    measure()
  }
  expect(pauses).toEqual([94, 375, 750, 1500])
})

test('a device whose name is taken is told so', () => {
  const { begin, breakWith, told } = open(createFake())
  begin()
  breakWith(4409)
  expect(told).toEqual(['connecting', 'hello', 'device taken'])
})

test('a token that is no longer valid ends it for good, and nothing waits any more', () => {
  const fake = createFake()
  const { wire, begin, breakWith, told } = open(fake)
  begin()
  const answers = ask(wire)
  breakWith(4401)
  expect(told).toEqual(['connecting', 'hello', 'ended: unauthorized'])
  expect(answers).toEqual(['unauthorized'])
  expect(ask(wire)).toEqual(['session_closed'])
  expect(fake.waiting()).toBe(0)
})

test.each([401, 403])('a connection that is refused with %d ends it for good', async (status) => {
  const fake = createFake(status)
  const { breakWith, told } = open(fake)
  breakWith(1006)
  await Promise.resolve()
  await Promise.resolve()
  expect(told.at(-1)).toBe('ended: unauthorized')
})

test('a server that is no server of this version is told, and tried again', () => {
  const fake = createFake()
  const { newest, errors, told } = open(fake)
  newest().onopen?.(undefined as never) // a browser's event has nothing that is read
  fake.advance(10_000)
  expect(errors).toMatchObject([{ code: 'connection_failed', message: 'the server did not say hello in baton.v2' }])
  expect(errors[0]?.hint).toMatch(/same version/)
  fake.advance(1000)
  expect(told).toEqual(['connecting', 'lost', 'connecting'])
})

test('a frame that is larger than the server takes is not sent', () => {
  const { wire, begin, newest } = open(createFake())
  begin()
  const answers: string[] = []
  wire.ask('input.hear', { input: 'i', speaker: 's', text: 'é'.repeat(40) }, (answer) => {
    answers.push(answer.ok ? 'ok' : answer.error.code)
  })
  expect(answers).toEqual(['input_too_large'])
  expect(newest().sent).toEqual([])
})
