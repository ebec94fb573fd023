// Version 2, a draft: the SDK's own client drives an agent, and every message fits the SDK's JSON Schemas of that
// version.
import type { AnyMessage } from '@agentclientprotocol/sdk'
import { client as createV1Client, methods as v1 } from '@agentclientprotocol/sdk'
import type { ClientApp, SessionUpdate } from '@agentclientprotocol/sdk/experimental/v2'
import { client, methods } from '@agentclientprotocol/sdk/experimental/v2'
import type { Agent, Store } from '@baton/core'
import { BatonError, defineAgent, tool } from '@baton/core'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { createScriptedModel } from '@baton/core/testing'
import type { ScriptedStep } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createStreams } from './acp.test-kit.ts'
import { CALL_TOOL, CLIENT_TOOLS } from './wire.ts'
import { createAcpFront } from './front.ts'
import { createSchemaChecks } from './schema-checks.test-kit.ts'
import { callsOf, choose, createApproved, createTeam, lastRead, place } from '../shared/team.test-kit.ts'

const { session: at } = methods.agent
const INFO = { name: 'test', version: '1.0.0' }

async function start(
  agent: Agent,
  more: { readonly store?: Store; readonly app?: (app: ClientApp) => ClientApp; readonly runsTools?: boolean } = {},
) {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const host = createHost({ environment, agent, ...(more.store && { store: more.store }) })
  const front = createAcpFront('test', host, { agent, experimentalV2: true })
  const checks = createSchemaChecks(2)
  const seen: AnyMessage[] = []
  const [ours, theirs] = createStreams((from, message) => {
    seen.push(message)
    checks.check(from, message)
  })
  const connection = front.connect(ours, { isLocal: true })
  const told: SessionUpdate[] = []
  let wake = Promise.withResolvers<void>()
  const base = client({ name: 'test' }).onNotification(methods.client.session.update, ({ params }) => {
    told.push(params.update)
    wake.resolve()
    wake = Promise.withResolvers()
  })
  const opened = (more.app?.(base) ?? base).connect(theirs)
  await opened.agent.request(methods.agent.initialize, {
    protocolVersion: 2,
    info: INFO,
    capabilities: { elicitation: { form: {} }, ...(more.runsTools && { _meta: { [CLIENT_TOOLS]: true } }) },
  })
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await wake.promise
  }
  const states = () => told.flatMap((update) => (update.sessionUpdate === 'state_update' ? [update] : []))
  return {
    agent: opened.agent,
    told,
    seen,
    states,
    until,
    untilIdle: (count: number) => until(() => states().filter(({ state }) => state === 'idle').length >= count),
    prompt: (sessionId: string, text: string) =>
      opened.agent.request(at.prompt, { sessionId, prompt: [{ type: 'text', text }] }),
    stop: async () => {
      opened.close()
      connection.close()
      await connection.ended
      await host.stop()
      checks.expectValid()
      expect(checks.count()).toBeGreaterThan(4)
    },
  }
}

/** The messages of a client that applies the updates in order. */
function fold(told: readonly SessionUpdate[]): ReadonlyMap<string, string> {
  const messages = new Map<string, string>()
  for (const update of told) {
    if (!('messageId' in update) || typeof update.messageId !== 'string') continue
    const { messageId } = update
    const content = 'content' in update ? update.content : undefined
    const texts = (Array.isArray(content) ? content : [content]).map(
      (block: unknown) => (block as { text?: string } | null)?.text ?? '',
    )
    const isChunk = update.sessionUpdate.endsWith('_chunk')
    messages.set(messageId, (isChunk ? (messages.get(messageId) ?? '') : '') + texts.join(''))
  }
  return messages
}

const scripted = (steps: readonly ScriptedStep[], more: Partial<Parameters<typeof defineAgent>[0]> = {}) =>
  defineAgent({ name: 'coder', model: createScriptedModel({ steps }), ...more } as Parameters<typeof defineAgent>[0])

test('a prompt is acknowledged with its id, and its turn is reported as states', async () => {
  const editor = await start(scripted([{ reasoning: 'Hm.', text: 'Hello.' }]))
  const { sessionId, availableCommands } = await editor.agent.request(at.new, { cwd: '/work/project' })
  expect(availableCommands?.map(({ name }) => name)).toEqual(['status', 'retry'])
  const { messageId } = await editor.prompt(sessionId, 'Hi')
  await editor.untilIdle(1)
  const messages = fold(editor.told)
  expect(messages.get(messageId)).toBe('Hi')
  expect([...messages.values()]).toEqual(['Hi', 'Hm.', 'Hello.'])
  expect(editor.states().map((update) => update.state)).toEqual(['running', 'idle'])
  expect(editor.states().at(-1)).toMatchObject({ stopReason: 'end_turn' })
  await editor.stop()
})

test('the text of a failed attempt is withdrawn', async () => {
  const overloaded = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
  const editor = await start(
    scripted([{ text: 'The wrong beginning', error: overloaded }, { text: 'The capital is Oslo.' }], {
      retry: { baseMs: 1 },
    }),
  )
  const { sessionId } = await editor.agent.request(at.new, { cwd: '/work/project' })
  await editor.prompt(sessionId, 'Norway?')
  await editor.untilIdle(1)
  expect([...fold(editor.told).values()]).toEqual(['Norway?', 'The capital is Oslo.'])
  await editor.stop()
})

test('a permission requires an action, and a cancel takes the request back', async () => {
  const act = tool({
    name: 'act',
    description: 'Acts.',
    input: { type: 'object', properties: {} },
    approval: true,
    describe: () => ({ diff: [{ path: 'a.txt', oldText: null, newText: 'one\ntwo' }] }),
    execute: () => 'acted',
  })
  const calls = [{ name: 'act', arguments: {} }]
  let waits = true
  const taken = Promise.withResolvers<void>()
  const editor = await start(scripted([{ calls }, { text: 'Done.' }, { calls }], { tools: [act] }), {
    app: (app) =>
      app.onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
        expect(params.subject).toMatchObject({ type: 'tool_call', toolCall: { name: 'act', status: 'pending' } })
        expect(JSON.stringify(params.subject)).toContain('@@ -0,0 +1,2 @@')
        if (waits) return { outcome: { outcome: 'selected', optionId: 'allow' } }
        signal.addEventListener('abort', () => taken.resolve())
        await taken.promise
        return { outcome: { outcome: 'cancelled' } }
      }),
  })
  const { sessionId } = await editor.agent.request(at.new, { cwd: '/work/project' })
  await editor.prompt(sessionId, 'Act')
  await editor.untilIdle(1)
  expect(editor.states().map(({ state }) => state)).toEqual(['running', 'requires_action', 'running', 'idle'])
  waits = false
  await editor.prompt(sessionId, 'Again')
  await editor.until(() => editor.states().filter(({ state }) => state === 'requires_action').length === 2)
  await editor.agent.notify(at.cancel, { sessionId })
  await editor.untilIdle(2)
  await taken.promise
  expect(editor.states().at(-1)).toMatchObject({ state: 'idle', stopReason: 'cancelled' })
  expect(editor.told).toContainEqual(
    expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'cancelled' }),
  )
  await editor.stop()
})

test('a session is replayed with the ids that it had, before the answer', async () => {
  const store = createMemoryStore()
  const first = await start(scripted([{ text: 'One.' }]), { store })
  const { sessionId } = await first.agent.request(at.new, { cwd: '/work/project' })
  const { messageId } = await first.prompt(sessionId, 'Hi')
  await first.untilIdle(1)
  await first.stop()
  const second = await start(scripted([{ text: 'Two.' }]), { store })
  const { sessions } = await second.agent.request(at.list, {})
  expect(sessions).toMatchObject([{ sessionId, cwd: '/work/project' }])
  await second.agent.request(at.resume, { sessionId, cwd: '/work/project', replayFrom: { type: 'start' } })
  expect([...fold(second.told)]).toEqual([
    [messageId, 'Hi'],
    ['t1.1', 'One.'],
  ])
  expect(second.told.at(-1)).toMatchObject({ sessionUpdate: 'state_update', state: 'idle' })
  await second.prompt(sessionId, 'More')
  await second.untilIdle(2)
  await second.agent.request(at.close, { sessionId })
  await second.agent.request(at.resume, { sessionId, cwd: '/work/project' })
  const before = second.told.length
  expect(second.told[before - 1]).toMatchObject({ state: 'idle' })
  await second.stop()
})

test('a failed turn is idle with an error, and a command is answered here', async () => {
  const editor = await start(scripted([{ error: new BatonError({ code: 'model_invalid_request', message: 'no' }) }]))
  const { sessionId } = await editor.agent.request(at.new, { cwd: '/work/project' })
  await editor.prompt(sessionId, 'Hi')
  await editor.untilIdle(1)
  expect(editor.states().at(-1)).toMatchObject({
    stopReason: 'error',
    error: { data: { code: 'model_invalid_request' } },
  })
  await editor.prompt(sessionId, '/status')
  await editor.untilIdle(2)
  expect([...fold(editor.told).values()].at(-1)).toContain('Model: scripted/model')
  const { configOptions } = await editor.agent.request(at.setConfigOption, {
    sessionId,
    configId: 'mode',
    type: 'id',
    value: 'read',
  })
  expect(configOptions[0]).toMatchObject({ configId: 'mode', currentValue: 'read' })
  await editor.stop()
})

test('version 1 clients are served too, and version 2 requires the option', async () => {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const agent = scripted([])
  const host = createHost({ environment, agent })
  for (const experimentalV2 of [true, false]) {
    const front = createAcpFront('test', host, { agent, experimentalV2 })
    const [ours, theirs] = createStreams(() => {})
    const connection = front.connect(ours, { isLocal: true })
    const opened = createV1Client().connect(theirs)
    const told = await opened.agent.request(v1.agent.initialize, { protocolVersion: experimentalV2 ? 1 : 2 })
    expect(told).toMatchObject({ protocolVersion: 1 })
    connection.close()
    await connection.ended
  }
  await host.stop()
})

test('a client tool call that an editor answers with an error ends with its words', async () => {
  const pick = tool({ name: 'pick', description: 'p', input: { type: 'object' }, effect: 'once', timeoutMs: 600_000 })
  const agent = scripted([{ calls: [{ name: 'pick', arguments: {} }] }, { text: 'Well.' }], { tools: [pick] })
  const editor = await start(agent, {
    runsTools: true,
    app: (app) =>
      app.onRequest(
        CALL_TOOL,
        (params: unknown) => params,
        () => Promise.reject(new Error('the browser is gone')),
      ),
  })
  const { sessionId } = await editor.agent.request(at.new, { cwd: '/work/project' })
  await editor.prompt(sessionId, 'Pick')
  await editor.untilIdle(1)
  expect(JSON.stringify(editor.told)).toContain('Internal error: the browser is gone')
  await editor.stop()
})

test('an approval, a question and a client tool of an agent below reach the editor with its name', async () => {
  const ran: string[] = []
  const { agent, helper } = createTeam({
    steps: [callsOf('pay'), callsOf('choose'), callsOf('place'), { text: 'All.' }],
    tools: [createApproved(ran, 'pay'), choose, place],
  })
  const asked: unknown[] = []
  const editor = await start(agent, {
    runsTools: true,
    app: (app) =>
      app
        .onRequest(methods.client.session.requestPermission, ({ params }) => {
          asked.push(params.title)
          return { outcome: { outcome: 'selected', optionId: 'allow' } }
        })
        .onRequest(methods.client.elicitation.create, ({ params }) => {
          asked.push(params.message)
          return { action: 'accept', content: { wine: 'red' } }
        })
        .onRequest(
          CALL_TOOL,
          (params: unknown) => params,
          ({ params }) => {
            asked.push((params as { readonly name: string }).name)
            return { output: 'Rome' }
          },
        ),
  })
  const { sessionId } = await editor.agent.request(at.new, { cwd: '/work/project' })
  await editor.prompt(sessionId, 'Go')
  await editor.untilIdle(1)
  expect(asked).toEqual(['helper › pay', 'helper › Which?', 'place'])
  expect(ran).toEqual(['pay {}'])
  expect(JSON.stringify(helper.requests.at(-1)?.messages)).toContain('red')
  expect(lastRead(helper)).toContain('Rome')
  expect([...fold(editor.told).values()].at(-1)).toBe('Done.')
  await editor.stop()
})
