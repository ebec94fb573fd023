// One session's connection to a server. It breaks and comes back; what was said in between is sent when it is back.
import type { ClientFrame, ServerFrame } from '@baton/protocol'
import { decodeServerFrame, encodeFrame } from '@baton/protocol'
import { createBoundedMap } from './bounded-map.ts'
import type { WebSocketLike, World } from './world.ts'

export type ConnectionState = 'connecting' | 'open' | 'waiting' | 'closed'

export interface ReconnectOptions {
  /** Milliseconds before the first try; doubled for each further one, less a random part. 250 by default. */
  readonly baseMs?: number
  /** Most milliseconds between two tries. 10,000 by default. */
  readonly mostMs?: number
}

export interface ConnectionInit {
  readonly url: string
  readonly session: string
  readonly world: World
  readonly reconnect: ReconnectOptions
  readonly onState: (state: ConnectionState) => void
  /** Each frame once, in order, also over several connections. */
  readonly onFrame: (frame: ServerFrame) => void
  /** The session is started, for the first time or again. */
  readonly onStarted: () => void
}

export type Outgoing = ClientFrame extends infer Frame
  ? Frame extends ClientFrame
    ? Pick<Frame, 'type' | 'payload'>
    : never
  : never

export interface Connection {
  /** False when there is no connection: nothing was sent. A frame that is sent again must keep its id. */
  send(id: string, frame: Outgoing): boolean
  close(): void
}

/** Ids of frames that are remembered, to ignore repeats. */
const SEEN_MAX = 10_000
/** Milliseconds in which a new connection must start the session. */
const START_MS = 10_000

export function openConnection(init: ConnectionInit): Connection {
  const { world, session } = init
  const seen = createBoundedMap<string, true>(SEEN_MAX)
  let socket: WebSocketLike | undefined
  let started = false
  let tries = 0
  let closed = false
  let stopTimer: (() => void) | undefined

  const write = (id: string, frame: Outgoing): boolean => {
    if (!socket) return false
    socket.send(readText(init, id, frame))
    return true
  }

  const take = (text: unknown): void => {
    const frame = frameIn(text)
    if (!frame || seen.has(frame.id)) return
    seen.set(frame.id, true)
    if (frame.type === 'session.started' && !started) {
      started = true
      tries = 0
      stopTimer?.()
      init.onState('open')
      init.onStarted()
    }
    init.onFrame(frame)
  }

  const lose = (lost: WebSocketLike): void => {
    if (socket !== lost) return
    socket = undefined
    started = false
    stopTimer?.()
    if (closed) return
    init.onState('waiting')
    stopTimer = world.start(delayMs(init, tries), connect)
    tries += 1
  }

  function connect(): void {
    init.onState('connecting')
    const opened = world.openSocket(init.url)
    socket = opened
    opened.onopen = () => {
      write(world.newId(), { type: 'session.start', payload: { sessionId: session } })
    }
    opened.onmessage = (event: { readonly data: unknown }) => {
      if (socket === opened) take(event.data)
    }
    opened.onclose = () => lose(opened)
    opened.onerror = () => {} // the close event follows and says all there is to say
    stopTimer = world.start(START_MS, () => {
      opened.close()
      lose(opened)
    })
  }

  const close = (): void => {
    closed = true
    stopTimer?.()
    const open = socket
    socket = undefined
    open?.close(1000, 'the app is done')
    init.onState('closed')
  }

  connect()
  return { send: (id, frame) => started && write(id, frame), close }
}

function readText({ session, world }: ConnectionInit, id: string, frame: Outgoing): string {
  const timestamp = new Date(world.nowMs()).toISOString()
  // Type and payload come together, so they are one of the frames.
  return encodeFrame({ id, sessionId: session, timestamp, ...frame } as ClientFrame)
}

/** What is no frame of this version is ignored. */
function frameIn(text: unknown): ServerFrame | undefined {
  const decoded = typeof text === 'string' ? decodeServerFrame(text) : undefined
  return decoded?.ok ? decoded.frame : undefined
}

/** Half of the pause is chance, so that apps that lost their server together do not come back together. */
function delayMs({ reconnect, world }: ConnectionInit, tries: number): number {
  const longest = Math.min(reconnect.mostMs ?? 10_000, (reconnect.baseMs ?? 250) * 2 ** Math.min(tries, 20))
  return longest / 2 + (longest / 2) * world.random()
}
