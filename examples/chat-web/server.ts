// `npm run example chat`: the page and its server on one port. With a key in the environment a real model answers.
import type { Agent } from '@baton/host'
import { createHost } from '@baton/host'
import { createHandler, createNodeListener } from '@baton/server/http'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

export interface Started {
  readonly url: string
  readonly stop: () => Promise<void>
}

export interface ChatOptions {
  /** Of an agent that names none. */
  readonly defaultModel?: string
  readonly port?: number
}

export async function startChat(agent: Agent, { port = 0, ...options }: ChatOptions = {}): Promise<Started> {
  const host = createHost({ agent, ...options })
  const api = createNodeListener(createHandler(host, { hosts: ['localhost', '127.0.0.1'] }))
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '/': ['text/html; charset=utf-8', readFileSync(new URL('index.html', import.meta.url), 'utf8')],
    '/page.css': ['text/css', readFileSync(new URL('page.css', import.meta.url), 'utf8')],
    '/page.js': ['text/javascript', await bundlePage()],
  }
  const server = createServer((request, response) => {
    const { url = '/' } = request
    if (url.startsWith('/api/')) {
      api(request, response)
      return
    }
    const [type, text] = files[url.split('?', 1)[0] ?? '/'] ?? []
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': type ?? 'text/plain' })
    response.end(text ?? 'There is nothing here.\n')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: bound } = server.address() as AddressInfo // it listens on a port
  const stop = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
    await host.stop()
  }
  return { url: `http://127.0.0.1:${bound}/`, stop }
}

async function bundlePage(): Promise<string> {
  const build = await rolldown({
    input: fileURLToPath(new URL('page.tsx', import.meta.url)),
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' }, jsx: 'react-jsx' },
    logLevel: 'silent',
  })
  const { output } = await build.generate({ format: 'esm', minify: true })
  await build.close()
  return output[0].code
}
