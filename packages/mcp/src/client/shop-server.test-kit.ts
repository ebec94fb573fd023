// A scripted 2025-11-25 MCP server over HTTP, in this process: a shop with two tools, one of which runs as a task. It
// counts what it reads.
import type { JsonObject } from '@baton/core'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string; readonly cursor?: string; readonly _meta?: JsonObject }
}

export interface Shop {
  /**
   * Whether the server forgets its sessions before it reads this call; `printed` resolves once a task has been written.
   */
  readonly forgets?: (tool: string, asked: number, printed: Promise<void>) => boolean | Promise<boolean>
  /** The error or status that answers one poll of a task's state. */
  readonly poll?: { readonly status?: number; readonly error?: JsonObject }
  /**
   * The tools of each list, by number of requests, or a whole page. Default: `pay` and `print`. `undefined`: the list
   * fails.
   */
  readonly lists?: (asked: number, cursor: string | undefined) => Listed | Promise<Listed>
  /** Progress notes sent before the answer to a call. */
  readonly notes?: readonly number[]
  /** Holds back a note. */
  readonly pauses?: (note: number) => Promise<void> | undefined
  /** Holds back the answer to a call. */
  readonly answers?: (tool: string, asked: number) => Promise<void>
}

type Listed = readonly object[] | { readonly tools: readonly object[]; readonly nextCursor?: string } | undefined

const SCHEMA = { type: 'object' }
export const PAY = { name: 'pay', inputSchema: SCHEMA }
const TOOLS = [PAY, { name: 'print', inputSchema: SCHEMA, execution: { taskSupport: 'required' } }]
const CAPABILITIES = { tools: { listChanged: true }, tasks: { requests: { tools: { call: {} } } } }
const TASK = { taskId: 'task', status: 'working', createdAt: '', lastUpdatedAt: '', ttl: null, pollInterval: 100 }

export async function startShop({ forgets, poll, lists = () => TOOLS, answers, notes = [], pauses }: Shop) {
  const sessions = new Set<string>()
  const asked: Record<string, number> = { pay: 0, print: 0 }
  const read: Record<string, number> = { pay: 0, print: 0 }
  const counts = { begun: 0, polled: 0, listed: 0 }
  /** Idempotency keys of the calls that it read. */
  const keys: unknown[] = []
  const printed = Promise.withResolvers<void>()
  /** Streams for notifications. */
  const streams = new Set<ServerResponse>()
  const take = async (text: string, session: string, response: ServerResponse): Promise<void> => {
    const { id, method, params } = JSON.parse(text) as Message
    const tell = (told: object): void => {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `session-${counts.begun}` })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...told }))
    }
    if (method === 'initialize') {
      counts.begun += 1
      sessions.add(`session-${counts.begun}`)
      const serverInfo = { name: 'shop', version: '1' }
      return tell({ result: { protocolVersion: '2025-11-25', capabilities: CAPABILITIES, serverInfo } })
    }
    const name = params?.name ?? ''
    if (method === 'tools/call') {
      asked[name] = (asked[name] ?? 0) + 1
      if (await forgets?.(name, asked[name], printed.promise)) sessions.clear()
    }
    if (!sessions.has(session)) return void response.writeHead(404).end()
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'tools/list') {
      const tools = await lists((counts.listed += 1), params?.cursor)
      if (!tools) return tell({ error: { code: -32_000, message: 'no list today' } })
      return tell({ result: 'tools' in tools ? tools : { tools } })
    }
    if (method === 'tools/call') {
      read[name] = (read[name] ?? 0) + 1
      if (name === 'print') response.once('finish', () => printed.resolve())
      keys.push(params?._meta?.['baton/idempotencyKey'])
      await answers?.(name, read[name])
      if (notes.length > 0)
        return await tellNotes(response, { id, token: params?._meta?.['progressToken'], notes, pauses })
      return tell({ result: name === 'print' ? { task: TASK } : { content: [{ type: 'text', text: 'paid' }] } })
    }
    if (method === 'tasks/result') return tell({ result: { content: [{ type: 'text', text: 'printed' }] } })
    counts.polled += 1
    if (poll?.error && counts.polled === 1) return tell({ error: poll.error })
    if (poll?.status !== undefined && counts.polled === 1) return void response.writeHead(poll.status).end()
    return tell({ result: { ...TASK, status: 'completed' } })
  }
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      streams.add(response)
      return
    }
    if (request.method !== 'POST') return void response.writeHead(405).end()
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => void take(text, String(request.headers['mcp-session-id']), response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    read,
    counts,
    keys,
    /** Announces over each connection that the tools have changed. */
    change: () => {
      const message = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
      for (const stream of streams) stream.write(`data: ${message}\n\n`)
      return streams.size
    },
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

interface Notes {
  readonly id: number
  readonly token: unknown
  readonly notes: readonly number[]
  readonly pauses: Shop['pauses'] | undefined
}

/** Answers a call over an event stream, after its notes. */
async function tellNotes(response: ServerResponse, { id, token, notes, pauses }: Notes): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const say = (message: object): void =>
    void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`)
  for (const progress of notes) {
    await pauses?.(progress)
    say({ method: 'notifications/progress', params: { progressToken: token, progress } })
  }
  say({ id, result: { content: [{ type: 'text', text: 'paid' }] } })
  response.end()
}
