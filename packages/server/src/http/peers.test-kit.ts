// Two servers over one store, with a host, a handler and a port each, and stand-ins for one of them.
import type { Agent, Store } from '@baton/core'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HandlerOptions } from './handler-parts.ts'
import { createHandler } from './handler.ts'
import { createNodeListener } from './node-listener.ts'

export const SECRET = 'a-secret-of-the-peers'

export interface PeerParts {
  readonly agent: Agent
  readonly store?: Store
  readonly secret?: string
  readonly handler?: HandlerOptions
}

export type StartedPeer = Awaited<ReturnType<typeof startPeer>>

/** A server over `store` that records its requests. */
export async function startPeer({ agent, store = createMemoryStore(), secret = SECRET, handler }: PeerParts) {
  const heard: IncomingMessage[] = []
  let answer: RequestListener = (_, response) => void response.writeHead(503).end()
  const server = createServer((request, response) => {
    heard.push(request)
    answer(request, response)
  })
  const port = await listen(server)
  const address = `ws://127.0.0.1:${port}`
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const host = createHost({ environment, agent, store, address })
  const logged: string[] = []
  const note = (message: string, data: object = {}): void => void logged.push(`${message} ${JSON.stringify(data)}`)
  const log = { info: note, warn: note }
  const options = { log, peers: { address, secret }, ...handler }
  const handle = createHandler(host, options)
  answer = createNodeListener(handle)
  const url = `http://127.0.0.1:${port}`
  const ask = (path: string, init: RequestInit = {}): Promise<Response> => fetch(`${url}${path}`, init)
  /** The body sent by `useChat`. */
  const say = (chat: string, text: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    postJson(ask, '/api/chat', createMessage(chat, text), headers)
  const stop = async (): Promise<void> => {
    await host.stop()
    server.closeAllConnections()
    server.close()
  }
  return { host, url, address, port, logged, heard, server, environment, options, ask, say, stop }
}

export function createMessage(chat: string, text: string): object {
  return { id: chat, messages: [{ id: `m-${text}`.slice(0, 40), role: 'user', parts: [{ type: 'text', text }] }] }
}

export function postJson(
  ask: (path: string, init: RequestInit) => Promise<Response>,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const all = { 'content-type': 'application/json', ...headers }
  return ask(path, { method: 'POST', headers: all, body: JSON.stringify(body) })
}

/** A stand-in for a peer. */
export async function startStranger(answer: RequestListener) {
  const server = createServer(answer)
  const port = await listen(server)
  const stop = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { address: `ws://127.0.0.1:${port}`, server, stop }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port // it listens on a port
}
