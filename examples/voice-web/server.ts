// `npm run example voice`: the page and its server on one port, over version 2 of the protocol.
import type { Agent, Environment } from '@baton/host'
import { createHost } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { readFileSync } from 'node:fs'
import { bundlePage } from '../chat-web/server.ts'

export interface StartedVoice {
  readonly url: string
  readonly stop: () => Promise<void>
}

export interface VoiceServerOptions {
  readonly port?: number
  readonly environment?: Environment
  /** Script of the page; built by default, which takes a moment. */
  readonly pageProgram?: string
}

export async function startVoiceServer(agent: Agent, options: VoiceServerOptions = {}): Promise<StartedVoice> {
  const { port = 0, environment, pageProgram = await bundleVoicePage() } = options
  const host = createHost({ agent, ...(environment && { environment }) })
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '/': ['text/html; charset=utf-8', readFileSync(new URL('index.html', import.meta.url), 'utf8')],
    '/base.css': ['text/css', readFileSync(new URL('../chat-web/page.css', import.meta.url), 'utf8')],
    '/page.css': ['text/css', readFileSync(new URL('page.css', import.meta.url), 'utf8')],
    '/page.js': ['text/javascript', pageProgram],
  }
  const front = createWebSocketFront(host, {
    port,
    requests: ({ url = '/' }, response) => {
      const [type, text] = files[url.split('?', 1)[0] ?? '/'] ?? []
      response.writeHead(text === undefined ? 404 : 200, { 'content-type': type ?? 'text/plain' })
      response.end(text ?? 'Not found.\n')
    },
  })
  const { port: bound } = await front.listen()
  const stop = async (): Promise<void> => {
    await front.close()
    await host.stop()
  }
  return { url: `http://127.0.0.1:${bound}/`, stop }
}

export function bundleVoicePage(): Promise<string> {
  return bundlePage(new URL('page.tsx', import.meta.url))
}
