// `npm run example chat`: the page and its server on one port. With a key in the environment a real model answers.
import type { Agent, Host, Logger, Store } from '@baton/host'
import { createHost } from '@baton/host'
import type { HandlerOptions } from '@baton/server/http'
import { createChatSocket, createHandler, createNodeListener } from '@baton/server/http'
import { createWebSocketFront } from '@baton/server/websocket'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

export interface Started {
  readonly url: string
  readonly port: number
  readonly stop: () => Promise<void>
}

export interface ChatOptions {
  /** Model for agents that name none. */
  readonly defaultModel?: string
  readonly port?: number
  /** In memory by default. Interrupted sessions in it continue at once. */
  readonly store?: Store
  /** Other servers over the same store. */
  readonly peers?: NonNullable<HandlerOptions['peers']>
  /** Logs what is forwarded to peers, and what fails. */
  readonly log?: Logger
  /** The page's program; built by default, which takes a moment. */
  readonly pageProgram?: string
  /** Services for the agent's tools. */
  readonly services?: unknown
  /** Settings that a page may choose for a turn; none by default. */
  readonly allow?: NonNullable<HandlerOptions['allow']>
}

export async function startChat(
  agent: Agent,
  { port = 0, peers, log, pageProgram, allow, ...options }: ChatOptions = {},
): Promise<Started> {
  const host = createHost({ agent, ...options, ...(peers && { address: peers.address }) })
  const served = await serveChat(host, {
    port,
    ...(peers && { peers }),
    ...(log && { log }),
    ...(pageProgram !== undefined && { pageProgram }),
    ...(allow && { allow }),
  })
  await host.recover(peers ? { everyMs: RECOVER_MS } : {})
  const stop = async (): Promise<void> => {
    await served.stop()
    await host.stop()
  }
  return { ...served, stop }
}

export interface ServeOptions extends Pick<ChatOptions, 'peers' | 'log' | 'pageProgram' | 'allow'> {
  readonly port: number
  /** Limits of requests; the handler's defaults if absent. */
  readonly limits?: NonNullable<HandlerOptions['limits']>
}

/** Serves the page over any host. The caller stops the host. */
export async function serveChat(
  host: Host,
  { port, peers, log, pageProgram, limits = {}, allow = {} }: ServeOptions,
): Promise<Started> {
  const shared = { allow, ...(peers && { peers }), ...(log && { log }) }
  const api = createNodeListener(createHandler(host, { limits, hosts: ['localhost', '127.0.0.1'], ...shared }))
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '/': ['text/html; charset=utf-8', readFileSync(new URL('index.html', import.meta.url), 'utf8')],
    '/page.css': ['text/css', readFileSync(new URL('page.css', import.meta.url), 'utf8')],
    '/page.js': ['text/javascript', pageProgram ?? (await bundlePage())],
  }
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { url = '/' } = request
    if (url.startsWith('/api/')) {
      api(request, response)
      return
    }
    const [type, text] = files[url.split('?', 1)[0] ?? '/'] ?? []
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': type ?? 'text/plain' })
    response.end(text ?? 'Not found.\n')
  }
  const chats = createChatSocket(host, { limits, ...shared })
  const front = createWebSocketFront(host, {
    port,
    chats,
    requests: answer,
    ...(peers && { peers }),
    ...(log && { log }),
  })
  const { port: bound } = await front.listen()
  return { url: `http://127.0.0.1:${bound}/`, port: bound, stop: () => front.close() }
}

/** Milliseconds between two checks for turns of a dead server. */
const RECOVER_MS = 1000

export async function bundlePage(page: URL = new URL('page.tsx', import.meta.url)): Promise<string> {
  const build = await rolldown({
    input: fileURLToPath(page),
    platform: 'browser',
    // In addition to `import` or `require`, which the bundler adds as needed: with `import` for all, CommonJS packages
    // break.
    resolve: { conditionNames: ['@baton/source', 'module', 'browser', 'default'] },
    transform: { define: { 'process.env.NODE_ENV': '"production"' }, jsx: 'react-jsx' },
    logLevel: 'silent',
  })
  const { output } = await build.generate({ format: 'esm', minify: true, codeSplitting: false })
  await build.close()
  return output[0].code
}
