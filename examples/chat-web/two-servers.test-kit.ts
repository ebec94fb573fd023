// Two processes that serve the chat page over one PostgreSQL store, behind a proxy. The proxy sends consecutive
// requests of a chat to different servers, or to the surviving one.
import { findFreePort } from '@baton/testing/free-port'
import type { PostgresServer } from '@baton/testing/postgres'
import { startCommand } from '@baton/testing/start-command'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { JourneyWords } from './journey-server.test-kit.ts'

const SERVER = join(import.meta.dirname, 'journey-server.test-kit.ts')

type More = Pick<JourneyWords, 'stopAt' | 'plan' | 'pageMs'>

export async function startTwoServers(postgres: PostgresServer, pageProgram: string, more: More) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-two-chats-'))
  const pageFile = join(folder, 'page.js')
  writeFileSync(pageFile, pageProgram)
  const store = postgres.createDatabase()
  const ports = [await findFreePort(), await findFreePort()]
  const servers = ports.map((port) => {
    const words: JourneyWords = { folder, port, pageFile, postgres: store, ...more }
    return startCommand(process.execPath, {
      words: ['--conditions=@baton/source', '--no-warnings', SERVER, JSON.stringify(words)],
    })
  })
  for (const server of servers) await server.untilLine((line) => line === 'listening')
  const proxy = await startSwitch(ports)
  const stop = async (): Promise<void> => {
    for (const server of servers) server.kill('SIGKILL')
    for (const { ended } of servers) await ended
    await proxy.stop()
    rmSync(folder, { recursive: true })
  }
  return {
    port: proxy.port,
    /** Resolves when the turn has reached its stopping point. */
    reached: () => Promise.race(servers.map(({ untilLine }) => untilLine((line) => line === 'it is there'))),
    goOn: () => writeFileSync(join(folder, 'go-on'), ''),
    countPassedOn: () =>
      servers.reduce((sum, server) => sum + server.output().split('a request was passed on').length - 1, 0),
    /** Resolves when a server has killed itself. */
    killed: () => Promise.race(servers.map(({ ended }) => ended)),
    readEffects: (): readonly string[] => readFileSync(join(folder, 'effects.txt'), 'utf8').trim().split('\n'),
    stop,
  }
}

interface Switch {
  readonly port: number
  stop(): Promise<void>
}

async function startSwitch(ports: readonly number[]): Promise<Switch> {
  let asked = 0
  /** Ports in order of preference. */
  const choose = ({ url = '' }: IncomingMessage): readonly number[] => {
    if (url.startsWith('/api/chat')) asked += 1
    return [...ports, ...ports].slice(asked % ports.length).slice(0, ports.length)
  }
  const server = createServer((incoming, outgoing) => {
    const pieces: Uint8Array[] = []
    incoming.on('data', (piece: Uint8Array) => pieces.push(piece)).on('error', () => outgoing.destroy())
    incoming.once('end', () => passOn(choose(incoming), incoming, { outgoing, body: Buffer.concat(pieces) }))
  })
  server.on('upgrade', (incoming, stream, head) => joinSockets(choose(incoming), incoming, { stream, head }))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { port: (server.address() as AddressInfo).port, stop } // it listens on a port
}

interface Exchange {
  readonly outgoing: ServerResponse
  readonly body: Uint8Array
}

function passOn([port, ...others]: readonly number[], incoming: IncomingMessage, exchange: Exchange): void {
  const { outgoing, body } = exchange
  if (port === undefined) {
    outgoing.destroy()
    return
  }
  const { method = 'GET', url = '/', headers } = incoming
  const asked: ClientRequest = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false })
  outgoing.on('close', () => asked.destroy())
  asked.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ECONNREFUSED') passOn(others, incoming, exchange)
    else outgoing.destroy()
  })
  asked.once('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders()
    answer.on('error', () => outgoing.destroy()).pipe(outgoing)
  })
  asked.end(body)
}

interface Upgrade {
  readonly stream: Duplex
  readonly head: Uint8Array
}

/** A WebSocket is one request. */
function joinSockets([port, ...others]: readonly number[], incoming: IncomingMessage, upgrade: Upgrade): void {
  const { stream, head } = upgrade
  if (port === undefined) {
    stream.destroy()
    return
  }
  const upstream = connect(port, '127.0.0.1')
  let isConnected = false
  stream.on('error', () => stream.destroy()).on('close', () => upstream.destroy())
  upstream.on('error', () => (isConnected ? stream.destroy() : joinSockets(others, incoming, upgrade)))
  upstream.once('connect', () => {
    isConnected = true
    upstream.on('close', () => stream.destroy())
    const lines = incoming.rawHeaders.flatMap((name, index) =>
      index % 2 === 0 ? [`${name}: ${incoming.rawHeaders[index + 1]}`] : [],
    )
    upstream.write(`${[`GET ${incoming.url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`)
    upstream.write(head)
    upstream.pipe(stream).pipe(upstream)
  })
}
