// A server of version 2 that a test plays frame by frame, over in-memory sockets and a manual clock: answers that are
// reordered, late, lost or refused, or that arrive when the next request begins.
import type { CallView } from '@baton/core'
import type { ClientError } from './client-error.ts'
import type { WebSocketLike, World } from './world.ts'

/** A frame as sent by the client. */
export interface SentFrame extends Readonly<Record<string, unknown>> {
  readonly id: string
  readonly type: string
}

export interface PlayedSocket extends WebSocketLike {
  readonly protocol: string | undefined
  readonly sent: readonly SentFrame[]
  readonly isClosed: boolean
}

/** @param probed HTTP status of the response to a plain request */
export function createPlayedServer(probed?: number) {
  let nowMs = 0
  let ids = 0
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>()
  const online = new Set<() => void>()
  const sockets: PlayedSocket[] = []
  const world: World = {
    nowMs: () => nowMs,
    random: () => 0.5,
    newId: () => `id-${(ids += 1)}`,
    probe: () => Promise.resolve(probed),
    onOnline: (callback) => {
      online.add(callback)
      return () => void online.delete(callback)
    },
    start: (delayMs, callback) => {
      const timer = { atMs: nowMs + delayMs, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    openSocket: (_, protocol) => {
      const socket = createSocket(protocol)
      sockets.push(socket)
      return socket
    },
  }
  const newest = (): PlayedSocket => {
    const socket = sockets.at(-1)
    if (!socket) throw new Error('nothing was opened')
    return socket
  }
  /** Advances the clock; timers fire when they are due. */
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
  const say = (frame: object | string, socket = newest()): void =>
    socket.onmessage?.({ data: typeof frame === 'string' ? frame : JSON.stringify(frame) } as never) // like a browser's event
  /** Opens the newest connection and says hello. */
  const begin = (frameBytes = 100_000): void => {
    newest().onopen?.(undefined as never) // the event's fields are not read
    say({ type: 'hello', protocol: 2, nowMs, limits: { frameBytes, resultBytes: frameBytes } })
  }
  return {
    world,
    sockets,
    newest,
    advance,
    say,
    begin,
    /** Breaks a connection like the network would. */
    breakWith: (code: number, socket = newest()): void => socket.onclose?.({ code } as never), // like a browser's event
    /** Number of running timers. */
    waiting: (): number => timers.size,
    /** The machine is online again. */
    goOnline: (): void => {
      for (const callback of online) callback()
    },
    /** Number of listeners for the network. */
    listening: (): number => online.size,
    /** Requests of this type on the newest connection, in order. */
    asked: (type: string): readonly SentFrame[] => newest().sent.filter((frame) => frame.type === type),
    accept: (request: SentFrame | undefined, value: object = {}): void =>
      say({ type: 'ok', re: request?.id ?? '', ...value }),
    refuse: (request: SentFrame | undefined, code: string, more: object = {}): void =>
      say({ type: 'error', re: request?.id ?? '', code, message: `refused: ${code}`, ...more }),
    tell: (...events: readonly object[]): void =>
      say({ type: 'events', events: events.map((event) => ({ at: 1, ...event })), next: { pos: events.length } }),
  }
}

export type PlayedServer = ReturnType<typeof createPlayedServer>

function createSocket(protocol: string | undefined): PlayedSocket {
  const sent: SentFrame[] = []
  const state = { isClosed: false }
  return {
    protocol,
    sent,
    get isClosed() {
      return state.isClosed
    },
    send: (text) => void sent.push(JSON.parse(text) as SentFrame), // a client sends nothing else
    close: () => {
      state.isClosed = true
    },
    onopen: null,
    onmessage: null,
    onclose: null,
    onerror: null,
  }
}

/** Lets every pending promise settle. */
export const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** The value of a promise, or the code of its error. */
export async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    (value) => value ?? 'done',
    ({ code }: ClientError) => code,
  )
}

/** Initial details of a session. */
export const INFO = { agent: 'a', model: 'm', models: ['m'], title: null, meta: {}, activity: 'idle' }

/** Accepts the opening of a session, and reports these calls as missed. */
export function openPlayed(
  server: PlayedServer,
  { messages, calls = [] }: { readonly messages?: readonly object[]; readonly calls?: readonly CallView[] } = {},
): SentFrame | undefined {
  server.begin()
  const [request] = server.asked('session.open')
  server.accept(request, { session: 's', info: INFO, next: { pos: 0 }, ...(messages && { messages }) })
  server.tell(...calls.map((call) => ({ type: 'call', call })), { type: 'live' })
  return request
}

/** A call of a client tool that waits for this device. */
export function waitingCall(callId: string, holder: string, more: Partial<CallView> = {}): CallView {
  const about = { message: 't1', step: 1, name: 'look', input: {}, runs: 'client', effect: 'once' } as const
  return { callId, ...about, status: 'waiting', holder, ...more }
}
