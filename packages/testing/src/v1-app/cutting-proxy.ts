// A WebSocket proxy that cuts the connection at given frames, counted in both directions across all its connections.
// The frame at the cut is lost: either an answer that never arrives, or a request that never does.
import type { IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

export interface CuttingProxy {
  readonly url: string
  /** Number of frames so far. */
  readonly frames: () => number
  /** Number of cut connections. */
  readonly cuts: () => number
  /** Sets the target of future connections. */
  lead(target: string): void
  close(): Promise<void>
}

export interface CuttingProxyOptions {
  /** For example `ws://127.0.0.1:8080/ws`. */
  readonly target: string
  readonly protocol: string
  /** Numbers of the lost frames, from 1, ascending. */
  readonly cutAt: readonly number[]
  /** Called with the number of each frame before it is forwarded. */
  readonly onFrame?: (frame: number) => void
}

export async function startCuttingProxy(init: CuttingProxyOptions): Promise<CuttingProxy> {
  const { target, protocol, cutAt, onFrame } = init
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => protocol })
  await once(server, 'listening')
  let frames = 0
  let cuts = 0
  let leadsTo = target
  server.on('connection', (app: WebSocket, _request: IncomingMessage) => {
    const upstream = new WebSocket(leadsTo, protocol)
    const early: string[] = []
    const cut = (): void => {
      app.terminate()
      upstream.terminate()
    }
    const pass = (to: WebSocket, text: string): void => {
      frames += 1
      onFrame?.(frames)
      if (frames === cutAt[cuts]) {
        cuts += 1
        cut()
      } else if (to === upstream && upstream.readyState === WebSocket.CONNECTING) early.push(text)
      else to.send(text)
    }
    upstream.on('open', () => early.forEach((text) => upstream.send(text)))
    app.on('message', (data: Buffer) => pass(upstream, data.toString()))
    upstream.on('message', (data: Buffer) => pass(app, data.toString()))
    for (const socket of [app, upstream]) {
      socket.on('error', cut)
      socket.on('close', cut)
    }
  })
  const { port } = server.address() as AddressInfo // it listens on TCP
  return {
    url: `ws://127.0.0.1:${port}/ws`,
    frames: () => frames,
    cuts: () => cuts,
    lead: (next) => {
      leadsTo = next
    },
    close: async () => {
      for (const client of server.clients) client.terminate()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
