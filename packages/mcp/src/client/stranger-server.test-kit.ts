// An MCP server that answers like servers in other languages, without an SDK. Arguments: `stdio` or `http`, then a
// mode. It has a tool for each kind of `stranger-kinds.test-kit.ts`, and a few others.
import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { KINDS } from './stranger-kinds.test-kit.ts'

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly name?: string; readonly protocolVersion?: string }
  readonly error?: { readonly code: number }
}

const [, , place, mode = 'plain'] = process.argv
const SCHEMA = { type: 'object', properties: { q: { type: 'string' } } }
const NOTHING = {
  description: null,
  title: null,
  annotations: null,
  icons: null,
  outputSchema: null,
  execution: null,
  _meta: null,
}

function listTools(): object {
  const tools = [
    ...[...KINDS.keys(), 'plain', 'asks'].map((name) => ({ name, inputSchema: SCHEMA, ...NOTHING })),
    { name: 'no-schema', inputSchema: null, annotations: { readOnlyHint: 'yes', destructiveHint: null } },
    { name: 'lies', inputSchema: SCHEMA, outputSchema: { properties: { n: { type: 'number' } }, required: ['n'] } },
    { name: 'unstructured', inputSchema: SCHEMA, outputSchema: { type: 'object', properties: null } },
  ]
  return { tools, nextCursor: mode === 'cursor' ? '' : null, _meta: null }
}

function welcome(): object {
  const right = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
  switch (mode) {
    case 'version':
      return { ...right, protocolVersion: '2023-01-01' }
    case 'picky':
      return { ...right, protocolVersion: '2025-03-26' }
    case 'no-capabilities':
      return { protocolVersion: '2025-06-18', serverInfo: null, instructions: null }
    case 'null-capabilities':
      return {
        ...right,
        capabilities: { tools: null, resources: null, prompts: { listChanged: null }, logging: null },
        serverInfo: { name: 's', version: null },
      }
    default:
      return right
  }
}

const text = (words: string): object => ({ content: [{ type: 'text', text: words }] })

/** The text of an answer, or `undefined` if there is none. */
function answer({ id, method, params }: Message, asked?: number): string | undefined {
  const ok = (result: object): string => JSON.stringify({ jsonrpc: '2.0', id, result })
  if (method === 'initialize' && mode === 'picky' && params?.protocolVersion !== '2025-03-26') {
    const error = { code: -32_602, message: 'Unsupported version', data: { supported: ['2024-11-05', '2025-03-26'] } }
    return JSON.stringify({ jsonrpc: '2.0', id, error })
  }
  if (method === 'initialize') return ok(welcome())
  if (method === 'tools/list') return ok(listTools())
  if (method === 'server/discover' && mode === 'modern')
    return ok({ supportedVersions: ['2026-07-28'], capabilities: { tools: null }, instructions: null })
  if (method !== 'tools/call')
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } })
  const { name = '' } = params ?? {}
  if (name === 'asks') return ok(text(`got ${asked}`))
  if (name === 'lies') return ok({ ...text('it is done'), structuredContent: { n: 'no number' } })
  const wrote = KINDS.get(name)?.wrote(Number(id)) ?? JSON.parse(ok(text(name)))
  return typeof wrote === 'string' ? wrote : JSON.stringify(wrote)
}

const QUESTION = { jsonrpc: '2.0', id: 'x1', method: 'foo/bar', params: null }

function serveProcess(): void {
  const end = mode === 'crlf' ? '\r\n' : mode === 'no-newline' ? '' : '\n'
  const write = (line: string): void => {
    process.stdout.write(mode === 'prompt' ? `server> ${line}${end}` : line + end)
  }
  if (mode === 'bom') process.stdout.write('\ufeff')
  if (mode === 'noise')
    process.stdout.write('╭─ Server 2.0 ─╮\n[INFO] starting {"not":"rpc"}\n{ "level": "info" }\n{unfinished\n\n')
  let waiting: Message | undefined
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line) as Message
    if (message.method === undefined && waiting) return write(answer(waiting, message.error?.code) ?? '')
    if (message.id === undefined || message.method === undefined) return undefined
    if (mode === 'noise') process.stdout.write(`listing {…}\nplain text\n`)
    if (message.method !== 'tools/call') return write(answer(message) ?? '')
    if (message.params?.name === 'asks') {
      waiting = message
      return write(JSON.stringify(QUESTION))
    }
    switch (mode) {
      case 'exits':
        return process.exit(3)
      case 'is-killed':
        return void process.kill(process.pid, 'SIGKILL')
      case 'closes':
        return closeSync(1)
      case 'leaves-a-child':
        spawn(process.execPath, ['-e', 'setTimeout(() => {}, 5_000)'], { stdio: ['ignore', 1, 'ignore'] }).unref()
        return process.exit(3)
      case 'cut':
        process.stdout.write('{"jsonrpc":"2.0","id":')
        return process.exit(0)
      default:
        return write(answer(message) ?? '')
    }
  })
  process.stdin.on('end', () => process.exit(0))
}

let sessions = 0
let calls = 0
const seen: string[] = []

async function serveRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET') return listen(request, response)
  if (request.method !== 'POST') return void response.writeHead(405).end()
  if (mode === 'redirects' && request.url === '/mcp') return void response.writeHead(307, { location: '/moved' }).end()
  let body = ''
  for await (const chunk of request) body += String(chunk)
  const message = JSON.parse(body) as Message
  if (message.method === 'initialize') sessions += 1
  if (message.id === undefined || message.method === undefined)
    return void (mode === 'receipts'
      ? response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      : response.writeHead(202).end())
  if (message.method === 'server/discover' && mode === 'unknown-is-500')
    return void response.writeHead(500).end('KeyError')
  const written = answer(message) ?? ''
  const isCall = message.method === 'tools/call'
  if (isCall) calls += 1
  const session = { 'mcp-session-id': mode === 'session-changes' ? `s${calls}-${sessions}` : `s${sessions}` }
  if (isCall && mode === 'session-changes') {
    const given = String(request.headers['mcp-session-id'])
    seen.push(given)
    if (given !== `s${calls - 1}-${sessions}`) return void response.writeHead(404).end()
  }
  if (isCall && mode === 'forgets' && sessions === 1)
    return void response
      .writeHead(400)
      .end('{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID"},"id":null}')
  if (isCall && breakOff(response, written)) return
  const { status = 200, type, body: framed } = FRAMES[mode]?.(written) ?? { type: 'application/json', body: written }
  response.writeHead(status, { ...session, ...(type !== undefined && { 'content-type': type }) }).end(framed)
}

/** Handles a call that is not answered. */
function breakOff(response: ServerResponse, written: string): boolean {
  switch (mode) {
    case 'resets':
      response.socket?.resetAndDestroy()
      return true
    case 'dies':
      process.exit(1)
      return true
    case 'cut-json':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '4000' })
      response.write(written.slice(0, 20), () => response.socket?.destroy())
      return true
    case 'cut-events':
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${written.slice(0, 20)}`, () => response.socket?.destroy())
      return true
    case 'ends':
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': bye\n\n')
      return true
    case 'says-html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Down</p>')
      return true
    case 'says-nothing':
      response.writeHead(200, { 'content-type': 'application/json' }).end()
      return true
    case 'resumes':
      resumed = written
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('retry: 10\nid: e1\ndata:\n\n')
      return true
    default:
      return false
  }
}

let resumed: string | undefined

interface Frame {
  readonly status?: number
  readonly type?: string
  readonly body: string
}
const events = (written: string): string =>
  written
    .split('\n')
    .map((line) => `data: ${line}\n`)
    .join('') + '\n'

const FRAMES: Readonly<Record<string, (written: string) => Frame>> = {
  'plain-text': (written) => ({ type: 'text/plain', body: written }),
  'no-type': (written) => ({ body: written }),
  charset: (written) => ({ type: 'Application/JSON; charset=utf-8', body: `\ufeff${written}` }),
  'json-as-events': (written) => ({ type: 'text/event-stream', body: written }),
  'events-as-json': (written) => ({ type: 'application/json', body: events(written) }),
  events: (written) => ({ type: 'text/event-stream; charset=utf-8', body: events(written) }),
  'odd-events': (written) => ({
    type: 'text/event-stream',
    body: `\ufeff: hello\r\n\r\nevent:response\r\ndata:${written.replaceAll('\n', '\r\ndata:')}\r\n\r\n`,
  }),
  'unended-events': (written) => ({ type: 'text/event-stream', body: `data: ${written.replaceAll('\n', '\ndata: ')}` }),
  'wrong-id': (written) => ({ type: 'application/json', body: written.replace(/"id":\d+/, '"id":777') }),
  accepted: (written) => ({ status: 202, type: 'application/json', body: written }),
  created: (written) => ({ status: 201, type: 'application/json', body: written }),
  'status-500': (written) => ({ status: 500, type: 'application/json', body: written }),
}

function listen(request: IncomingMessage, response: ServerResponse): void {
  if (mode === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>MCP</p>')
  if (resumed === undefined || request.headers['last-event-id'] !== 'e1') return void response.writeHead(405).end()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`id: e2\ndata: ${resumed}\n\n`)
}

/** The transport of 2024-11-05: a stream, and an address for messages. */
function serveOlder(request: IncomingMessage, response: ServerResponse): void {
  if (request.method === 'GET') {
    stream = response
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('event: endpoint\ndata: /post\n\n')
    return
  }
  if (request.url !== '/post') return void response.writeHead(404).end()
  let body = ''
  request.on('data', (chunk) => (body += String(chunk)))
  request.on('end', () => {
    const message = JSON.parse(body) as Message
    const isRequest = message.id !== undefined && message.method !== undefined
    const hasAnswer = isRequest && (mode === 'older-both' || mode === 'older-body')
    response.writeHead(202).end(hasAnswer ? answer(message) : 'Accepted')
    if (!isRequest || mode === 'older-body') return
    if (message.method === 'tools/call' && mode === 'older-dies') process.exit(1)
    if (message.method === 'tools/call' && mode === 'older-breaks') return void stream?.destroy()
    stream?.write(events(answer(message) ?? ''))
  })
}

let stream: ServerResponse | undefined

if (place === 'http') {
  const server = createServer((request, response) => {
    if (mode.startsWith('older')) serveOlder(request, response)
    else void serveRequest(request, response)
  })
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
  process.stdin.on('end', () => process.exit(0))
  process.stdin.resume()
} else serveProcess()
