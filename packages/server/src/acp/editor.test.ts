// An editor's services for an agent: questions as forms, client tools, files and terminals; and a model that starts
// over.
import { methods } from '@agentclientprotocol/sdk'
import type { ClientApp } from '@agentclientprotocol/sdk'
import { BatonError, defineAgent, tool } from '@baton/core'
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import type { ScriptedStep } from '@baton/core/testing'
import { createNodeEnvironment } from '@baton/host'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startEditor } from './acp.test-kit.ts'
import { CALL_TOOL, CLIENT_TOOLS } from './wire.ts'
import type { Editor } from './editor.ts'
import { createEditor } from './editor.ts'
import { EDITED_INPUT } from './permissions.ts'

const EMPTY = { type: 'object', properties: {} } as const
const NO_MODEL = (steps: readonly ScriptedStep[]) => createScriptedModel({ steps })

const greet = tool({
  name: 'greet',
  description: 'Greets.',
  input: EMPTY,
  effect: 'pure',
  execute: async (_input, { ask }) => {
    const { name } = await ask({ message: 'Who are you?', schema: z.object({ name: z.string() }) })
    return `Hello, ${name}`
  },
})

test('a question of a tool is a form, and its answer goes to the tool', async () => {
  const forms: unknown[] = []
  const model = NO_MODEL([{ calls: [{ name: 'greet', arguments: {} }] }, { text: 'Greeted.' }])
  const editor = await startEditor({
    agent: defineAgent({ name: 'shop', model, tools: [greet] }),
    capabilities: { elicitation: { form: {} } },
    app: (app) =>
      app.onRequest(methods.client.elicitation.create, ({ params }) => {
        forms.push(params)
        return { action: 'accept', content: { name: 'Ann' } }
      }),
  })
  await editor.prompt(await editor.open(), 'Greet me')
  expect(forms).toMatchObject([
    { mode: 'form', message: 'Who are you?', requestedSchema: { properties: { name: { type: 'string' } } } },
  ])
  expect(editor.told.map(({ update }) => update)).toContainEqual(
    expect.objectContaining({
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'Hello, Ann' } }],
    }),
  )
  await editor.stop()
})

test('an editor without forms declines questions at once', async () => {
  const model = NO_MODEL([{ calls: [{ name: 'greet', arguments: {} }] }, { text: 'Then not.' }])
  const editor = await startEditor({ agent: defineAgent({ name: 'shop', model, tools: [greet] }) })
  await editor.prompt(await editor.open(), 'Greet me')
  expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain('cannot show questions')
  await editor.stop()
})

test('a client tool is run by a client that says that it can, once', async () => {
  const pick = tool({ name: 'pick_color', description: 'Picks.', input: EMPTY })
  const model = NO_MODEL([{ calls: [{ name: 'pick_color', arguments: {} }] }, { text: 'Red it is.' }])
  const called: unknown[] = []
  const editor = await startEditor({
    agent: defineAgent({ name: 'shop', model, tools: [pick] }),
    capabilities: { _meta: { [CLIENT_TOOLS]: ['pick_color'] } },
    app: (app) =>
      app.onRequest(
        CALL_TOOL,
        (params: unknown) => params,
        ({ params }) => {
          called.push(params)
          return { output: { color: 'red' } }
        },
      ),
  })
  expect(await editor.prompt(await editor.open(), 'Pick')).toBe('end_turn')
  expect(called).toMatchObject([{ name: 'pick_color', input: {} }])
  expect(editor.told.map(({ update }) => update)).toContainEqual(
    expect.objectContaining({ status: 'completed', rawOutput: { color: 'red' } }),
  )
  await editor.stop()
})

test('a call that ends while the editor runs it is cancelled there, and what the editor brings is a note for the model', async () => {
  const pay = tool({ name: 'pay', description: 'Pays.', input: EMPTY, effect: 'once' })
  const model = NO_MODEL([{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'It is paid.' }])
  const asked = Promise.withResolvers<AbortSignal>()
  const paid = Promise.withResolvers<object>()
  const editor = await startEditor({
    agent: defineAgent({ name: 'shop', model, tools: [pay] }),
    capabilities: { _meta: { [CLIENT_TOOLS]: ['pay'] } },
    app: (app) =>
      app.onRequest(
        CALL_TOOL,
        (params: unknown) => params,
        ({ signal }) => {
          asked.resolve(signal)
          return paid.promise
        },
      ),
  })
  const id = await editor.open()
  const prompt = editor.prompt(id, 'Pay').catch(() => {}) // its turn is stopped
  const signal = await asked.promise
  const session = frontOf(await editor.host.session(id, { principal: { id: 'local' } }))
  await session.control('stop')
  await session.control('start')
  await prompt
  await expect.poll(() => signal.aborted).toBe(true)
  const events = session.events({ from: 'now', delivery: true })
  paid.resolve({ output: 'paid 5' })
  for await (const event of events) if (event.type === 'result-ignored') break
  await editor.prompt(id, 'Did it work?')
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('finished after all: \\"paid 5\\"')
  await editor.stop()
})

test('a person who changes the input of a call approves that', async () => {
  const sent: unknown[] = []
  const mail = tool({
    name: 'mail',
    description: 'Mails.',
    input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    approval: true,
    execute: (input) => {
      sent.push(input)
      return 'sent'
    },
  })
  const model = NO_MODEL([{ calls: [{ name: 'mail', arguments: { to: 'bob' } }] }, { text: 'Sent.' }])
  const editor = await startEditor({
    agent: defineAgent({ name: 'shop', model, tools: [mail] }),
    permit: () => ({
      outcome: { outcome: 'selected', optionId: 'allow' },
      _meta: { [EDITED_INPUT]: { to: 'ann' } },
    }),
  })
  await editor.prompt(await editor.open(), 'Mail')
  expect(sent).toEqual([{ to: 'ann' }])
  await editor.stop()
})

const withFiles = (files: Map<string, string>) => (app: ClientApp) =>
  app
    .onRequest(methods.client.fs.readTextFile, ({ params }) => ({ content: files.get(params.path) ?? '' }))
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      files.set(params.path, params.content)
      return {}
    })
    .onRequest(methods.client.terminal.create, () => ({ terminalId: 'term-1' }))
    .onRequest(methods.client.terminal.waitForExit, () => ({ exitCode: 3 }))
    .onRequest(methods.client.terminal.output, () => ({ output: 'three\n', truncated: false }))
    .onRequest(methods.client.terminal.release, () => ({}))

test('tools use the files and the terminals of the editor, and the editor shows the terminal at its call', async () => {
  const files = new Map([['/work/project/a.txt', 'not saved yet']])
  const model = NO_MODEL([{ calls: [{ name: 'copy', arguments: {} }] }, { text: 'Copied.' }])
  const createAgent = (given: Editor) =>
    defineAgent({
      name: 'coder',
      model,
      tools: [
        tool({
          name: 'copy',
          description: 'Copies.',
          input: EMPTY,
          execute: async (_input, { callId, signal }) => {
            const text = await given.readTextFile?.('/work/project/a.txt')
            await given.writeTextFile?.('/work/project/b.txt', text ?? '')
            const limits = { timeoutMs: 10_000, outputBytes: 1000 }
            return await given.runCommand?.({ callId, command: 'make', args: [], cwd: '/work', signal, ...limits })
          },
        }),
      ],
    })
  const editor = await startEditor({
    agent: createAgent({}),
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    app: withFiles(files),
    options: { agentOf: ({ editor: given }) => createAgent(given) },
  })
  await editor.prompt(await editor.open(), 'Copy')
  expect(files.get('/work/project/b.txt')).toBe('not saved yet')
  const told = editor.told.map(({ update }) => update).filter((update) => 'toolCallId' in update)
  expect(told).toContainEqual(expect.objectContaining({ content: [{ type: 'terminal', terminalId: 'term-1' }] }))
  expect(told.at(-1)).toMatchObject({ status: 'completed', rawOutput: { exitCode: 3, output: 'three\n' } })
  await editor.stop()
})

test('an editor without capabilities is asked for nothing', async () => {
  let given: Editor | undefined
  const agent = defineAgent({ name: 'coder', model: NO_MODEL([{ text: 'Hi.' }]) })
  const editor = await startEditor({
    agent,
    options: {
      agentOf: ({ editor: offered }) => {
        given = offered
        return agent
      },
    },
  })
  await editor.open()
  expect(given).toEqual({})
  await editor.stop()
})

test('a model that fails in mid-answer and begins again repeats nothing', async () => {
  const overloaded = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
  const model = NO_MODEL([
    { text: 'The capital of Norway', error: overloaded },
    { text: 'The capital of Norway is Oslo.' },
  ])
  const editor = await startEditor({ agent: defineAgent({ name: 'guide', model, retry: { baseMs: 1 } }) })
  expect(await editor.prompt(await editor.open(), 'Norway?')).toBe('end_turn')
  expect(editor.text()).toBe('The capital of Norway is Oslo.')
  await editor.stop()
})

test('an editor sees the plan and how full the window is', async () => {
  const plan = tool({
    name: 'plan',
    description: 'Plans.',
    input: EMPTY,
    effect: 'pure',
    execute: (_input, context) => {
      context.plan([{ content: 'Look', status: 'in_progress' }])
      return 'planned'
    },
  })
  const model = createScriptedModel({
    steps: [
      { calls: [{ name: 'plan', arguments: {} }], usage: { inputTokens: 40, outputTokens: 2 } },
      { text: 'Done.' },
    ],
    capabilities: { contextTokens: 8000 },
  })
  const editor = await startEditor({ agent: defineAgent({ name: 'coder', model, tools: [plan] }) })
  await editor.prompt(await editor.open(), 'Plan')
  const told = editor.told.map(({ update }) => update)
  expect(told).toContainEqual({
    sessionUpdate: 'plan',
    entries: [{ content: 'Look', status: 'in_progress', priority: 'medium' }],
  })
  expect(told).toContainEqual(expect.objectContaining({ sessionUpdate: 'usage_update', size: 8000 }))
  await editor.stop()
})

test.each([null, 5, [], {}, { content: null }, { content: { length: Number.MAX_SAFE_INTEGER } }])(
  'an editor’s answer for a file such as %j is not text',
  async (answer) => {
    const { readTextFile } = createEditor({
      client: { request: () => Promise.resolve(answer as never) },
      session: 's',
      capabilities: { fs: { readTextFile: true } },
      fileMs: 1000,
      timers: createNodeEnvironment().timers,
      onTerminal: () => Promise.resolve(),
    })
    await expect(readTextFile?.('/work/a')).rejects.toMatchObject({
      code: 'tool_failed',
      message: 'the editor’s answer has no text in content',
    })
  },
)

test('the end of a command that an editor makes up is one without a code', async () => {
  const answers: Readonly<Record<string, unknown>> = {
    [methods.client.terminal.create]: { terminalId: 't' },
    [methods.client.terminal.waitForExit]: null,
    [methods.client.terminal.output]: { output: 'done', truncated: 'yes' },
  }
  const { runCommand } = createEditor({
    client: { request: (method: string) => Promise.resolve(answers[method] as never) },
    session: 's',
    capabilities: { terminal: true },
    fileMs: 1000,
    timers: createNodeEnvironment().timers,
    onTerminal: () => Promise.resolve(),
  })
  const { signal } = new AbortController()
  const command = { callId: 'c', command: 'ls', args: [], cwd: '/work', timeoutMs: 1000, outputBytes: 1000, signal }
  const end = { output: 'done', truncated: false, timedOut: false, exitCode: null, signal: null }
  expect(await runCommand?.(command)).toEqual(end)
})

test('an editor is shown so much of a result, and the model reads all of it', async () => {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    input: EMPTY,
    effect: 'pure',
    execute: () => 'x'.repeat(50),
  })
  const model = NO_MODEL([{ calls: [{ name: 'look', arguments: {} }] }, { text: 'Seen.' }])
  const editor = await startEditor({
    agent: defineAgent({ name: 'shop', model, tools: [look] }),
    options: { limits: { resultChars: 20 } },
  })
  await editor.prompt(await editor.open(), 'Look')
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('x'.repeat(50))
  const shown = JSON.stringify(editor.told)
  expect(shown).toContain('x'.repeat(19))
  expect(shown).not.toContain('x'.repeat(21))
  await editor.stop()
})

test('an editor that does not answer for a file has its time', async () => {
  const waits: { readonly ms: number; readonly callback: () => void }[] = []
  const files = createEditor({
    client: { request: () => new Promise<never>(() => {}) },
    session: 's',
    capabilities: { fs: { readTextFile: true, writeTextFile: true } },
    fileMs: 30_000,
    timers: {
      start: (ms, callback) => {
        waits.push({ ms, callback })
        return () => {}
      },
    },
    onTerminal: () => Promise.resolve(),
  })
  const asked = [files.readTextFile?.('/work/a'), files.writeTextFile?.('/work/a', 'text')]
  expect(waits.map(({ ms }) => ms)).toEqual([30_000, 30_000])
  for (const { callback } of waits) callback()
  for (const one of asked) await expect(one).rejects.toMatchObject({ code: 'tool_failed' })
})

test.each([true, false])('limits are told only to an editor that shows notices: %s', async (shows) => {
  const look = tool({ name: 'look', description: 'Looks.', input: EMPTY, effect: 'pure', execute: () => 'seen' })
  const model = NO_MODEL([{ calls: [{ name: 'look', arguments: {} }] }, { text: 'Enough.' }])
  const editor = await startEditor({
    agent: defineAgent({ name: 'shop', model, tools: [look], limits: { toolRounds: 1 } }),
    ...(shows && { capabilities: { session: { notices: {} } } as never }), // from the draft
  })
  await editor.prompt(await editor.open(), 'Look')
  expect(editor.told.some(({ update }) => String(update.sessionUpdate) === 'notice')).toBe(shows)
  await editor.stop()
})
