// An editor's prompts: the SDK's own client drives an agent, and every message fits the SDK's JSON Schemas.
import { methods } from '@agentclientprotocol/sdk'
import type { Tool } from '@baton/core'
import { BatonError, defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import type { ScriptedStep } from '@baton/core/testing'
import { expect, test } from 'vitest'
import type { EditorParts } from './acp.test-kit.ts'
import { startEditor } from './acp.test-kit.ts'

const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  title: 'Add',
  kind: 'other',
  input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  effect: 'pure',
  execute: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
})

const write = tool({
  name: 'write',
  description: 'Writes a file.',
  kind: 'edit',
  input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  approval: true,
  describe: ({ path }) => ({
    title: `Write ${String(path)}`,
    locations: [{ path: String(path), line: 3 }],
    diff: [{ path: String(path), oldText: null, newText: 'hello\n' }],
  }),
  execute: ({ path }) => ({ content: [{ type: 'text', text: `wrote ${String(path)}` }] }),
})

function start(steps: readonly ScriptedStep[], more: Partial<EditorParts> & { readonly tools?: readonly Tool[] } = {}) {
  const { tools = [add, write], ...parts } = more
  const model = createScriptedModel({ steps })
  const agent = defineAgent({ name: 'coder', model, tools: [...tools] })
  return startEditor({ agent, ...parts })
}

test('a prompt is answered by chunks that are deltas, and ends with the turn', async () => {
  const editor = await start([{ reasoning: 'Hmm.', text: 'Hello from Baton.', pieces: ['Hello ', 'from ', 'Baton.'] }])
  const session = await editor.open()
  expect(await editor.prompt(session, 'Hi')).toBe('end_turn')
  expect(editor.text()).toBe('Hello from Baton.')
  expect(editor.text('agent_thought_chunk')).toBe('Hmm.')
  // The editor's own messages are not sent back.
  expect(editor.text('user_message_chunk')).toBe('')
  await editor.stop()
})

test('a call is reported as it begins and ends, with its places, its change and its result', async () => {
  const calls = [{ name: 'write', arguments: { path: 'src/a.txt' } }]
  const editor = await start([{ calls }, { text: 'Done.' }])
  const session = await editor.open('/home/ann/shop')
  expect(await editor.prompt(session, 'Write it')).toBe('end_turn')
  const updates = editor.told.map(({ update }) => update)
  const told = updates.filter((update) => 'toolCallId' in update)
  expect(told[0]).toMatchObject({
    sessionUpdate: 'tool_call',
    title: 'Write src/a.txt',
    name: 'write',
    kind: 'edit',
    status: 'pending',
    rawInput: { path: 'src/a.txt' },
    locations: [{ path: '/home/ann/shop/src/a.txt', line: 3 }],
    content: [{ type: 'diff', path: '/home/ann/shop/src/a.txt', oldText: null, newText: 'hello\n' }],
  })
  expect(told.at(-1)).toMatchObject({ sessionUpdate: 'tool_call_update', status: 'completed' })
  expect(told.at(-1)).toHaveProperty('content.1.content.text', 'wrote src/a.txt')
  expect(told.some((update) => 'status' in update && update.status === 'in_progress')).toBe(true)
  expect(editor.asked).toHaveLength(1)
  expect(editor.asked[0]?.options.map(({ kind }) => kind)).toEqual([
    'allow_once',
    'allow_always',
    'reject_once',
    'reject_always',
  ])
  await editor.stop()
})

test('a call rejected by a person fails, and the model continues', async () => {
  const calls = [{ name: 'write', arguments: { path: 'a' } }]
  const editor = await start([{ calls }, { text: 'Then not.' }], {
    permit: () => ({ outcome: { outcome: 'selected', optionId: 'reject' } }),
  })
  expect(await editor.prompt(await editor.open(), 'Write it')).toBe('end_turn')
  expect(editor.told.map(({ update }) => update)).toContainEqual(expect.objectContaining({ status: 'failed' }))
  expect(editor.text()).toBe('Then not.')
  await editor.stop()
})

test('what is always allowed is asked once', async () => {
  const calls = [{ name: 'write', arguments: { path: 'a' } }]
  const editor = await start([{ calls }, { calls: [{ name: 'write', arguments: { path: 'b' } }] }, { text: 'Done.' }], {
    permit: () => ({ outcome: { outcome: 'selected', optionId: 'allow-always' } }),
  })
  await editor.prompt(await editor.open(), 'Write both')
  expect(editor.asked).toHaveLength(1)
  await editor.stop()
})

test('a turn that is cancelled ends as cancelled, also while a permission waits', async () => {
  const calls = [{ name: 'write', arguments: { path: 'a' } }]
  const editor = await start([{ calls }, { text: 'never' }], {
    permit: (_asked, signal) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ outcome: { outcome: 'cancelled' } }), { once: true }),
      ),
  })
  const session = await editor.open()
  const answer = editor.prompt(session, 'Write it')
  await editor.until(() => editor.asked.length === 1)
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: session })
  expect(await answer).toBe('cancelled')
  await editor.stop()
})

test('a request that is cancelled by its id ends its turn', async () => {
  const editor = await start([{ text: 'I think', hangs: 'until-aborted' }])
  const session = await editor.open()
  const gone = new AbortController()
  const answer = editor.agent.request(
    methods.agent.session.prompt,
    { sessionId: session, prompt: [{ type: 'text', text: 'Hi' }] },
    { cancellationSignal: gone.signal },
  )
  await editor.until(() => editor.text().length > 0)
  gone.abort()
  expect(await answer).toEqual({ stopReason: 'cancelled' })
  await editor.stop()
})

test('the reasons to stop are those of the turn', async () => {
  const editor = await start([
    { text: 'cut', finish: 'max-tokens' },
    { text: '', finish: 'refusal' },
    { error: new BatonError({ code: 'model_invalid_request', message: 'no such thing' }) },
  ])
  const session = await editor.open()
  expect(await editor.prompt(session, 'one')).toBe('max_tokens')
  expect(await editor.prompt(session, 'two')).toBe('refusal')
  await expect(editor.prompt(session, 'three')).rejects.toMatchObject({
    code: -32_603,
    message: expect.stringContaining('no such thing') as string,
    data: { code: 'model_invalid_request' },
  })
  await editor.stop()
})

test('an unknown tool and a failing tool are failed calls, and the turn continues', async () => {
  const broken = tool({
    name: 'broken',
    description: 'Fails.',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    execute: () => {
      throw new Error('it is broken')
    },
  })
  const calls = [
    { name: 'no_such_tool', arguments: {} },
    { name: 'broken', arguments: {} },
  ]
  const editor = await start([{ calls }, { text: 'Neither worked.' }], { tools: [broken] })
  expect(await editor.prompt(await editor.open(), 'Try')).toBe('end_turn')
  const failed = editor.told.flatMap(({ update }) =>
    'status' in update && update.status === 'failed' && 'name' in update ? [update.name] : [],
  )
  expect(failed).toEqual(expect.arrayContaining(['no_such_tool', 'broken']))
  expect(editor.text()).toBe('Neither worked.')
  await editor.stop()
})

test('a second prompt steers the running turn, and both get its end', async () => {
  const gate = Promise.withResolvers<void>()
  const slow = tool({
    name: 'slow',
    description: 'Waits.',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    execute: async () => {
      await gate.promise
      return 'ready'
    },
  })
  const editor = await start([{ calls: [{ name: 'slow', arguments: {} }] }, { text: 'Both.' }], { tools: [slow] })
  const session = await editor.open()
  const first = editor.prompt(session, 'Begin')
  await editor.until(() => editor.told.some(({ update }) => 'status' in update && update.status === 'in_progress'))
  const second = editor.prompt(session, 'and in French')
  const { info } = await editor.host.session(session, { principal: { id: 'local' } })
  while ((await info()).queued.length === 0) await new Promise((resolve) => void setImmediate(resolve))
  gate.resolve()
  expect([await first, await second]).toEqual(['end_turn', 'end_turn'])
  expect(editor.text()).toBe('Both.')
  await editor.stop()
})
