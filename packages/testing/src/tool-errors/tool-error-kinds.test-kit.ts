// Every kind of tool that Baton has an adapter for, with failing tools.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, Tool, ToolSource } from '@baton/core'
import { tool } from '@baton/core'
import { createMcpServers } from '@baton/mcp/client'
import { fromAiSdk } from '@baton/tools/ai-sdk'
import { effectTool, fromEffect } from '@baton/tools/effect'
import { fromOpenApi } from '@baton/tools/openapi'
import { workspaceTools } from '@baton/tools/workspace'
import { APICallError, tool as aiSdkTool } from 'ai'
import * as effect3 from 'effect'
import * as effect4 from 'effect4'
import { z } from 'zod'
import { findFreePort } from '../components/free-port.ts'
import type { McpMessage } from './failing-mcp-server.test-kit.ts'
import { answerMcp } from './failing-mcp-server.test-kit.ts'
import type { FailureExpected, FailureName } from './tool-errors-situations.ts'
import { FAILURE_NAMES, FAILURES, LARGE_CHARS, SECRET, STATUSES } from './tool-errors-situations.ts'

export interface FailingTools {
  readonly tools?: readonly Tool[]
  readonly sources?: readonly ToolSource[]
  close?(): Promise<void>
}

export interface ToolKind {
  readonly name: string
  /** Failures that this kind cannot have, and why. */
  readonly leftOut: Readonly<Partial<Record<FailureName, string>>>
  /** Set if another layer notices it first. */
  readonly instead?: Readonly<Partial<Record<FailureName, FailureExpected>>>
  /** The call that fails this way; by default the tool of that name, with an id. */
  readonly call?: (failure: FailureName) => readonly [name: string, input: JsonObject]
  open(): FailingTools | Promise<FailingTools>
}

const NO_JSON = 'a service writes JSON, or what is no JSON is garbled'
const NO_SERVICE = 'it asks no service'
const READS_ITSELF = 'it reads the answer of its service itself'
const WORDS = `for ${SECRET}`
const Input = z.object({ id: z.string() })
const Output = z.object({ count: z.number().int() })

/** Errors of an API client. */
type Refuse = (status: number) => Error

/** A tool of a program's own. Async, as such tools usually are. */
async function fail(failure: FailureName, refuse: Refuse, dead: string): Promise<unknown> {
  const status = STATUSES[failure]
  if (status !== undefined) throw refuse(status)
  if (failure === 'unreachable') return await fetch(dead)
  if (failure === 'own') throw new Error(`there is no order A-71 ${WORDS}`)
  if (failure === 'wrong') return { count: 'two' }
  if (failure === 'large') return 'x'.repeat(LARGE_CHARS)
  const cyclic: { self?: object } = {}
  cyclic.self = cyclic
  return cyclic
}

async function findDeadAddress(): Promise<string> {
  return `http://127.0.0.1:${await findFreePort()}/`
}

/** In the form that Octokit throws them. */
const createStatusError: Refuse = (status) => Object.assign(new Error(`answered ${status} ${WORDS}`), { status })

const plain: ToolKind = {
  name: 'tool()',
  leftOut: { garbled: READS_ITSELF },
  open: async () => {
    const dead = await findDeadAddress()
    return {
      tools: FAILURE_NAMES.map((name) =>
        tool({
          name,
          description: name,
          input: Input,
          ...(name === 'wrong' && { output: Output }),
          execute: async () => (await fail(name, createStatusError, dead)) as { count: number }, // wrong on purpose
        }),
      ),
    }
  },
}

const aiSdk: ToolKind = {
  name: 'AI SDK 7',
  leftOut: { garbled: READS_ITSELF, wrong: 'the AI SDK does not check what a tool returns' },
  open: async () => {
    const dead = await findDeadAddress()
    const refuse: Refuse = (statusCode) => {
      const about = { url: 'https://shop.example/', requestBodyValues: {}, statusCode }
      return new APICallError({ ...about, message: `answered ${statusCode} ${WORDS}` })
    }
    const set = FAILURE_NAMES.map((name) => [
      name,
      aiSdkTool({ inputSchema: Input, execute: () => fail(name, refuse, dead) }),
    ])
    return { tools: fromAiSdk(Object.fromEntries(set) as Parameters<typeof fromAiSdk>[0]) } // pairs as created
  },
}

function createEffectKind(version: string, effect: typeof effect3): ToolKind {
  const { Data, Effect, Schema } = effect
  class ResponseError extends Data.TaggedError('ResponseError')<{
    readonly message: string
    readonly response: { readonly status: number }
  }> {}
  const refuse: Refuse = (status) => new ResponseError({ message: `answered ${status} ${WORDS}`, response: { status } })
  return {
    name: `Effect ${version}`,
    leftOut: { garbled: READS_ITSELF },
    open: async () => {
      const dead = await findDeadAddress()
      const tools = FAILURE_NAMES.map((name) =>
        effectTool({
          name,
          description: name,
          input: Schema.Struct({ id: Schema.String }),
          ...(name === 'wrong' && { output: Schema.Struct({ count: Schema.Int }) as unknown as typeof Schema.Unknown }), // wrong on purpose
          execute: () => {
            const status = STATUSES[name]
            if (status !== undefined) return Effect.fail(refuse(status))
            return Effect.tryPromise({
              try: () => fail(name, refuse, dead),
              catch: (thrown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
            })
          },
        }),
      )
      return fromEffect(effect, { tools })
    },
  }
}

const openApi: ToolKind = {
  name: 'OpenAPI',
  leftOut: { wrong: 'a document describes answers, and no check is made of it', cyclic: NO_JSON },
  // Nothing beyond maxBytes is read, and such a tool's own error can only be an error status of the service.
  instead: {
    large: { ...FAILURES.garbled, says: /more than 1000000 bytes/ },
    own: { ...FAILURES.refused, says: FAILURES.own.says },
  },
  open: async () => {
    const dead = await findDeadAddress()
    const paths = FAILURE_NAMES.map((name) => {
      const content = { 'application/json': { schema: { type: 'object' } } }
      const parameters = [{ name: 'id', in: 'query', required: true, schema: { type: 'string' } }]
      return [
        `/${name}`,
        { get: { operationId: name, parameters, responses: { 200: { description: 'ok', content } } } },
      ]
    })
    const document = { openapi: '3.1.0', info: { title: 'shop', version: '1' }, paths: Object.fromEntries(paths) }
    const answer = async (url: string): Promise<Response> => {
      const failure = new URL(url).pathname.slice(1) as FailureName // its paths match those of the document
      if (failure === 'unreachable') return await fetch(dead)
      const json = { headers: { 'content-type': 'application/json' } }
      if (failure === 'garbled') return new Response('<html>', json)
      if (failure === 'large') return new Response(JSON.stringify('x'.repeat(LARGE_CHARS)), json)
      const status = failure === 'own' ? 404 : (STATUSES[failure] ?? 200)
      return new Response(JSON.stringify({ error: `there is no order A-71 ${WORDS}` }), { ...json, status })
    }
    const options = {
      operations: [...FAILURE_NAMES],
      server: 'https://shop.example/',
      fetch: answer,
      maxBytes: 1_000_000,
    }
    return { tools: fromOpenApi(document, options) }
  },
}

/** Failures ruled out by an MCP server's own validator and messages. */
const STRANGERS = 'packages/mcp/src/client/stranger-servers.process.test.ts'
const MCP_LEFT_OUT = {
  garbled: 'what is nearly a result is read: packages/mcp/src/client/lenient-results.test.ts',
  cyclic: NO_JSON,
  wrong: `what a call that has run gave is kept as text: ${STRANGERS}`,
  large: `what a call that has run gave is kept as text: ${STRANGERS}`,
}
const MAY_HAVE_RUN = `a call that may have run ends as unknown: ${STRANGERS}`

const mcpHttp: ToolKind = {
  name: 'MCP over HTTP',
  leftOut: { ...MCP_LEFT_OUT, away: MAY_HAVE_RUN },
  open: async () => {
    const dead = await findDeadAddress()
    const answer = async (_url: string | URL, init: RequestInit = {}): Promise<Response> => {
      if (init.method !== 'POST') return new Response(null, { status: 405 })
      const message = JSON.parse(String(init.body as string)) as McpMessage // the transport sends this type
      const failure = message.method === 'tools/call' ? message.params?.name : undefined
      const status = failure && STATUSES[failure]
      if (status !== undefined) return new Response(`refused ${WORDS}`, { status })
      if (failure === 'unreachable') return await fetch(dead)
      const said = answerMcp(message)
      return said ? Response.json(said) : new Response(null, { status: 202 })
    }
    const servers = createMcpServers({ shop: { url: 'https://shop.example/mcp' } }, { fetch: answer })
    return { sources: servers.sources, close: () => servers.close() }
  },
}

export const mcpStdio: ToolKind = {
  name: 'MCP over standard input and output',
  leftOut: {
    ...MCP_LEFT_OUT,
    unauthorized: 'there are no statuses',
    refused: 'there are no statuses',
    limited: 'there are no statuses',
    broken: 'there are no statuses',
    away: 'there are no statuses',
    unreachable: MAY_HAVE_RUN,
  },
  open: () => {
    const program = join(import.meta.dirname, 'failing-mcp-server.test-kit.ts')
    const args = ['--no-warnings', '--conditions=@baton/source', program]
    const servers = createMcpServers({ shop: { command: process.execPath, args } })
    return { sources: servers.sources, close: () => servers.close() }
  },
}

const workspace: ToolKind = {
  name: 'workspace',
  leftOut: {
    unauthorized: NO_SERVICE,
    refused: NO_SERVICE,
    limited: NO_SERVICE,
    broken: NO_SERVICE,
    away: NO_SERVICE,
    unreachable: NO_SERVICE,
    garbled: NO_SERVICE,
    wrong: 'its results are made of its own schemas',
    cyclic: 'its results are plain',
    large: 'its results are bounded, and say how to read on',
  },
  call: (failure) => ['content.get_span', failure === 'own' ? { path: 'there is no order A-71' } : { path: { id: 7 } }],
  open: () => {
    const root = mkdtempSync(join(tmpdir(), 'baton-failing-'))
    writeFileSync(join(root, 'a.txt'), 'a')
    return { tools: workspaceTools({ root }) }
  },
}

export const TOOL_KINDS: readonly ToolKind[] = [
  plain,
  aiSdk,
  createEffectKind('3', effect3),
  createEffectKind('4', effect4 as unknown as typeof effect3), // the parts used here are the same
  openApi,
  mcpHttp,
  workspace,
]
