// Permissions in a session: the tools that a model is offered, and the sources and models that are called.
import { frontOf } from '@baton/core/internal'
import type { Agent, JsonObject, Model, Permissions, Tool, ToolSource } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { afterEach, expect, test } from 'vitest'

const open: { stop?: () => Promise<void> } = {}
afterEach(async () => {
  await open.stop?.()
  delete open.stop
})

const make = (name: string, network?: boolean): Tool =>
  tool({
    name,
    description: name,
    input: { type: 'object' },
    ...(network !== undefined && { network }),
    execute: () => `${name} ran`,
  }) as Tool
const client = tool({ name: 'phone.vibrate', description: 'Vibrates', input: { type: 'object' } }) as Tool
const withFallback = tool({
  name: 'phone.locate',
  description: 'Locates',
  input: { type: 'object' },
  fallback: () => 'Oslo',
}) as Tool

interface SourceSeen extends ToolSource {
  readonly asked: () => number
}

function createSource(name: string, tools: readonly Tool[], network?: boolean): SourceSeen {
  let asked = 0
  const list = (): Promise<readonly Tool[]> => {
    asked += 1
    return Promise.resolve(tools)
  }
  return { name, ...(network !== undefined && { network }), list, asked: () => asked }
}

const TOOLS = [
  make('fs.read', false),
  make('fs.write', false),
  make('web.fetch', true),
  make('old'),
  client,
  withFallback,
]

/** Tools offered to the model, and the end of each of its calls. */
async function play(
  permissions: Permissions,
  init: { readonly sources?: ToolSource[]; readonly calls?: string[] } = {},
) {
  const { sources = [], calls = [] } = init
  const model = createScriptedModel({
    steps: [{ calls: calls.map((name) => ({ name, arguments: {} })) }, { text: 'Done.' }],
  })
  const notes: unknown[] = []
  const log = { info: (message: string, data?: object) => void notes.push({ message, ...data }), warn: () => {} }
  const agent = defineAgent({ name: 'tester', model, tools: TOOLS, sources, permissions })
  const host = createHost({ agent, log })
  open.stop = () => host.stop()
  const session = await host.session('one')
  const ended: string[] = []
  for await (const event of session.send('Go.'))
    if (event.type === 'call' && event.call.result) {
      const { name, result } = event.call
      ended.push(`${name} ${'code' in result ? result.code : result.type}`)
    }
  return { offered: model.requests[0]?.tools.map(({ name }) => name) ?? [], ended, notes }
}

test('deny takes tools away: the model is not offered them, and a call of one finds no tool', async () => {
  const { offered, ended, notes } = await play({ deny: ['fs.w*', 'phone.*'] }, { calls: ['fs.write', 'fs.read'] })
  expect(offered).toEqual(['fs.read', 'web.fetch', 'old'])
  expect(ended).toEqual(['fs.write tool_not_found', 'fs.read ok'])
  expect(notes).toContainEqual({ message: 'a tool is skipped: "fs.w*" denies it', session: 'one', tool: 'fs.write' })
})

test('allow names all that there is, of sources too', async () => {
  const source = createSource('shop', [make('shop.read'), make('shop.buy')])
  const { offered } = await play({ allow: ['fs.read', '*.buy'] }, { sources: [source] })
  expect(offered).toEqual(['fs.read', 'shop.buy'])
})

test('a tool whose name is taken counts by its new name', async () => {
  const source = createSource('other', [make('fs.read')])
  const agent = defineAgent({
    name: 'tester',
    model: createScriptedModel({ steps: [{ text: 'Done.' }] }),
    tools: [make('fs.read')],
    sources: [source],
    collisions: 'prefix',
    permissions: { deny: ['fs.*'] },
  })
  expect(await offeredTo(agent)).toEqual(['other.fs.read'])
})

async function offeredTo(agent: Agent): Promise<readonly string[]> {
  const host = createHost({ agent })
  open.stop = () => host.stop()
  const session = await host.session('one')
  await session.send('Go.').answer
  const [model] = agent.models as readonly ReturnType<typeof createScriptedModel>[] // created by the test
  return model?.requests[0]?.tools.map(({ name }) => name) ?? []
}

test('without the network: what may use it is gone, and a source that may is not even asked', async () => {
  const remote = createSource('remote', [make('remote.read', false)])
  const near = createSource('near', [make('near.read'), make('near.fetch', true)], false)
  const { offered, notes } = await play({ network: false }, { sources: [remote, near] })
  // A client's tools run elsewhere; one with a fallback may run here.
  expect(offered).toEqual(['fs.read', 'fs.write', 'phone.vibrate', 'near.read'])
  expect(remote.asked()).toBe(0)
  expect(notes).toContainEqual({
    message: 'a tool source is skipped: it may use the network',
    session: 'one',
    source: 'remote',
  })
})

const away = (id: string): Model => ({
  ...createScriptedModel({ id, steps: [{ text: `${id} answered` }], capabilities: { network: true } }),
})
const here = (): Model => createScriptedModel({ id: 'test/here', steps: () => ({ text: 'here answered' }) })

test.each([{ network: false }, { externalModels: false }])(
  '%j: only a model of this machine answers',
  async (permissions) => {
    const host = createHost({ agent: defineAgent({ name: 'tester', model: [away('test/away'), here()], permissions }) })
    open.stop = () => host.stop()
    const session = await host.session('one')
    expect((await session.send('Go.').answer).text).toBe('here answered')
  },
)

test('an agent whose models are all elsewhere does not open', async () => {
  const agent = defineAgent({ name: 'tester', model: away('test/away'), permissions: { externalModels: false } })
  const host = createHost({ agent })
  open.stop = () => host.stop()
  await expect(host.session('one')).rejects.toMatchObject({
    code: 'not_permitted',
    message: 'agent "tester" may not use test/away: its permissions allow only models that run on this machine',
  })
})

test('nobody can choose a model elsewhere: no message, no session, no step', async () => {
  const models = [away('test/away'), here()]
  const agent = defineAgent({
    name: 'tester',
    model: models,
    permissions: { externalModels: false },
    prepareStep: ({ messages }) => (messages.length > 2 ? { model: 'test/away' } : undefined),
  })
  const host = createHost({ agent, modelOf: (id) => models.find((model) => model.id === id) ?? here() })
  open.stop = () => host.stop()
  const session = await host.session('one')
  await expect(session.send('Go.', { model: 'test/away' }).answer).rejects.toMatchObject({ code: 'not_permitted' })
  await expect(session.configure({ model: 'test/away' })).rejects.toMatchObject({
    code: 'not_permitted',
  })
  expect((await session.send('Go.').answer).text).toBe('here answered')
  await expect(session.send('Again.').answer).rejects.toMatchObject({ code: 'not_permitted' })
})

test('a step may name a tool that permissions took away, and goes on without it', async () => {
  const model = createScriptedModel({ steps: [{ text: 'Done.' }] })
  const act = (name: string) =>
    tool({ name, description: name, input: { type: 'object' }, effect: 'pure', network: false, execute: () => 1 })
  const prepareStep = () => ({ tools: ['keep', 'drop'] as const })
  const permissions = { deny: ['drop'] }
  const host = createHost({
    agent: defineAgent({ name: 'tester', model, tools: [act('keep'), act('drop')], permissions, prepareStep }),
  })
  open.stop = () => host.stop()
  expect((await (await host.session('one')).send('Go.').answer).text).toBe('Done.')
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['keep'])
})

test('a step cannot bring a model that runs elsewhere', async () => {
  const prepareStep = () => ({ model: away('test/away') })
  const agent = defineAgent({ name: 'tester', model: here(), permissions: { externalModels: false }, prepareStep })
  const host = createHost({ agent })
  open.stop = () => host.stop()
  await expect((await host.session('one')).send('Go.').answer).rejects.toMatchObject({ code: 'not_permitted' })
})

test('a tool that a client brings is offered and called only where its name is allowed', async () => {
  const model = createScriptedModel({
    steps: [{ calls: [{ name: 'page.steal', arguments: {} }] }, { text: 'Done.' }],
  })
  const host = createHost({ agent: defineAgent({ name: 'tester', model, permissions: { deny: ['page.steal'] } }) })
  open.stop = () => host.stop()
  const session = await host.session('one')
  const bring = (name: string) => ({ name, description: name, inputSchema: { type: 'object' } })
  await frontOf(session).client({ client: 'page', tools: [bring('page.steal'), bring('page.scroll')] })
  const ended: unknown[] = []
  for await (const event of session.send('Go.')) if (event.type === 'call') ended.push(event.call.result)
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['page.scroll'])
  expect(ended.at(-1)).toMatchObject({
    code: 'call_denied',
    message: expect.stringContaining('"page.steal" denies it') as string,
  })
})

/** The provider's own tools of a request, before and after a step sets them again. */
async function offeredOfProvider(permissions: Permissions, own: readonly JsonObject[]): Promise<unknown> {
  const model = createScriptedModel({ steps: [{ text: 'Done.' }] })
  const settings = { serverTools: { openai: own }, temperature: 0 }
  await offeredTo(defineAgent({ name: 'tester', model, settings, permissions, prepareStep: () => ({ settings }) }))
  await open.stop?.()
  expect(model.requests[0]?.settings.temperature).toBe(0)
  return model.requests[0]?.settings.serverTools?.['openai'] ?? []
}

test("without the network a provider's own tools are not asked for, not even of a model on this machine", async () => {
  const search = { type: 'web_search' }
  expect(await offeredOfProvider({ network: false }, [search])).toEqual([])
  expect(await offeredOfProvider({ externalModels: false }, [search])).toEqual([search])
})

test.each<[Permissions, readonly JsonObject[], readonly JsonObject[]]>([
  [{ deny: ['web.search'] }, [{ type: 'web_search' }, { type: 'code_interpreter' }], [{ type: 'code_interpreter' }]],
  [{ deny: ['web_*'] }, [{ type: 'web_search_20250305', name: 'web_search' }], []],
  [{ deny: ['web.*'] }, [{ id: 'openai.web_search', name: 'web_search', args: {} }], []],
  [{ deny: ['google_search'] }, [{ google_search: {} }, { url_context: {} }], [{ url_context: {} }]],
  [{ deny: ['nova_grounding'] }, [{ systemTool: { name: 'nova_grounding' } }], []],
  [{ deny: ['wiki'] }, [{ type: 'mcp', server_label: 'wiki' }], []],
  [{ allow: ['fs.*'] }, [{ type: 'web_search' }, { type: 'mcp' }], []],
  [{ allow: ['fs.*', 'web.search'] }, [{ type: 'web_search' }], [{ type: 'web_search' }]],
  [{ deny: ['fs.*'] }, [{ type: 'web_search' }], [{ type: 'web_search' }]],
])("%j takes a provider's own tools away by their names: of %j it leaves %j", async (permissions, own, left) => {
  expect(await offeredOfProvider(permissions, own)).toEqual(left)
})

test("a provider's own tool that is left out is told, with the reason", async () => {
  const told: unknown[] = []
  const log = { info: (text: string, data?: JsonObject) => told.push([text, data]), warn: () => {} }
  const agent = defineAgent({
    name: 'tester',
    model: createScriptedModel({ steps: [{ text: 'Done.' }] }),
    settings: { serverTools: { openai: [{ type: 'web_search' }] } },
    permissions: { deny: ['web.*'] },
  })
  const host = createHost({ agent, log })
  open.stop = () => host.stop()
  await host.session('one')
  expect(told).toContainEqual([
    'a provider tool is skipped: "web.*" denies it',
    { session: 'one', provider: 'openai', tool: 'web_search' },
  ])
})
