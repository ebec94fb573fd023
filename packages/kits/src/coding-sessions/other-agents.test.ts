// The tools over sessions of Gemini CLI and OpenCode, in every format they use.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createToolContext } from '@baton/core/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { readClaudeCodeLine } from './claude-code.ts'
import type { CodingSessionOptions } from './index.ts'
import { codingSessionTools } from './index.ts'
import type { OpenCodeMessage, Store } from './session-files.test-kit.ts'
import {
  at,
  createStore,
  idOf,
  user,
  writeClaudeCode,
  writeCodex,
  writeGemini,
  writeGeminiLines,
  writeOpenCodeFiles,
  writeOpenCodeRows,
} from './session-files.test-kit.ts'

let place = ''
let store: Store

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-agents-'))
  store = createStore(place)
})

afterEach(() => rmSync(place, { recursive: true, force: true }))

async function run(name: string, input: object = {}, options: Partial<CodingSessionOptions> = {}) {
  const tool = codingSessionTools({ ...store, ...options }).find((candidate) => candidate.name === name)
  if (!tool?.execute || !(tool.input instanceof z.ZodType) || !(tool.output instanceof z.ZodType)) throw new Error(name)
  const result = await tool.execute(tool.input.parse(input), createToolContext())
  expect(tool.output.parse(result)).toEqual(result)
  return result as Record<string, unknown> // checked against the schema above
}

async function ids(options: Partial<CodingSessionOptions> = {}): Promise<readonly string[]> {
  return ((await run('session.list', {}, options))['sessions'] as { sessionId: string }[]).map((one) => one.sessionId)
}

interface Shown {
  readonly role: string
  readonly type: string
  readonly text: string
  readonly tool?: string
  readonly isError?: boolean
}

async function shown(sessionId: string): Promise<readonly string[]> {
  const { events } = await run('session.read', { sessionId })
  return (events as Shown[]).map(
    ({ role, type, text, tool, isError }) =>
      `${role} ${type}${tool ? ` ${tool}` : ''}${isError ? ' error' : ''} ${text}`,
  )
}

const NOTHING_SKIPPED = { broken: 0, tooLong: 0, unreadable: 0, withheld: 0, unknown: [] }
const said = (second: number, content: unknown, more: object = {}) => ({
  id: `u${second}`,
  timestamp: at(second),
  type: 'user',
  content,
  ...more,
})
const CALL = {
  id: 'read_file-1',
  name: 'read_file',
  args: { absolute_path: '/work/parser.ts' },
  result: [{ functionResponse: { id: 'read_file-1', name: 'read_file', response: { output: 'const slow = true' } } }],
  status: 'success',
  timestamp: at(3),
}
const FAILED = {
  id: 'shell-2',
  name: 'run_shell_command',
  args: { command: 'npm test' },
  result: [{ functionResponse: { id: 'shell-2', name: 'run_shell_command', response: { error: '2 failed' } } }],
  status: 'error',
}
const ANSWER = {
  id: 'g1',
  timestamp: at(2),
  type: 'gemini',
  content: 'I look.',
  thoughts: [{ subject: 'Finding', description: 'Where is it?', timestamp: at(2) }],
  tokens: { input: 100, output: 7, cached: 40, thoughts: 3, tool: 0, total: 110 },
  model: 'gemini-3-pro',
  toolCalls: [CALL, FAILED],
}
const TURN = [
  'user text Make the parser faster',
  'assistant reasoning Finding\nWhere is it?',
  'assistant text I look.',
  'assistant call read_file {"absolute_path":"/work/parser.ts"}',
  'tool result const slow = true',
  'assistant call run_shell_command {"command":"npm test"}',
  'tool result error 2 failed',
]
const COUNTED = {
  turns: 1,
  tools: [
    { name: 'read_file', calls: 1, errors: 0 },
    { name: 'run_shell_command', calls: 1, errors: 1 },
  ],
  files: { count: 1, most: [{ path: '/work/parser.ts', times: 1 }] },
  errors: 1,
  tokens: { input: 60, output: 10, cacheRead: 40, cacheWrite: 0 },
}

describe('Gemini CLI', () => {
  test('one object: what happened, what it was about and what it cost', async () => {
    writeGemini(store, 1, [said(1, 'Make the parser faster'), ANSWER], { more: { summary: 'A faster parser' } })
    expect((await run('session.list'))['sessions']).toEqual([
      {
        sessionId: idOf(1),
        provider: 'gemini-cli',
        title: 'A faster parser',
        folder: store.root,
        model: 'gemini-3-pro',
        startedAt: at(0),
        updatedAt: at(60),
        bytes: expect.any(Number),
      },
    ])
    expect(await shown(idOf(1))).toEqual(TURN)
    expect(await run('session.analyze')).toMatchObject({ total: COUNTED, skipped: NOTHING_SKIPPED })
    const { matches } = await run('session.search', { pattern: 'slow' })
    const [{ lineNumber = 0 } = {}] = matches as { lineNumber?: number }[]
    expect(await run('session.read', { sessionId: idOf(1), startLine: lineNumber, endLine: lineNumber })).toMatchObject(
      {
        events: expect.arrayContaining([expect.objectContaining({ text: 'const slow = true' })]),
      },
    )
  })

  test('lines: a message that grows is shown once, and its last count holds', async () => {
    writeGeminiLines(store, 1, [
      said(1, [{ text: 'Make the parser faster' }]),
      { $set: { lastUpdated: at(1) } },
      { ...ANSWER, tokens: null, toolCalls: undefined },
      { ...ANSWER, toolCalls: undefined },
      { ...ANSWER, toolCalls: [{ ...CALL, result: null, status: 'executing' }] },
      { ...ANSWER, toolCalls: [CALL, FAILED] },
      { $set: { messages: [said(1, 'Make the parser faster'), ANSWER], summary: 'A faster parser' } },
      { $rewindTo: 'u1' },
      { id: 'e1', timestamp: at(5), type: 'error', content: 'quota exceeded' },
    ])
    const result = TURN.indexOf('tool result const slow = true')
    expect([...(await shown(idOf(1)))].toSorted()).toEqual(
      [
        ...TURN,
        'note text [the conversation was rewound to before message u1]',
        'note text error quota exceeded',
      ].toSorted(),
    )
    expect(result).toBeGreaterThan(0)
    expect(await run('session.list')).toMatchObject({ sessions: [{ title: 'A faster parser', folder: store.root }] })
    expect(await run('session.analyze')).toMatchObject({ total: { ...COUNTED, errors: 2 }, skipped: NOTHING_SKIPPED })
  })

  test('what the program adds to a message is a note', async () => {
    writeGemini(store, 1, [
      said(1, [{ text: '<session_context>\nToday is Friday' }]),
      said(2, [
        { text: 'Explain @a.ts' },
        { text: '\n--- Content from referenced files ---' },
        { text: '\nContent from @a.ts:\n' },
        { text: 'const a = 1' },
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      ]),
      { id: 'i', timestamp: at(3), type: 'info', content: 'Request cancelled.' },
      said(4, [{ text: 'long, expanded' }], { displayContent: [{ text: 'as typed' }] }),
    ])
    expect(await shown(idOf(1))).toEqual([
      'note text <session_context>\nToday is Friday',
      'user text Explain @a.ts',
      'note text \n--- Content from referenced files ---',
      'note text \nContent from @a.ts:\n',
      'note text const a = 1',
      'user image [image]',
      'note text Request cancelled.',
      'user text as typed',
    ])
  })

  test('a session belongs to the folder that its place names: by hash, by marker, by registry', async () => {
    writeGemini(store, 1, [said(1, 'one')])
    writeGemini(store, 2, [said(1, 'two')], { cwd: join(place, 'elsewhere') })
    writeGeminiLines(store, 3, [said(1, 'three')])
    writeGeminiLines(store, 4, [said(1, 'four')], { cwd: join(place, 'elsewhere') })
    writeGemini(store, 5, [said(1, 'five')], { cwd: join(store.root, 'packages') })
    expect(await ids()).toEqual([3, 1].map(idOf))
    writeFileSync(
      join(store.geminiCli, 'projects.json'),
      JSON.stringify({ projects: { [join(store.root, 'packages')]: 'packages' } }),
    )
    expect(await ids()).toEqual([5, 3, 1].map(idOf))
    expect(await ids({ scope: 'all' })).toEqual([5, 4, 3, 2, 1].map(idOf))
  })

  test('a session that went on as lines is shown once; links, sessions of its agents and other files are not read', async () => {
    const old = writeGemini(store, 1, [said(1, 'old')])
    renameSync(writeGeminiLines(store, 1, [said(1, 'old'), said(2, 'new')]), `${old}l`)
    const chats = dirname(old)
    symlinkSync(old, join(chats, 'session-link.json'))
    mkdirSync(join(chats, idOf(1)))
    writeFileSync(join(chats, idOf(1), 'agent.jsonl'), `{"sessionId":"${idOf(7)}","projectHash":"x"}\n`)
    writeFileSync(join(chats, 'session-other.json'), '{"sessionId":"../../x","messages":[]}')
    writeFileSync(join(chats, '..', 'logs.json'), '[]')
    expect(await ids()).toEqual([idOf(1)])
    expect(await shown(idOf(1))).toEqual(['user text old', 'user text new'])
  })

  test('a large, a broken and a cut file: what can be read is shown, the rest is counted', async () => {
    const path = writeGemini(store, 1, [said(1, 'one'), said(2, 'y'.repeat(9 * 1024 * 1024)), 7, said(3, 'three')])
    expect(await run('session.read', { sessionId: idOf(1) })).toMatchObject({
      events: [{ text: 'one' }, { text: 'three' }],
      skipped: { ...NOTHING_SKIPPED, tooLong: 1, broken: 1 },
    })
    writeFileSync(
      path,
      `{"sessionId":"${idOf(1)}","messages":[${JSON.stringify(said(1, 'a "messages": [ ] , }'))},{"id":"u`,
    )
    expect(await run('session.read', { sessionId: idOf(1) }, { scope: 'all' })).toMatchObject({
      events: [{ text: 'a "messages": [ ] , }' }],
      skipped: { ...NOTHING_SKIPPED, broken: 1 },
    })
  })
})

const created = (second: number) => ({ time: { created: Date.parse(at(second)) } })
const WORK: readonly OpenCodeMessage[] = [
  {
    info: {
      role: 'user',
      ...created(1),
      agent: 'build',
      model: { providerID: 'anthropic', modelID: 'claude-opus-4-8' },
    },
    parts: [
      { type: 'text', text: 'Make the parser faster' },
      { type: 'text', text: 'Called the Read tool with the following input', synthetic: true },
      { type: 'file', mime: 'text/plain', filename: 'a.ts', url: 'file:///a.ts' },
      { type: 'file', mime: 'image/png', url: 'data:image/png;base64,AAAA' },
    ],
  },
  {
    info: {
      role: 'assistant',
      ...created(2),
      modelID: 'claude-opus-4-8',
      path: { cwd: '/elsewhere', root: '/' },
      tokens: { input: 2, output: 3, reasoning: 0, cache: { read: 0, write: 0 } },
    },
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'Where is it?', time: { start: Date.parse(at(2)) } },
      {
        type: 'tool',
        tool: 'read',
        callID: 'c1',
        state: {
          status: 'completed',
          input: { filePath: '/work/parser.ts' },
          output: 'const slow = true',
          time: { start: Date.parse(at(3)) },
        },
      },
      { type: 'step-finish', tokens: { input: 10, output: 4, reasoning: 1, cache: { read: 100, write: 5 } } },
      {
        type: 'tool',
        tool: 'bash',
        callID: 'c2',
        state: {
          status: 'error',
          input: { command: 'npm test' },
          error: '2 failed',
          time: { start: Date.parse(at(4)) },
        },
      },
      { type: 'step-finish', tokens: { input: 2, output: 3, reasoning: 0, cache: { read: 110, write: 0 } } },
      { type: 'text', text: 'The tests fail.' },
      { type: 'of-next-year' },
    ],
  },
]
const WORK_SHOWN = [
  'user text Make the parser faster',
  'note text Called the Read tool with the following input',
  'note text [file a.ts]',
  'user image [image]',
  'assistant reasoning Where is it?',
  'assistant call read {"filePath":"/work/parser.ts"}',
  'tool result const slow = true',
  'assistant call bash {"command":"npm test"}',
  'tool result error 2 failed',
  'assistant text The tests fail.',
]

describe.each([
  ['files', writeOpenCodeFiles],
  ['a database', writeOpenCodeRows],
] as const)('OpenCode, in %s', (_, writeOpenCode) => {
  test('what happened, what it was about and what it cost', async () => {
    writeOpenCode(store, 1, WORK)
    expect((await run('session.list'))['sessions']).toEqual([
      {
        sessionId: 'ses_1',
        provider: 'opencode',
        title: 'Session 1',
        folder: store.root,
        model: 'claude-opus-4-8',
        startedAt: at(0),
        updatedAt: at(60),
      },
    ])
    expect(await shown('ses_1')).toEqual(WORK_SHOWN)
    expect(await run('session.analyze')).toMatchObject({
      total: {
        turns: 1,
        tools: [
          { name: 'read', calls: 1, errors: 0 },
          { name: 'bash', calls: 1, errors: 1 },
        ],
        files: { count: 1, most: [{ path: '/work/parser.ts', times: 1 }] },
        errors: 1,
        tokens: { input: 12, output: 8, cacheRead: 210, cacheWrite: 5 },
      },
      skipped: { ...NOTHING_SKIPPED, unknown: [{ type: 'part of-next-year', lines: 1 }] },
    })
  })

  test('only sessions of this workspace, and pages that lose nothing', async () => {
    writeOpenCode(store, 1, WORK)
    writeOpenCode(store, 2, WORK, { cwd: join(place, 'elsewhere') })
    writeOpenCode(store, 3, WORK, { cwd: join(store.root, 'packages') })
    expect(await ids()).toEqual(['ses_3', 'ses_1'])
    expect(await ids({ scope: 'all' })).toEqual(['ses_3', 'ses_2', 'ses_1'])
    const texts: string[] = []
    for (let startLine: number | undefined = 1; startLine !== undefined;) {
      const page = await run('session.read', { sessionId: 'ses_1', startLine, maxEvents: 3 })
      texts.push(...(page['events'] as Shown[]).map(({ text }) => text))
      startLine = (page['next'] as { startLine: number } | undefined)?.startLine
    }
    expect(texts).toHaveLength(WORK_SHOWN.length)
  })

  test('broken and long pieces are counted, secrets are withheld', async () => {
    const key = `AKIA${'ABCDEFGH'.repeat(2)}`
    writeOpenCode(store, 1, [
      {
        info: { role: 'user', ...created(1) },
        parts: [
          '{"type":"te',
          { type: 'text', text: `the key is ${key}` },
          { type: 'text', text: 'y'.repeat(9 * 1024 * 1024) },
        ],
      },
      { info: '[1]', parts: [{ type: 'text', text: 'last' }] },
    ])
    const read = await run('session.read', { sessionId: 'ses_1' })
    expect(JSON.stringify(read)).not.toContain('AKIA')
    expect(read).toMatchObject({ skipped: { ...NOTHING_SKIPPED, broken: 1, tooLong: 1, withheld: 1 } })
    expect(JSON.stringify(read)).toContain('last')
    expect(await run('session.search', { pattern: 'key' })).toMatchObject({ totalMatches: 0 })
  })
})

test('OpenCode: a session of the first releases belongs to the folder that its answers name', async () => {
  const answered = (cwd: string) => [
    { info: { role: 'assistant', ...created(1), path: { cwd, root: cwd } }, parts: [] },
  ]
  writeOpenCodeFiles(store, 1, answered(store.root), { more: { directory: undefined } })
  writeOpenCodeFiles(store, 2, answered(join(place, 'elsewhere')), { more: { directory: undefined } })
  writeOpenCodeFiles(store, 3, [], { more: { directory: undefined } })
  expect(await ids()).toEqual(['ses_1'])
})

test('OpenCode: links are not followed, and a session of the database wins over its old files', async () => {
  writeOpenCodeFiles(store, 1, WORK)
  const storage = join(store.opencode, 'storage')
  const outside = join(place, 'outside')
  mkdirSync(outside)
  renameSync(join(storage, 'message', 'ses_1'), join(outside, 'ses_1'))
  symlinkSync(join(outside, 'ses_1'), join(storage, 'message', 'ses_1'))
  symlinkSync(join(storage, 'session', 'p', 'ses_1.json'), join(storage, 'session', 'p', 'ses_2.json'))
  expect(await ids()).toEqual(['ses_1'])
  expect(await shown('ses_1')).toEqual([])
  writeOpenCodeRows(store, 1, WORK)
  expect(await ids()).toEqual(['ses_1'])
  expect(await shown('ses_1')).toEqual(WORK_SHOWN)
  // Reading leaves no files behind.
  expect(readdirSync(store.opencode).toSorted()).toEqual(['opencode.db', 'storage'])
  renameSync(join(store.opencode, 'opencode.db'), join(outside, 'opencode.db'))
  symlinkSync(join(outside, 'opencode.db'), join(store.opencode, 'opencode.db'))
  expect(await shown('ses_1')).toEqual([])
})

test('OpenCode: a file that is no database, a damaged one, and one whose tables are programs give nothing', async () => {
  const path = join(store.opencode, 'opencode.db')
  writeFileSync(path, 'no database')
  expect(await ids()).toEqual([])
  writeOpenCodeRows({ ...store, opencode: place }, 1, WORK)
  renameSync(join(place, 'opencode.db'), path)
  appendFileSync(path, 'rest')
  expect(await ids()).toEqual(['ses_1'])
  rmSync(path)
  const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id FROM n'
  const database = new DatabaseSync(path)
  for (const table of ['session', 'message', 'part']) database.exec(`CREATE VIEW ${table} AS ${endless}`)
  database.close()
  expect(await ids()).toEqual([])
})

test('a session is found by its id alone; where several agents have it, the call says which', async () => {
  writeClaudeCode(store, 1, [user(0, 'with Claude Code')])
  writeCodex(store, 2, [])
  expect(await shown(idOf(1))).toEqual(['user text with Claude Code'])
  expect(await run('session.read', { sessionId: idOf(2) })).toMatchObject({ provider: 'codex' })
  writeCodex(store, 1, [])
  await expect(run('session.read', { sessionId: idOf(1) })).rejects.toMatchObject({
    code: 'invalid_arguments',
    message: expect.stringContaining('claude-code, codex'),
  })
  expect(await run('session.read', { sessionId: idOf(1), provider: 'codex' })).toMatchObject({ provider: 'codex' })
  expect((await run('session.analyze', { sessionIds: [idOf(1)] }))['sessions']).toHaveLength(2)
  await expect(run('session.read', { sessionId: idOf(9) })).rejects.toMatchObject({ code: 'tool_failed' })
})

test.each([
  '<command-message>init is analyzing…</command-message>\n<command-name>init</command-name>\n<command-args></command-args>\n<command-contents>{"type":"text","text":"Analyze"}</command-contents>',
  'Caveat: The messages below were generated by the user while running local commands. DO NOT respond to these messages or otherwise consider them in your response unless the user explicitly asks you to.',
  'Caveat: The messages below were generated by the user while running local commands.\n\n<bash-input>ls</bash-input>\n<bash-stdout>a.ts</bash-stdout>',
])('Claude Code: %s is a note', (text) => {
  expect(readClaudeCodeLine(user(1, text)).events).toEqual([{ role: 'note', type: 'text', text }])
})

test.each([
  'What does <command-contents> mean?',
  'Caveat: The messages below were generated by the user while running local commands. Why is this in my log?',
])('Claude Code: %s is the words of the user', (text) => {
  expect(readClaudeCodeLine(user(1, text)).events).toEqual([{ role: 'user', type: 'text', text }])
})
