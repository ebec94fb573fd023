// An editor's sessions: listed, loaded, resumed, closed and deleted, with the choices made for them.
import { methods } from '@agentclientprotocol/sdk'
import { defineAgent, tool } from '@baton/core'
import { createHost, createMemoryStore } from '@baton/host'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { startEditor } from './acp.test-kit.ts'

const { session: at } = methods.agent
const PNG = Buffer.from('a picture').toString('base64')

const look = tool({
  name: 'look',
  description: 'Looks.',
  kind: 'read',
  input: { type: 'object', properties: {} },
  effect: 'pure',
  execute: () => 'a garden',
})
const act = tool({
  name: 'act',
  description: 'Acts.',
  input: { type: 'object', properties: {} },
  approval: true,
  execute: () => 'done',
})

function createAgent(steps: Parameters<typeof createScriptedModel>[0]['steps'] = () => ({ text: 'Yes.' })) {
  const model = createScriptedModel({ id: 'scripted/one', steps })
  const other = createScriptedModel({ id: 'scripted/two', steps: () => ({ text: 'Two.' }) })
  return defineAgent({ name: 'coder', model: [model, other], tools: [look, act] })
}

test('a loaded session is sent again, with images, calls and thoughts', async () => {
  const store = createMemoryStore()
  const steps = [
    { reasoning: 'Look first.', text: 'Let me look.', calls: [{ name: 'look', arguments: {} }] },
    { text: 'A garden.' },
  ]
  const first = await startEditor({ agent: createAgent(steps), store })
  const session = await first.open('/home/ann/shop')
  await first.agent.request(at.prompt, {
    sessionId: session,
    prompt: [
      { type: 'text', text: 'What is ' },
      { type: 'resource_link', name: 'a.png', uri: 'file:///home/ann/shop/a.png' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///home/ann/shop/b.txt', text: 'bees' } },
    ],
  })
  await first.stop()

  const second = await startEditor({ agent: createAgent(), store })
  const loaded = await second.agent.request(at.load, { sessionId: session, cwd: '/home/ann/shop', mcpServers: [] })
  const told = second.told.map(({ update }) => update)
  // Everything precedes the answer that a client waits for.
  expect(
    second.wire.findIndex(({ message }) => 'result' in message && 'method' in message === false && message.id === 1),
  ).toBe(second.wire.length - 1)
  expect(loaded.modes?.currentModeId).toBe('ask')
  expect(told.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
    'user_message_chunk',
    'user_message_chunk',
    'user_message_chunk',
    'agent_thought_chunk',
    'agent_message_chunk',
    'tool_call',
    'agent_message_chunk',
  ])
  expect(told[0]).toHaveProperty('content.text', 'What is [a.png](file:///home/ann/shop/a.png)')
  expect(told[1]).toHaveProperty('content', { type: 'image', data: PNG, mimeType: 'image/png' })
  expect(told[2]).toHaveProperty('content.text', '<file uri="file:///home/ann/shop/b.txt">\nbees\n</file>')
  expect(told[5]).toMatchObject({ name: 'look', status: 'completed' })
  expect(second.text()).toBe('Let me look.A garden.')
  expect(await second.prompt(session, 'And now?')).toBe('end_turn')
  await second.stop()
})

test('a resumed session sends nothing of the past', async () => {
  const store = createMemoryStore()
  const first = await startEditor({ agent: createAgent(), store })
  const session = await first.open()
  await first.prompt(session, 'Hi')
  await first.stop()
  const second = await startEditor({ agent: createAgent(), store })
  await second.agent.request(at.resume, { sessionId: session, cwd: '/work/project' })
  expect(second.text()).toBe('')
  expect(await second.prompt(session, 'Again')).toBe('end_turn')
  expect(second.text()).toBe('Yes.')
  await second.stop()
})

test('lists have folders; a deleted session is removed, and an unknown one is an error', async () => {
  const editor = await startEditor({ agent: createAgent() })
  const shop = await editor.open('/home/ann/shop')
  const garden = await editor.open('/home/ann/garden')
  const all = await editor.agent.request(at.list, {})
  expect(new Map(all.sessions.map(({ sessionId, cwd }) => [sessionId, cwd]))).toEqual(
    new Map([
      [shop, '/home/ann/shop'],
      [garden, '/home/ann/garden'],
    ]),
  )
  const some = await editor.agent.request(at.list, { cwd: '/home/ann/garden' })
  expect(some.sessions.map(({ sessionId }) => sessionId)).toEqual([garden])
  await editor.agent.request(at.delete, { sessionId: shop })
  expect((await editor.agent.request(at.list, {})).sessions).toHaveLength(1)
  const load = editor.agent.request(at.load, { sessionId: shop, cwd: '/home/ann/shop', mcpServers: [] })
  await expect(load).rejects.toMatchObject({ code: -32_002 })
  await expect(editor.prompt(shop, 'Hi')).rejects.toMatchObject({ code: -32_002, data: { code: 'unknown_session' } })
  await editor.stop()
})

test('a session that is closed while it works is cancelled, and can be loaded again', async () => {
  const steps = [{ text: 'I think', hangs: 'until-aborted' as const }, { text: 'Back.' }]
  const editor = await startEditor({ agent: createAgent(steps) })
  const session = await editor.open()
  const answer = editor.prompt(session, 'Think')
  await editor.until(() => editor.text() !== '')
  await editor.agent.request(at.close, { sessionId: session })
  expect(await answer).toBe('cancelled')
  await editor.agent.request(at.resume, { sessionId: session, cwd: '/work/project' })
  expect(await editor.prompt(session, 'Again')).toBe('end_turn')
  await editor.stop()
})

test('an editor that loads a session is asked what waits for a person, once, and its answer counts', async () => {
  const steps = [{ calls: [{ name: 'act', arguments: {} }] }, { text: 'Done.' }]
  const agent = createAgent(steps)
  const host = createHost({ agent })
  const first = await startEditor({ agent, host })
  const id = await first.open()
  await first.stop()
  const session = await host.session(id, { principal: { id: 'local' } })
  const turn = session.send('Act')
  await expect.poll(async () => (await session.approvals()).length).toBe(1)
  const [waiting] = await session.approvals()
  const editor = await startEditor({ agent, host })
  await editor.agent.request(at.load, { sessionId: id, cwd: '/work/project', mcpServers: [] })
  expect((await turn.answer).text).toBe('Done.')
  expect(editor.asked.map(({ toolCall }) => toolCall.toolCallId)).toEqual([waiting?.callId])
  await editor.stop()
  await host.stop()
})

test('a session that another process asks for goes there when it rests, and comes back with the next prompt', async () => {
  const store = createMemoryStore({ leaseMs: 400 })
  const [first, second] = [
    await startEditor({ agent: createAgent(), store }),
    await startEditor({ agent: createAgent(), store }),
  ]
  const session = await first.open()
  await first.prompt(session, 'From one')
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'done',
      (cause: { readonly data?: { readonly code?: string } }) => cause.data?.code,
    )
  const load = () => second.agent.request(at.load, { sessionId: session, cwd: '/work/project', mcpServers: [] })
  expect(await codeOf(load())).toBe('session_held')
  await expect.poll(() => codeOf(load())).toBe('done')
  expect(second.text('user_message_chunk')).toBe('From one')
  expect(await second.prompt(session, 'From two')).toBe('end_turn')
  await expect.poll(() => codeOf(first.prompt(session, 'Again from one'))).toBe('done')
  // It receives what was sent meanwhile.
  expect(first.text('user_message_chunk')).toContain('From two')
  await first.stop()
  await second.stop()
})

test('mode, model and thinking are chosen, told, and kept for the next time', async () => {
  const store = createMemoryStore()
  const first = await startEditor({ agent: createAgent(), store })
  const session = await first.open()
  const choose = (configId: string, value: string) =>
    first.agent.request(at.setConfigOption, { sessionId: session, configId, value })
  await choose('model', 'scripted/two')
  await choose('thinking', 'high')
  const { configOptions } = await choose('mode', 'allow')
  expect(configOptions.map(({ id, currentValue }) => [id, currentValue])).toEqual([
    ['mode', 'allow'],
    ['model', 'scripted/two'],
    ['thinking', 'high'],
  ])
  expect(first.told.map(({ update }) => update)).toContainEqual({
    sessionUpdate: 'current_mode_update',
    currentModeId: 'allow',
  })
  await first.prompt(session, 'Hi')
  expect(first.text()).toBe('Two.')
  await expect(choose('model', 'scripted/three')).rejects.toMatchObject({ code: -32_602 })
  await expect(choose('colour', 'red')).rejects.toMatchObject({ code: -32_602 })
  await first.stop()
  const second = await startEditor({ agent: createAgent(), store })
  const loaded = await second.agent.request(at.load, { sessionId: session, cwd: '/work/project', mcpServers: [] })
  expect(loaded.configOptions?.map(({ currentValue }) => currentValue)).toEqual(['allow', 'scripted/two', 'high'])
  await second.stop()
})

test('the mode says which tools a model has, and whether a person is asked', async () => {
  const calls = [{ name: 'act', arguments: {} }]
  const model = createScriptedModel({ steps: [{ calls }, { text: 'Not allowed.' }, { calls }, { text: 'Done.' }] })
  const editor = await startEditor({ agent: defineAgent({ name: 'coder', model, tools: [look, act] }) })
  const session = await editor.open()
  await editor.agent.request(at.setMode, { sessionId: session, modeId: 'read' })
  await editor.prompt(session, 'Act')
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['look'])
  const ended = editor.told.map(({ update }) => update).filter((update) => 'status' in update)
  expect(ended.at(-1)).toMatchObject({ name: 'act', status: 'failed' })
  await editor.agent.request(at.setMode, { sessionId: session, modeId: 'allow' })
  await editor.prompt(session, 'Act')
  expect(editor.asked).toEqual([])
  expect(editor.told.map(({ update }) => update)).toContainEqual(
    expect.objectContaining({ name: 'act', status: 'completed' }),
  )
  await editor.stop()
})

test('a step that forces a tool is free to answer where the mode takes that tool away', async () => {
  const model = createScriptedModel({ steps: [{ text: 'I may only look.' }, { text: 'I may only look.' }] })
  const toolChoice = { type: 'tool', name: 'act' } as const
  const agents = [
    defineAgent({ name: 'coder', model, tools: [look, act], prepareStep: () => ({ toolChoice }) }),
    defineAgent({ name: 'coder', model, tools: [look, act], settings: { toolChoice } }),
  ]
  for (const agent of agents) {
    const editor = await startEditor({ agent })
    const session = await editor.open()
    await editor.agent.request(at.setMode, { sessionId: session, modeId: 'read' })
    expect(await editor.prompt(session, 'Act')).toBe('end_turn')
    await editor.stop()
  }
  expect(model.requests.map((request) => request.toolChoice)).toEqual([{ type: 'auto' }, { type: 'auto' }])
})

test('commands are listed, and answered without the model', async () => {
  const model = createScriptedModel({ steps: [{ text: 'One.' }, { text: 'Other.' }] })
  const editor = await startEditor({ agent: defineAgent({ name: 'coder', model }) })
  const session = await editor.open()
  await editor.until(() => editor.told.some(({ update }) => update.sessionUpdate === 'available_commands_update'))
  expect(await editor.prompt(session, '/status')).toBe('end_turn')
  expect(editor.text()).toContain('Model: scripted/model')
  expect(model.requests).toHaveLength(0)
  await editor.prompt(session, 'Hi')
  expect(await editor.prompt(session, '/retry')).toBe('end_turn')
  expect(editor.text()).toContain('One.Other.')
  await editor.stop()
})

test('a place that cannot be is refused', async () => {
  const editor = await startEditor({ agent: createAgent() })
  const open = (more: object) => editor.agent.request(at.new, { cwd: '/work', mcpServers: [], ...more })
  await expect(open({ cwd: 'relative' })).rejects.toMatchObject({ code: -32_602 })
  await expect(open({ additionalDirectories: ['/other'] })).rejects.toMatchObject({ code: -32_602 })
  const server = { name: 'files', command: '/bin/files', args: [], env: [] }
  await expect(open({ mcpServers: [server] })).rejects.toMatchObject({
    message: expect.stringContaining('files') as string,
  })
  await editor.stop()
})
