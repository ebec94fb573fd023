// A client tool whose connection breaks while it works: the real client, front and host, over an in-memory network that
// can be cut. Time is virtual, so every run produces the same times.
import type { WebSocketLike } from '@baton/client'
import { createV1Client } from '@baton/client'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import type { Socket } from '@baton/server/websocket'
import { DEFAULT_CONNECTION_LIMITS, openV1Connection } from '@baton/server/websocket'
import { z } from 'zod'
import type { VirtualTime } from '../packages/testing/src/simulator/virtual-time.ts'
import { createVirtualTime } from '../packages/testing/src/simulator/virtual-time.ts'

export interface Moment {
  /** Milliseconds since the user's message. */
  readonly atMs: number
  readonly where: 'phone' | 'server' | 'connection'
  /** Text on the phone, the status of the call in the server's events, or the connection state of the client. */
  readonly text: string
}

/** Milliseconds of: one way through the network, the tool's work, the time before the cut, and the cut itself. */
const TAKES = { network: 50, door: 1500, cutAfter: 1200, cut: 2000, model: 300 } as const
const START_MS = Date.UTC(2026, 0, 1)
const QUESTION = 'Is my front door locked?'

/** Plays the conversation. */
export async function playReconnectedCall(): Promise<readonly Moment[]> {
  const time = createVirtualTime(START_MS)
  const moments: Moment[] = []
  let startMs = START_MS
  const note = (where: Moment['where'], text: string): void =>
    void moments.push({ atMs: time.nowMs() - startMs, where, text })

  const host = createPhoneHost(time)
  const network = createNetwork(time, host)
  const app = createV1Client({
    url: 'ws://server/ws',
    session: 'home',
    tools: {
      'door.check': async () => {
        await time.wait(TAKES.door)
        note('phone', 'door.check has run: locked')
        return { locked: true }
      },
    },
    world: {
      openSocket: network.open,
      nowMs: time.nowMs,
      start: time.timers.start,
      random: () => 0.5,
      newId: countIds('app'),
    },
  })
  const session = await time.until(host.session('home', { principal: { id: 'ann' } }))
  await time.pass(500)
  startMs = time.nowMs()

  app.on('connection', (state) => note('connection', state))
  app.on('call', ({ name }) => note('phone', `runs ${name}`))
  app.on('final', (text) => note('phone', text.split(/\s+/).join(' ')))
  const events = session.events({ from: 'now' })
  const reading = (async (): Promise<void> => {
    let last = ''
    for await (const event of events) {
      if (event.type !== 'call') continue
      const text = `${event.call.name}: ${event.call.status}`
      if (text !== last) note('server', text) // an event is also sent when its client connects or disconnects
      last = text
    }
  })()
  note('phone', QUESTION)
  app.say(QUESTION)
  await time.pass(TAKES.cutAfter)
  network.cut()
  await time.pass(TAKES.cut)
  network.heal()
  await time.pass(4000)
  app.close()
  await time.until(host.stop())
  await reading
  return moments
}

function createPhoneHost(time: VirtualTime) {
  const door = tool({
    name: 'door.check',
    description: 'Whether the door is locked',
    input: z.object({}),
    effect: 'once',
  })
  const model = createScriptedModel({
    timers: time.timers,
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? { pieces: ['I look. '], pieceMs: TAKES.model, calls: [{ name: 'door.check', arguments: {} }] }
        : { pieces: ['Yes, it is locked.'], pieceMs: TAKES.model },
  })
  return createHost({
    agent: defineAgent({ name: 'home', model, tools: [door] }),
    environment: {
      clock: time.clock,
      timers: time.timers,
      newId: countIds('host'),
      transport: { post: () => Promise.reject(new Error('there is no network here')) },
    },
  })
}

/** Connections between one app and a front. A cut closes them, and new ones are refused until it ends. */
function createNetwork(time: VirtualTime, host: ReturnType<typeof createHost>) {
  let isDown = false
  let cutOpen = (): void => {}
  const newId = countIds('connection')
  const open = (): WebSocketLike => {
    let isBroken = false
    let takeMessage: (text: string) => void = () => {}
    let takeClose = (): void => {}
    const later = (act: () => void): void => void time.timers.start(TAKES.network, () => isBroken || act())
    const app: WebSocketLike = {
      send: (text) => later(() => takeMessage(text)),
      close: () => later(close),
      onopen: null,
      onmessage: null,
      onclose: null,
      onerror: null,
    }
    const close = (): void => {
      if (isBroken) return
      isBroken = true
      takeClose()
      app.onclose?.({ code: 1006, reason: '' } as never) // the part of a CloseEvent that a client reads
    }
    const socket: Socket = {
      send: (text) => {
        later(() => app.onmessage?.({ data: text } as never)) // as above, for a MessageEvent
        return !isBroken
      },
      close: () => later(close),
      bufferedBytes: () => 0,
      onMessage: (listener) => void (takeMessage = listener),
      onClose: (listener) => void (takeClose = listener),
    }
    later(() => {
      if (isDown) return close()
      cutOpen = close
      const { clock, timers } = time
      const log = { info: () => {}, warn: () => {} }
      const shared = { clock, timers, newId, log, limits: DEFAULT_CONNECTION_LIMITS, isDraining: () => false }
      openV1Connection({ ...shared, socket, connection: newId(), host, principal: { id: 'ann' } })
      app.onopen?.({} as never) // its fields are not read
    })
    return app
  }
  const cut = (): void => {
    isDown = true
    cutOpen()
  }
  const heal = (): void => void (isDown = false)
  return { open, cut, heal }
}

function countIds(prefix: string): () => string {
  let count = 0
  return () => `${prefix}-${(count += 1)}`
}
