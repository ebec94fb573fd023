// A real server and clients of version 2 over real sockets that a test can cut, even after a specific frame of either
// side.
import type { Agent, SessionEvent, Store, Tool } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import type { WebSocketFrontOptions } from '@baton/server/websocket'
import { createWebSocketFront } from '@baton/server/websocket'
import { onTestFinished } from 'vitest'
import type { SessionClient, OpenSessionOptions, SessionSnapshot } from '../index.ts'
import { openSession } from '../index.ts'
import type { WebSocketLike, World } from '../world.ts'
import { platformWorld } from '../world.ts'

export const environment = createNodeEnvironment({
  post: () => Promise.reject(new Error('no network in this test')),
})

const MANY = 1_000_000

export interface ServeOptions {
  readonly agent: Agent
  readonly store?: Store
  readonly front?: Partial<WebSocketFrontOptions>
}

export async function serveAgent({ agent, store, front: init = {} }: ServeOptions) {
  const host = createHost({ environment, agent, ...(store && { store }) })
  const limits = { sessionFramesPerMinute: MANY, addressFramesPerMinute: MANY, addressSessionsPerMinute: MANY }
  const log = { info: () => {}, warn: () => {} }
  const front = createWebSocketFront({ ...environment, host, log, port: 0, limits, ...init })
  const { url, port } = await front.listen()
  const stop = async (): Promise<void> => {
    await front.close()
    await host.stop()
  }
  return { host, url, port, stop }
}

type Steps = Parameters<typeof createScriptedModel>[0]['steps']

/** An agent whose model plays these steps, on a server that stops when the test ends. */
export async function serve(steps: Steps, tools: readonly Tool[] = [], port = 0) {
  const model = createScriptedModel({ steps, timers: environment.timers })
  const agent = defineAgent({ name: 'a', model, tools: [...tools] })
  const server = await serveAgent({ agent, store: createMemoryStore(), front: { port } })
  onTestFinished(() => server.stop())
  return { ...server, model }
}

/** A client that reconnects at once, and is closed when the test ends. */
export function open(options: OpenSessionOptions): SessionClient {
  const client = openSession({ reconnect: { baseMs: 1, mostMs: 10 }, ...options })
  onTestFinished(() => client.close())
  return client
}

export interface CuttableWorld {
  readonly world: World
  /** Frames of both sides so far. */
  readonly frames: () => number
  /** Connections so far. */
  readonly connections: () => number
  /** Breaks the open connection; the client only gets its close event. */
  readonly cut: (code?: number) => void
  /** Breaks it after this many frames in total: the last of them has arrived. */
  readonly cutAfter: (frames: number) => void
  /** Whether new connections are refused. */
  readonly setOffline: (isOffline: boolean) => void
}

export function createCuttableWorld(base: World = platformWorld()): CuttableWorld {
  let frames = 0
  let connections = 0
  let limit = Infinity
  let isOffline = false
  let current: { readonly cut: (code: number) => void } | undefined
  const count = (): void => {
    frames += 1
    if (frames < limit) return
    limit = Infinity
    current?.cut(1006)
  }
  const openSocket = (url: string, protocol?: string): WebSocketLike => {
    const near: WebSocketLike = {
      send: () => {},
      close: () => {},
      onopen: null,
      onmessage: null,
      onclose: null,
      onerror: null,
    }
    if (isOffline) {
      setImmediate(() => near.onclose?.({ code: 1006 } as never)) // the part of a browser's event that is read
      return near
    }
    connections += 1
    const far = base.openSocket(url, protocol)
    let isCut = false
    const cut = (code: number): void => {
      if (isCut) return
      isCut = true
      far.close()
      // A client gets it after the preceding frame.
      setImmediate(() => near.onclose?.({ code } as never))
    }
    current = { cut }
    near.send = (text) => {
      if (isCut) return
      far.send(text)
      count()
    }
    near.close = (code, reason) => far.close(code, reason)
    far.onopen = (event: never) => {
      if (!isCut) near.onopen?.(event)
    }
    far.onmessage = (event: never) => {
      if (isCut) return
      near.onmessage?.(event)
      count()
    }
    far.onclose = (event: never) => {
      if (!isCut) near.onclose?.(event)
    }
    far.onerror = () => {}
    return near
  }
  return {
    world: { ...base, openSocket },
    frames: () => frames,
    connections: () => connections,
    cut: (code = 1006) => current?.cut(code),
    cutAfter: (after) => {
      limit = after
    },
    setOffline: (offline) => {
      isOffline = offline
    },
  }
}

/** Resolves when the snapshot matches. */
export function until<A extends Agent>(
  client: SessionClient<A>,
  fits: (snapshot: SessionSnapshot) => boolean,
): Promise<SessionSnapshot> {
  return new Promise((resolve) => {
    const look = (): void => {
      const snapshot = client.getSnapshot() as SessionSnapshot // calls of any agent
      if (!fits(snapshot)) return
      off()
      resolve(snapshot)
    }
    const off = client.subscribe(look)
    look()
  })
}

/** Collects a client's events as they arrive. */
export function noteEvents(client: SessionClient): readonly SessionEvent[] {
  const events: SessionEvent[] = []
  client.on('event', (event) => void events.push(event))
  return events
}
