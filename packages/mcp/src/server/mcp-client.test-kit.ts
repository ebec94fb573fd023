// An agent behind the handler, and stock MCP SDK clients that reach it without a network, at either revision.
import type { Agent, Host, JsonObject } from '@baton/core'
import type { Timers } from '@baton/core/internal'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import type { Tool } from '@baton/host'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { McpHandler } from './http.ts'
import type { McpHttpOptions } from './index.ts'
import { createMcpHandler } from './index.ts'

export const ADDRESS = 'http://localhost/mcp'
export const ERAS = ['2025-11-25', '2026-07-28'] as const
export type Era = (typeof ERAS)[number]

export interface Served {
  readonly host: Host
  readonly agent: Agent
  readonly handler: McpHandler
  readonly connect: (era: Era, client?: TestClientOptions) => Promise<Client>
  readonly end: () => Promise<void>
}

export interface TestClientOptions {
  /** Sent as a bearer token. */
  readonly token?: string
  /** Answers the server's questions; without it the client cannot be asked. */
  readonly elicit?: (message: string, schema: JsonObject) => object | Promise<object>
  readonly fetch?: (request: Request) => Promise<Response>
}

export function serveTools(tools: readonly Tool[], options: Partial<McpHttpOptions> = {}): Served {
  const model = createScriptedModel({ steps: ({ messages }) => ({ text: `I read ${messages.length} messages.` }) })
  return serveAgent(defineAgent({ name: 'shop', model, tools }), options)
}

export function serveAgent(
  agent: Agent,
  options: Partial<McpHttpOptions> = {},
  host: Host = createHost({ agent }),
): Served {
  const handler = createMcpHandler(host, { agent, ...options })
  const clients: Client[] = []
  const connect = async (era: Era, init: TestClientOptions = {}): Promise<Client> => {
    const client = await connectClient(handler, era, init)
    clients.push(client)
    return client
  }
  const end = async (): Promise<void> => {
    for (const client of clients) await client.close()
    await handler.close()
    await host.stop()
  }
  return { host, agent, handler, connect, end }
}

/** Timers that run when the test says so. */
export function createHandTimers(): { readonly timers: Timers; readonly pass: (ms: number) => void } {
  const waits = new Map<symbol, { readonly atMs: number; readonly callback: () => void }>()
  let nowMs = 0
  const timers: Timers = {
    start: (delayMs, callback) => {
      const key = Symbol('wait')
      waits.set(key, { atMs: nowMs + delayMs, callback })
      return () => void waits.delete(key)
    },
  }
  const pass = (ms: number): void => {
    nowMs += ms
    for (const [key, { atMs, callback }] of waits)
      if (atMs <= nowMs) {
        waits.delete(key)
        callback()
      }
  }
  return { timers, pass }
}

/** Uses each bearer token as the principal's id. */
export const byToken: NonNullable<McpHttpOptions['authenticate']> = ({ headers }) => {
  const id = headers.get('authorization')?.replace('Bearer ', '')
  return id === undefined ? undefined : { id }
}

async function connectClient(
  handler: McpHandler,
  era: Era,
  { token, elicit, fetch = handler }: TestClientOptions,
): Promise<Client> {
  const isModern = era === '2026-07-28'
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    {
      capabilities: elicit ? { elicitation: { form: {} } } : {},
      versionNegotiation: { mode: isModern ? { pin: '2026-07-28' } : 'legacy' },
    },
  )
  if (elicit)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const schema = 'requestedSchema' in params ? (params.requestedSchema as JsonObject) : {} // parsed from JSON
      return (await elicit(params.message, schema)) as { action: 'accept' } // the test gives a valid answer
    })
  const transport = new StreamableHTTPClientTransport(new URL(ADDRESS), {
    ...(token !== undefined && { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
    fetch: (url, init) => fetch(new Request(url, init)),
  })
  await client.connect(transport)
  return client
}

/** The text of a result, after `error: ` if it is one. */
export function tell(result: { readonly content?: unknown; readonly isError?: unknown }): string {
  const [part] = (result.content ?? []) as readonly { readonly text?: string; readonly type: string }[]
  return `${result.isError === true ? 'error: ' : ''}${part?.text ?? part?.type ?? ''}`
}
