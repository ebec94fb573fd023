// Results for a call that an editor runs are only accepted from the asked connection. In this protocol a
// client answers requests, so a claimed `once` call goes to no other client, and results submitted by other ways
// are foreign.
import { frontOf } from '@baton/core/internal'
import { methods } from '@agentclientprotocol/sdk'
import type { Agent, CallView, EffectClass, Session, Store } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore, createNodeEnvironment, defineAgent, tool } from '@baton/host'
import { afterEach, expect, test } from 'vitest'
import type { TestEditor } from './acp.test-kit.ts'
import { startEditor } from './acp.test-kit.ts'
import { CALL_TOOL, CLIENT_TOOLS } from './wire.ts'

type Host = ReturnType<typeof createHost>

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

function createAgent(effect: EffectClass, isFirst: boolean) {
  const pick = tool({ name: 'pick', description: 'p', input: { type: 'object' }, effect, timeoutMs: 600_000 })
  const steps = [...(isFirst ? [{ calls: [{ name: 'pick', arguments: {} }] }] : []), { text: 'Well.' }]
  return defineAgent({ name: 'shop', model: createScriptedModel({ steps }), tools: [pick] })
}

interface Served {
  readonly host: Host
  readonly agent: Agent
}

function serve(effect: EffectClass, store: Store, isFirst = true): Served {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const agent = createAgent(effect, isFirst)
  const host = createHost({ environment, agent, store })
  ends.push(() => host.stop())
  return { host, agent }
}

interface Connected extends TestEditor {
  /** Calls sent to it; calling one answers with the output. */
  readonly calls: ((output: string) => void)[]
}

async function connect({ host, agent }: Served, principal = 'ann'): Promise<Connected> {
  const calls: Connected['calls'] = []
  const editor = await startEditor({
    agent,
    host,
    options: { principal: { id: principal } },
    capabilities: { _meta: { [CLIENT_TOOLS]: true } },
    app: (app) =>
      app.onRequest(
        CALL_TOOL,
        (params: unknown) => params,
        () => new Promise<object>((resolve) => calls.push((output) => resolve({ output }))),
      ),
  })
  ends.push(() => editor.stop())
  return Object.assign(editor, { calls })
}

async function load({ agent }: Connected, sessionId: string): Promise<void> {
  await agent.request(methods.agent.session.load, { sessionId, cwd: '/work/project', mcpServers: [] })
}

async function findCall(session: Session): Promise<CallView | undefined> {
  const { messages } = await session.messages()
  return messages.flatMap((one) => (one.role === 'assistant' ? one.steps : [])).flatMap(({ calls }) => calls)[0]
}

const openAs = (host: Host, id: string): Promise<Session> => host.session(id, { principal: { id: 'ann' } })

interface Asked {
  readonly served: Served
  readonly store: Store
  readonly editor: Connected
  readonly id: string
}

/** An editor has the call and has not answered yet. */
async function ask(effect: EffectClass): Promise<Asked> {
  const store = createMemoryStore()
  const served = serve(effect, store)
  const editor = await connect(served)
  const id = await editor.open()
  editor.prompt(id, 'Pick').catch(() => {})
  await expect.poll(() => editor.calls.length).toBe(1)
  return { served, store, editor, id }
}

/** Events since then, each with the host that has the session afterwards. */
const PLACES: Readonly<Record<string, (asked: Asked) => Promise<Served>>> = {
  'the editor is connected': ({ served }) => Promise.resolve(served),
  'its connection is lost, and its lease over': async ({ served, editor }) => {
    editor.connection.close()
    await editor.connection.ended
    return served
  },
  'the server restarted': async ({ served, store, editor }) => {
    editor.connection.close()
    await served.host.stop()
    return serve('once', store, false)
  },
}

const FORGED = { type: 'ok', content: [{ type: 'text', text: 'forged' }] } as const

const STRANGERS: Readonly<Record<string, (served: Served, id: string) => Promise<void>>> = {
  'another editor that runs client tools': async (served, id) => {
    const other = await connect(served)
    await load(other, id)
    expect(other.calls).toEqual([])
  },
  'an editor of another principal': async (served, id) => {
    await expect(load(await connect(served, 'eve'), id)).rejects.toThrow('principal')
  },
  'a client with a lease': async (served, id) => {
    const session = await openAs(served.host, id)
    const { callId = '' } = (await findCall(session)) ?? {}
    const two = await frontOf(session).client({ client: 'two', leaseMs: 60_000 })
    await expect(two.claim(callId)).rejects.toMatchObject({ code: 'call_not_offered' })
    expect(await two.result(callId, FORGED)).toMatchObject({ ignored: 'foreign' })
  },
  'the program': async (served, id) => {
    const session = await openAs(served.host, id)
    const { callId = '' } = (await findCall(session)) ?? {}
    expect(await (await session.attach()).result(callId, FORGED)).toMatchObject({ ignored: 'foreign' })
  },
}

for (const [place, move] of Object.entries(PLACES))
  test.each(Object.entries(STRANGERS))(`${place}: a once call does not end by %s`, async (_, forge) => {
    const asked = await ask('once')
    const served = await move(asked)
    await forge(served, asked.id)
    const session = await openAs(served.host, asked.id)
    expect(await findCall(session)).toMatchObject({ name: 'pick', status: 'running' })
    asked.editor.calls[0]?.('red')
    if (place !== 'the editor is connected') return
    await expect.poll(() => findCall(session)).toMatchObject({ result: { type: 'ok', value: 'red' } })
  })

test('a repeatable call is offered again: the next editor’s result counts, and the first one’s is too late', async () => {
  const { served, editor, id } = await ask('pure')
  const next = await connect(served)
  await load(next, id)
  const session = await openAs(served.host, id)
  const { holder = '' } = (await findCall(session)) ?? {}
  await (await frontOf(session).client({ client: holder })).detach() // as at the end of its lease
  await expect.poll(() => next.calls.length).toBe(1)
  editor.calls[0]?.('forged')
  expect(await findCall(session)).toMatchObject({ status: 'running' })
  next.calls[0]?.('red')
  await expect.poll(() => findCall(session)).toMatchObject({ result: { type: 'ok', value: 'red' } })
})
