// Two principals with concurrent turns, in fifty random schedules: every kind of tool sees the services and credentials
// of the principal it runs for, before and after each wait.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Tool, ToolContext, ToolSource } from '@baton/core'
import { tool } from '@baton/core'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { createMcpServers } from '@baton/mcp/client'
import { fromAiSdk } from '@baton/tools/ai-sdk'
import { effectTool, fromEffect } from '@baton/tools/effect'
import { fromOpenApi } from '@baton/tools/openapi'
import { tool as aiSdkTool } from 'ai'
import * as effect3 from 'effect'
import * as effect4 from 'effect4'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { McpMessage } from '../tool-errors/failing-mcp-server.test-kit.ts'
import { answerMcp } from '../tool-errors/failing-mcp-server.test-kit.ts'
import { createInterleaver } from './interleaver.test-kit.ts'

const SCHEDULES = 50
const PRINCIPALS = ['ann', 'ben'] as const
const CALLS = 3
const keyOf = (principal: string): string => `key of ${principal}`

/** Services of a session. */
interface Services {
  readonly key: string
}

/** Records who it runs for and what it sees, before and after a wait. */
type See = (principal: string, key: unknown) => void

interface Kind {
  readonly name: string
  readonly open: (gate: () => Promise<void>, see: See) => { readonly tools?: readonly Tool[]; close?(): Promise<void> }
  /** For kinds that need a separate session per principal. */
  readonly sourceOf?: (
    principal: string,
    gate: () => Promise<void>,
    see: See,
  ) => ToolSource & { close(): Promise<void> }
}

const LOOK = {
  name: 'own',
  description: 'Looks',
  input: { type: 'object', properties: { id: { type: 'string' } } },
} as const

const plain: Kind = {
  name: 'tool()',
  open: (gate, see) => ({
    tools: [
      tool({
        ...LOOK,
        execute: async (_, { principal, services }: ToolContext<Services>) => {
          see(principal.id, services.key)
          await gate()
          see(principal.id, services.key)
        },
      }),
    ],
  }),
}

const aiSdk: Kind = {
  name: 'AI SDK',
  open: (gate, see) => {
    const ambient = new AsyncLocalStorage<string>()
    const own = aiSdkTool({
      inputSchema: z.object({ id: z.string() }),
      contextSchema: z.object({ key: z.string(), who: z.string() }),
      async *execute(_input, { context, messages }) {
        see(context.who, context.key)
        yield 1
        await gate()
        see(ambient.getStore() ?? '', context.key)
        yield 2
        await gate()
        see(context.who, keyOf(ambient.getStore() ?? ''))
        see(context.who, JSON.stringify(messages).includes(`I am ${context.who}`) ? context.key : 'words of another')
      },
    })
    const tools = fromAiSdk(
      { own },
      {
        around: (run, { context }) => ambient.run(context.principal.id, run),
        options: ({ context }) => ({
          context: { key: (context.services as Services).key, who: context.principal.id }, // provided by this host
        }),
      },
    )
    return { tools }
  },
}

function createEffectKind(version: string, effect: typeof effect3, call: typeof Call3): Kind {
  const { Effect, Layer, Schema } = effect
  return {
    name: `Effect ${version}`,
    open: (gate, see) => {
      const look = Effect.gen(function* () {
        const { principal, services } = yield* call
        see(principal.id, (services as Services).key)
        yield* Effect.promise(gate)
        const again = yield* call
        see(principal.id, (again.services as Services).key)
        see(again.principal.id, (services as Services).key)
      })
      const own = effectTool({ ...LOOK, input: Schema.Struct({ id: Schema.String }), execute: () => look })
      return fromEffect(effect, { layer: Layer.empty, call, tools: [own] })
    },
  }
}

class Call3 extends effect3.Context.Tag('test/Call')<Call3, ToolContext>() {}
class Call4 extends effect4.Context.Service<Call4, ToolContext>()('test/Call') {}

const openApi: Kind = {
  name: 'OpenAPI',
  open: (gate, see) => {
    const parameters = [{ name: 'id', in: 'query', schema: { type: 'string' } }]
    const get = { operationId: 'own', parameters, responses: { 200: { description: 'ok' } } }
    const document = { openapi: '3.1.0', info: { title: 'shop', version: '1' }, paths: { '/own': { get } } }
    const tools = fromOpenApi(document, {
      operations: ['own'],
      server: 'https://shop.example/',
      headers: async ({ principal, services }: ToolContext<Services>) => {
        await gate()
        return { who: principal.id, authorization: services.key }
      },
      fetch: async (_url, { headers }) => {
        const sent = new Headers(headers)
        await gate()
        see(sent.get('who') ?? '', sent.get('authorization'))
        return Response.json({})
      },
    })
    return { tools: tools as readonly Tool[] } // this test's host gives each session its own services
  },
}

const mcp: Kind = {
  name: 'MCP, with a source for each session',
  open: () => ({}),
  sourceOf: (principal, gate, see) => {
    const servers = createMcpServers(
      { shop: { url: 'https://shop.example/mcp', headers: { authorization: keyOf(principal) } } },
      {
        fetch: async (_url, init = {}) => {
          if (init.method !== 'POST') return new Response(null, { status: 405 })
          const message = JSON.parse(String(init.body as string)) as McpMessage // the transport sends this type
          await gate()
          see(principal, new Headers(init.headers).get('authorization'))
          const said = answerMcp(message)
          return said ? Response.json(said) : new Response(null, { status: 202 })
        },
      },
    )
    const [source] = servers.sources
    if (!source) throw new Error('there is one server')
    return Object.assign(source, { close: () => servers.close() })
  },
}

const KINDS = [
  plain,
  aiSdk,
  createEffectKind('3', effect3, Call3),
  createEffectKind('4', effect4 as unknown as typeof effect3, Call4 as unknown as typeof Call3), // the parts used here are the same
  openApi,
  mcp,
]

async function play(
  kind: Kind,
  seed: number,
): Promise<{ readonly seen: readonly string[]; readonly switches: number }> {
  const seen: string[] = []
  const { gate, drive, switches } = createInterleaver(seed)
  const see: See = (principal, key) => void seen.push(`${principal}: ${String(key)}`)
  const opened = kind.open(gate, see)
  const model = createScriptedModel({
    steps: (_, call) =>
      call < 2 * PRINCIPALS.length
        ? { calls: Array.from({ length: CALLS }, () => ({ name: 'own', arguments: { id: 'A-17' } })) }
        : { text: 'Done.' },
  })
  const agent = defineAgent({ name: 'shop', model, tools: opened.tools ?? [] })
  const sources: { close(): Promise<void> }[] = []
  const host = createHost({
    agentOf: ({ principal }) => {
      const source = kind.sourceOf?.(principal.id, gate, see)
      if (source) sources.push(source)
      return { agent, services: { key: keyOf(principal.id) }, ...(source && { sources: [source] }) }
    },
  })
  try {
    await drive(
      Promise.all(
        PRINCIPALS.map(async (id) => {
          const session = await host.session(`of ${id}`, { principal: { id } })
          return await session.send(`I am ${id}.`).answer
        }),
      ),
    )
    return { seen, switches: switches() }
  } finally {
    await host.stop()
    await opened.close?.()
    for (const source of sources) await source.close()
  }
}

test.each(KINDS)('$name', async (kind) => {
  let switches = 0
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const played = await play(kind, seed)
    switches += played.switches
    expect(new Set(played.seen), `seed ${seed}`).toEqual(new Set(PRINCIPALS.map((id) => `${id}: ${keyOf(id)}`)))
  }
  // They did run concurrently.
  expect(switches).toBeGreaterThan(SCHEDULES)
})
