// The offline model in a small loop: with the workspace tools on an unfamiliar folder, and with ten tools that use
// other names and words.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type {
  AssistantPart,
  JsonObject,
  Message,
  ModelEvent,
  ModelRequest,
  ResultPart,
  Tool,
  ToolDeclaration,
} from '@baton/core/internal'
import { readText, tool } from '@baton/core/internal'
import { createToolContext } from '@baton/core/testing'
import { workspaceTools } from '@baton/tools/workspace'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createOfflineModel } from './index.ts'

interface Ran {
  readonly calls: readonly (readonly [name: string, input: unknown])[]
  readonly answer: string
  readonly messages: readonly Message[]
}

const STEPS_MAX = 6

function declare(tools: readonly Tool[]): readonly ToolDeclaration[] {
  return tools.map(({ name, description, inputSchema, effect }) => ({ name, description, inputSchema, effect }))
}

function readRequest(
  messages: readonly Message[],
  tools: readonly Tool[],
  more: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    instructions: '',
    messages,
    tools: declare(tools),
    toolChoice: { type: 'auto' },
    settings: {},
    session: 's',
    ...more,
  }
}

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })

/** Runs the same loop as a host: model, tools, model, until an answer has no calls. */
async function ask(text: string, tools: readonly Tool[], before: readonly Message[] = []): Promise<Ran> {
  const messages: Message[] = [...before, user(text)]
  const calls: [string, unknown][] = []
  for (let step = 0; step < STEPS_MAX; step++) {
    const answer = await createOfflineModel().run(
      readRequest(messages, tools),
      () => undefined,
      new AbortController().signal,
    )
    const asked = answer.parts.flatMap((part) => (part.type === 'call' ? [part] : []))
    const parts = answer.parts.map((part, index): AssistantPart =>
      part.type === 'call' ? { ...part, callId: `c${step}_${index}` } : part,
    )
    messages.push({ role: 'assistant', parts })
    expect(answer.finish).toBe(asked.length > 0 ? 'tool-calls' : 'end')
    if (asked.length === 0) return { calls, answer: readText(answer.parts), messages }
    const results: ResultPart[] = []
    for (const [index, call] of asked.entries()) {
      const input: unknown = JSON.parse(call.arguments)
      calls.push([call.name, input])
      results.push({
        type: 'result',
        callId: `c${step}_${index}`,
        name: call.name,
        ...(await execute(tools, call.name, input)),
      })
    }
    messages.push({ role: 'tool', parts: results })
  }
  throw new Error(`no answer after ${STEPS_MAX} steps`)
}

async function execute(
  tools: readonly Tool[],
  name: string,
  input: unknown,
): Promise<Pick<ResultPart, 'isError' | 'content'>> {
  const found = tools.find((candidate) => candidate.name === name)
  if (!found?.execute || !(found.input instanceof z.ZodType)) throw new Error(`${name} cannot be executed`)
  const context = createToolContext({ signal: new AbortController().signal })
  try {
    const value = await found.execute(found.input.parse(input), context)
    return { isError: false, content: [{ type: 'text', text: JSON.stringify(value) }] }
  } catch (error) {
    return {
      isError: true,
      content: [{ type: 'text', text: `Error: ${error instanceof Error ? error.message : 'unknown'}` }],
    }
  }
}

describe('on the workspace tools', () => {
  let root = ''
  let tools: readonly Tool[] = []

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'baton-offline-'))
    tools = workspaceTools({ root })
    const files = {
      'README.md': Array.from({ length: 40 }, (_, index) => `readme line ${index + 1}`).join('\n'),
      'package.json': '{\n  "name": "sample-app"\n}\n',
      'src/socket.ts': 'new WebSocket(a)\n\nnew WebSocket(b)\n',
      'src/other.ts': 'nothing\n',
      'docs/wire.md': 'We use a WebSocket, and the turn limit is 8.\n',
    }
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    }
  })

  afterEach(() => rmSync(root, { recursive: true, force: true }))

  test('which files mention a word', async () => {
    const { calls, answer } = await ask('which files here mention WebSocket?', tools)
    expect(calls).toEqual([['code.grep', { pattern: 'WebSocket' }]])
    expect(answer).toContain('2 files')
    expect(answer).toContain('- docs/wire.md (count 1)')
    expect(answer).toContain('- src/socket.ts (count 2)')
    expect(answer).toContain('without a language model')
  })

  test('some lines of a file', async () => {
    const { calls, answer } = await ask('show me lines 1 to 20 of README.md', tools)
    expect(calls).toEqual([['content.get_span', { path: 'README.md', startLine: 1, endLine: 20 }]])
    expect(answer).toContain('readme line 1\n')
    expect(answer).toContain('readme line 20\n')
    expect(answer).not.toContain('readme line 21')
  })

  test.each([
    ['list the files in src', [['fs.list_dir', { path: 'src' }]], '- src/socket.ts'],
    ['what is in src?', [['fs.list_dir', { path: 'src' }]], '- src/other.ts'],
    ['what is in package.json', [['content.get_span', { path: 'package.json' }]], 'sample-app'],
    ['Show me the readme', [['content.get_span', { path: 'README.md' }]], 'readme line 40'],
    [
      'show line 7 of README.md please',
      [['content.get_span', { path: 'README.md', startLine: 7, endLine: 7 }]],
      'readme line 7',
    ],
    [
      'the first 3 lines of README.md',
      [['content.get_span', { path: 'README.md', startLine: 1, endLine: 3 }]],
      'readme line 3',
    ],
    [
      'search for "turn limit" in docs',
      [['code.grep', { pattern: 'turn limit', pathPrefix: 'docs' }]],
      '- docs/wire.md (count 1)',
    ],
    ['where is the turn limit mentioned?', [['code.grep', { pattern: 'turn limit' }]], '- docs/wire.md (count 1)'],
    ['find "socket(a)"', [['code.grep', { pattern: 'socket\\(a\\)' }]], 'Nothing was found'],
    ['list everything with depth 3', [['fs.list_dir', { depth: 3 }]], '- docs/wire.md'],
  ])('%s', async (text, expected, part) => {
    const { calls, answer } = await ask(text, tools)
    expect(calls).toEqual(expected)
    expect(answer).toContain(part)
  })

  test('two files in one sentence are two calls of one answer', async () => {
    const { calls } = await ask('show package.json and README.md', tools)
    expect(calls).toEqual([
      ['content.get_span', { path: 'package.json' }],
      ['content.get_span', { path: 'README.md' }],
    ])
  })

  test('a failed call is followed by an honest answer', async () => {
    const { calls, answer } = await ask('read the file src/none.ts', tools)
    expect(calls).toEqual([['content.get_span', { path: 'src/none.ts' }]])
    expect(answer).toContain('failed: "src/none.ts" does not exist in the workspace')
  })

  test('a list that was cut is said to be cut', async () => {
    const small = workspaceTools({ root, limits: { listedEntriesMax: 1 } })
    const { calls, answer } = await ask('list the files in src', small)
    expect(calls).toEqual([['fs.list_dir', { path: 'src' }]])
    expect(answer).toContain('- src/other.ts')
    expect(answer).toContain('There is more: ')
  })

  test.each(['hi', 'Hello there!', 'what can you do?'])('%s: it says what it is and what it can use', async (text) => {
    const { calls, answer } = await ask(text, tools)
    expect(calls).toEqual([])
    expect(answer).toContain('not a language model')
    expect(answer).toContain('- code.grep: ')
  })

  test.each([
    'tell me a joke',
    'what is the capital of France?',
    'delete README.md',
    'write a poem about files',
    'Please fix src/socket.ts',
    '?',
    '😀',
  ])('%s: it cannot help and says so', async (text) => {
    const { calls, answer } = await ask(text, tools)
    expect(calls).toEqual([])
    expect(answer).toContain('I cannot help with that.')
  })

  test('a second question is answered for itself, without saying again what it is', async () => {
    const first = await ask('what is in package.json', tools)
    const second = await ask('list the files in src', tools, first.messages)
    expect(second.calls).toEqual([['fs.list_dir', { path: 'src' }]])
    expect(second.answer).not.toContain('language model')
  })
})

const record = (name: string, description: string, input: z.ZodType): Tool =>
  tool({ name, description, input, effect: 'pure', execute: (given) => ({ given }) })

/** Tools that the model knows nothing about. */
const strangers: readonly Tool[] = [
  record(
    'text.locate',
    'Locate a phrase in the documents of the archive',
    z.object({ needle: z.string(), within: z.string().optional() }),
  ),
  record(
    'page.excerpt',
    'View a passage of a document',
    z.object({ document: z.string(), fromLine: z.int(), toLine: z.int() }),
  ),
  record(
    'weather.lookup',
    'Current weather and forecast for a city',
    z.object({ city: z.string(), unit: z.enum(['celsius', 'fahrenheit']).default('celsius') }),
  ),
  record('calendar.events', 'Appointments of a day', z.object({ day: z.string() })),
  record(
    'GetTicket',
    'Details of a ticket of a GitHub repository',
    z.object({ owner: z.string(), repo: z.string(), issueNumber: z.int() }),
  ),
  record(
    'currency_convert',
    'Convert an amount of money between currencies',
    z.object({ amount: z.number(), from: z.enum(['EUR', 'USD', 'JPY']), to: z.enum(['EUR', 'USD', 'JPY']) }),
  ),
  record('contacts-find', 'Find people in the address book', z.object({ name: z.string() })),
  record('web.fetchPage', 'Fetch a web page', z.object({ url: z.url() })),
  record('sessions.recent', 'Enumerate the latest coding sessions', z.object({ limit: z.int().max(50).default(10) })),
  record('agentState', 'Status of a running agent', z.object({ agentId: z.string() })),
]

describe('on ten tools with other names and words', () => {
  test.each([
    ['which documents mention "red apples"?', 'text.locate', { needle: 'red apples' }],
    ['search for blue whales', 'text.locate', { needle: 'blue whales' }],
    ['show me lines 3-9 of notes/today.txt', 'page.excerpt', { document: 'notes/today.txt', fromLine: 3, toLine: 9 }],
    ["what's the weather in New York?", 'weather.lookup', { city: 'New York' }],
    [
      'Will it rain in paris tomorrow? Give me the forecast in fahrenheit',
      'weather.lookup',
      { city: 'paris', unit: 'fahrenheit' },
    ],
    ['what appointments do I have on Friday?', 'calendar.events', { day: 'Friday' }],
    ['any meetings on 2026-03-04', 'calendar.events', { day: '2026-03-04' }],
    ['show ticket 42 of acme/rocket', 'GetTicket', { owner: 'acme', repo: 'rocket', issueNumber: 42 }],
    ['find the contact named Ada Lovelace', 'contacts-find', { name: 'Ada Lovelace' }],
    ['fetch https://example.com/a?b=1.', 'web.fetchPage', { url: 'https://example.com/a?b=1' }],
    ['list the 5 latest sessions', 'sessions.recent', { limit: 5 }],
    ['show the last 3 sessions', 'sessions.recent', { limit: 3 }],
    ['list the latest coding sessions', 'sessions.recent', {}],
    ['what is the status of agent bc-7f3?', 'agentState', { agentId: 'bc-7f3' }],
  ])('%s', async (text, name, input) => {
    const { calls } = await ask(text, strangers)
    expect(calls).toEqual([[name, input]])
  })

  test('what is missing is asked for', async () => {
    const { calls, answer } = await ask('what is the weather?', strangers)
    expect(calls).toEqual([])
    expect(answer).toBe(
      'weather.lookup fits, but your words do not mention its city. Please name it, in quotes if it is unusual.',
    )
  })
})

describe('what it may do', () => {
  const words = 'Which files mention WebSocket'
  const search = (effect: 'pure' | 'idempotent' | 'once'): Tool =>
    tool({
      name: 'search',
      description: 'Search files',
      input: z.object({ query: z.string() }),
      effect,
      execute: () => [],
    })
  const run = (more: Partial<ModelRequest>, tools = [search('pure')]) =>
    createOfflineModel().run(readRequest([user(words)], tools, more), () => undefined, new AbortController().signal)

  test('only tools that are declared pure are called, even when a call is demanded', async () => {
    for (const effect of ['idempotent', 'once'] as const) {
      expect(await run({}, [search(effect)])).toMatchObject({ finish: 'end' })
      expect(await run({ toolChoice: { type: 'tool', name: 'search' } }, [search(effect)])).toMatchObject({
        finish: 'end',
      })
    }
    const [declared] = declare([search('pure')])
    const { effect: _effect, ...silent } = declared ?? { name: '', description: '', inputSchema: {} }
    expect(await run({ tools: [silent] })).toMatchObject({ finish: 'end' })
    expect(await run({})).toMatchObject({ finish: 'tool-calls' })
  })

  test('a tool that fits best but changes something is named, not called', async () => {
    const status = tool({
      name: 'agent.status',
      description: 'Status of an agent',
      input: z.object({ id: z.string() }),
      effect: 'pure',
    })
    const spawn = tool({
      name: 'agent.spawn',
      description: 'Launch an agent for coding tasks',
      input: z.object({ prompt: z.string() }),
    })
    const launched = await run({ messages: [user('launch an agent for this')] }, [status, spawn])
    expect(readText(launched.parts)).toContain('agent.spawn fits, but it may change something')
    const asked = await run({ messages: [user('status of agent bc-1')] }, [status, spawn])
    expect(asked.parts).toMatchObject([{ type: 'call', name: 'agent.status', arguments: '{"id":"bc-1"}' }])
  })

  test('no call where the choice is none: it answers from what it has', async () => {
    expect(await run({ toolChoice: { type: 'none' } })).toMatchObject({ finish: 'end' })
    const result: ResultPart = {
      type: 'result',
      callId: 'c',
      name: 'search',
      isError: false,
      content: [{ type: 'text', text: '["a","b"]' }],
    }
    const messages: readonly Message[] = [
      user(words),
      { role: 'assistant', parts: [{ type: 'call', callId: 'c', name: 'search', arguments: '{"query":"WebSocket"}' }] },
      { role: 'tool', parts: [result] },
      user('Answer now from what you have.'),
    ]
    const answer = await run({ messages, toolChoice: { type: 'none' } })
    expect(readText(answer.parts)).toContain('2 results:\n- a\n- b')
  })

  test('it streams word by word what it answers, and stops when it is aborted', async () => {
    const deltas: string[] = []
    const controller = new AbortController()
    const sink = (event: ModelEvent): void => {
      if (event.type === 'text-delta') deltas.push(event.text)
      if (deltas.length === 3 && controller.signal.aborted === false && stopAtThree) controller.abort()
    }
    let stopAtThree = false
    const answer = await createOfflineModel().run(readRequest([user('hi')], []), sink, controller.signal)
    expect(deltas.join('')).toBe(readText(answer.parts))
    expect(deltas.length).toBeGreaterThan(10)
    deltas.length = 0
    stopAtThree = true
    const stopped = createOfflineModel().run(readRequest([user('hi')], []), sink, controller.signal)
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' })
    expect(deltas.length).toBe(3)
  })

  test('a call is streamed as start, arguments, end', async () => {
    const events: ModelEvent[] = []
    await createOfflineModel().run(
      readRequest([user(words)], [search('pure')]),
      (event) => void events.push(event),
      new AbortController().signal,
    )
    expect(events).toEqual([
      { type: 'call-start', index: 0, name: 'search' },
      { type: 'call-delta', index: 0, text: '{"query":"WebSocket"}' },
      { type: 'call-end', index: 0 },
    ])
  })

  test('schemas of any shape never make it throw', async () => {
    const schemas: readonly JsonObject[] = [
      {},
      { type: 'object' },
      {
        type: 'object',
        properties: {
          a: true,
          b: null,
          c: { type: ['string', 'null'] },
          d: { anyOf: [{ type: 'null' }] },
          e: { enum: [] },
        },
        required: 'a',
      },
      {
        type: 'object',
        properties: { files: { type: 'array' }, mention: { type: 'object' } },
        required: ['files', 'mention', 'none'],
      },
    ]
    for (const inputSchema of schemas) {
      const tools: readonly ToolDeclaration[] = [
        { name: 'files.mention', description: 'Which files mention', inputSchema, effect: 'pure' },
      ]
      expect((await run({ tools })).parts).toHaveLength(1)
    }
  })
})
