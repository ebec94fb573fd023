// A front on a free port and apps that talk to it over real connections, for tests.
import type { Agent, Model, Store } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { ClientOptions } from 'ws'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import type { WebSocketServerOptions } from './connection-options.ts'
import { createWebSocketFront } from './server.ts'

export const environment = createNodeEnvironment({
  post: () => Promise.reject(new Error('no network in this test')),
})

interface ServerParts extends Partial<WebSocketServerOptions> {
  readonly agent?: Agent
  readonly store?: Store
}

export async function startServer({ agent, store, host: ownHost, ...options }: ServerParts = {}) {
  const logged: string[] = []
  const note = (message: string, data: object = {}): void => void logged.push(`${message} ${JSON.stringify(data)}`)
  const host = createHost({ environment, agent: agent ?? createAgent(greeter()), ...(store && { store }) })
  const log = { info: note, warn: note }
  const front = createWebSocketFront(ownHost ?? host, { ...environment, log, port: 0, ...options })
  const { url, port } = await front.listen()
  const stop = async (): Promise<void> => {
    await front.close()
    await host.stop()
  }
  return { front, host, url, port, logged, stop }
}

/** Stopped when the test has ended. */
export async function startForTest(init: ServerParts = {}) {
  const server = await startServer(init)
  onTestFinished(() => server.stop())
  return server
}

export function createAgent(model: Model, more: Partial<Parameters<typeof defineAgent>[0]> = {}): Agent {
  return defineAgent({ name: 'a', model, ...more })
}

function greeter(): Model {
  return createScriptedModel({ steps: () => ({ text: 'Good morning.' }) })
}

export interface Told {
  readonly type: string
  readonly sessionId: string
  readonly payload: Readonly<Record<string, string>>
}

/** Connects and starts the session. */
export async function connectApp(url: string, options: ClientOptions & { readonly session?: string } = {}) {
  const { session = 's', ...others } = options
  const socket = new WebSocket(url, others)
  const frames: Told[] = []
  let wake = (): void => {}
  let sent = 0
  socket.on('message', (data: Buffer) => {
    // The server's frames are JSON envelopes.
    frames.push(JSON.parse(data.toString()) as Told)
    wake()
  })
  await once(socket, 'open')
  const ended = once(socket, 'close') as Promise<[number, Buffer]> // as documented by `ws`
  const send = (type: string, payload: object): void => {
    const timestamp = '2026-01-01T00:00:00Z'
    socket.send(JSON.stringify({ id: `${session}-${++sent}`, type, sessionId: session, timestamp, payload }))
  }
  const until = async (isLast: (frame: Told) => boolean): Promise<Told> => {
    for (;;) {
      const found = frames.find(isLast)
      if (found) return found
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  send('session.start', { sessionId: session })
  await until(({ type }) => type === 'session.started' || type === 'error')
  return { socket, frames, send, until, ended }
}

/** The status and body with which a connection was refused. */
export async function refusedWith(url: string, options: ClientOptions = {}) {
  const socket = new WebSocket(url, options)
  socket.on('error', () => {})
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  let body = ''
  for await (const piece of response) body += String(piece)
  socket.terminate()
  return { status: response.statusCode, headers: response.headers, body }
}
