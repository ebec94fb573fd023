// The four tools over session files as the agents write them: what they show, what they count, and what they never
// show.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createToolContext } from '@baton/core/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { CodingSessionOptions } from './index.ts'
import { readClaudeCodeLine } from './claude-code.ts'
import { codingSessionTools } from './index.ts'
import type { Store } from './session-files.test-kit.ts'
import {
  assistant,
  at,
  createStore,
  idOf,
  item,
  screen,
  user,
  writeClaudeCode,
  writeCodex,
} from './session-files.test-kit.ts'

let place = ''
let store: Store

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-sessions-'))
  store = createStore(place)
})

afterEach(() => rmSync(place, { recursive: true, force: true }))

/** Runs a tool like a host: validates the input first, and checks the output against its schema. */
async function run(
  name: string,
  input: object = {},
  options: Partial<CodingSessionOptions> = {},
  signal?: AbortSignal,
) {
  const tool = codingSessionTools({ ...store, ...options }).find((candidate) => candidate.name === name)
  if (!tool?.execute || !(tool.input instanceof z.ZodType) || !(tool.output instanceof z.ZodType)) throw new Error(name)
  const result = await tool.execute(tool.input.parse(input), createToolContext(signal && { signal }))
  expect(tool.output.parse(result)).toEqual(result)
  return result as Record<string, unknown> // checked against the schema above
}

const NOTHING_SKIPPED = { broken: 0, tooLong: 0, unreadable: 0, withheld: 0, unknown: [] }

/** A session in which Claude Code reads a file, fails to run the tests, and makes an edit. */
function writeWork(number: number, options: Parameters<typeof writeClaudeCode>[3] = {}): string {
  return writeClaudeCode(
    store,
    number,
    [
      { type: 'file-history-snapshot', messageId: 'm', snapshot: {} },
      user(0, 'Make the parser faster'),
      user(1, '<command-name>/model</command-name>\n<command-message>model</command-message>'),
      assistant(2, [{ type: 'thinking', thinking: 'Where is it?', signature: 'x' }], { id: 'msg_a', output: 3 }),
      assistant(3, [{ type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/work/src/parser.ts' } }], {
        id: 'msg_a',
        output: 20,
      }),
      user(4, [{ type: 'tool_result', tool_use_id: 't1', content: 'line one\nconst slow = true\nline three' }]),
      assistant(400, [{ type: 'tool_use', id: 't2', name: 'Bash', input: { command: 'npm test' } }], {
        id: 'msg_b',
        output: 7,
      }),
      user(401, [
        { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text: '2 failed' }], is_error: true },
      ]),
      assistant(402, [{ type: 'text', text: 'The tests fail.' }], { id: 'msg_c', output: 5 }),
      user(403, 'Why does <command-name> stand in the log?'),
    ],
    options,
  )
}

test('a text of a hundred thousand open tags is the words of a user, and takes no time', () => {
  const text = '<command-name>'.repeat(100_000)
  expect(readClaudeCodeLine(user(1, text)).events).toEqual([{ role: 'user', type: 'text', text }])
})

describe('session.list', () => {
  test('gives the sessions of this workspace, the newest first, with what each was about', async () => {
    writeWork(1)
    writeCodex(store, 2, [
      { type: 'turn_context', payload: { model: 'gpt-5.6-codex', cwd: store.root } },
      item(1, { type: 'message', role: 'user', content: [{ type: 'input_text', text: '<environment_context>…' }] }),
      item(2, { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Write  the\nmanual' }] }),
    ])
    expect(await run('session.list')).toEqual({
      sessions: [
        {
          sessionId: idOf(2),
          provider: 'codex',
          title: 'Write the manual',
          folder: store.root,
          branch: 'main',
          model: 'gpt-5.6-codex',
          startedAt: at(0),
          updatedAt: at(120),
          bytes: expect.any(Number),
        },
        {
          sessionId: idOf(1),
          provider: 'claude-code',
          title: 'Make the parser faster',
          folder: store.root,
          branch: 'main',
          model: 'claude-opus-4-8',
          startedAt: at(0),
          updatedAt: at(60),
          bytes: expect.any(Number),
        },
      ],
      truncated: false,
    })
    expect((await run('session.list', { provider: 'codex' }))['sessions']).toHaveLength(1)
    expect((await run('session.list', { since: at(90) }))['sessions']).toHaveLength(1)
    expect(await run('session.list', { topK: 1 })).toMatchObject({
      sessions: [{ sessionId: idOf(2) }],
      truncated: true,
    })
  })

  test('shows no session of another folder, unless the program says so', async () => {
    writeWork(1)
    writeWork(2, { cwd: join(store.root, 'packages') })
    writeWork(3, { cwd: join(place, 'elsewhere') })
    // Its folder, and the name of its directory, share a prefix with ours.
    writeWork(4, { cwd: `${store.root}-other` })
    writeCodex(store, 5, [], { cwd: place })
    const ids = async (options = {}) =>
      ((await run('session.list', {}, options))['sessions'] as { sessionId: string }[]).map(
        ({ sessionId }) => sessionId,
      )
    expect(await ids()).toEqual([2, 1].map(idOf))
    expect(await ids({ scope: 'all' })).toEqual([5, 4, 3, 2, 1].map(idOf))
    await expect(run('session.read', { sessionId: idOf(3), provider: 'claude-code' })).rejects.toMatchObject({
      code: 'tool_failed',
    })
    await expect(run('session.analyze', { sessionIds: [idOf(1), idOf(3)] })).rejects.toMatchObject({
      code: 'tool_failed',
    })
  })

  test('titles by rank, also where they were given at the end', async () => {
    const long = Array.from({ length: 1000 }, (_, number) => user(number, `word ${number}`))
    writeClaudeCode(store, 1, [{ type: 'summary', summary: 'Of its summary', leafUuid: 'u' }, ...long])
    writeClaudeCode(store, 2, [
      ...long,
      { type: 'custom-title', customTitle: 'Given late' },
      { type: 'agent-name', agentName: 'a name' },
    ])
    writeClaudeCode(store, 3, [...long, { type: 'ai-title', aiTitle: 'By a model' }])
    expect(await run('session.list')).toMatchObject({
      sessions: [{ title: 'By a model' }, { title: 'Given late' }, { title: 'Of its summary' }],
    })
  })

  test('reads no links, no folders of sessions, no other files, and nothing where there is nothing', async () => {
    const secret = join(place, 'secret.jsonl')
    writeFileSync(secret, `${JSON.stringify({ type: 'user', cwd: store.root, message: { content: 'secret' } })}\n`)
    const folder = dirname(writeWork(1))
    symlinkSync(secret, join(folder, `${idOf(2)}.jsonl`))
    symlinkSync(folder, join(store.claudeCode, `${store.root.replaceAll(/[^A-Za-z0-9]/g, '-')}-link`))
    mkdirSync(join(folder, `${idOf(3)}.jsonl`))
    writeFileSync(join(folder, 'notes.jsonl'), 'notes\n')
    writeFileSync(join(folder, `${idOf(4)}.jsonl`), 'no session\n')
    expect((await run('session.list'))['sessions']).toMatchObject([{ sessionId: idOf(1) }])
    const nowhere = { claudeCode: join(place, 'a'), codex: join(place, 'b') }
    expect(await run('session.list', {}, nowhere)).toEqual({ sessions: [], truncated: false })
  })
})

describe('session.search', () => {
  test('counts all matches, shows the first, and says where to read on', async () => {
    writeWork(1)
    const { matches, ...rest } = await run('session.search', { pattern: 'slow|failed', contextLines: 1 })
    expect(rest).toEqual({
      totalMatches: 2,
      sessionsSearched: 1,
      skipped: { broken: 0, tooLong: 0, unreadable: 0, unknown: [], longLines: 0 },
      truncated: false,
    })
    expect(matches).toEqual([
      {
        sessionId: idOf(1),
        provider: 'claude-code',
        lineNumber: 6,
        role: 'tool',
        snippet: 'const slow = true',
        before: ['line one'],
        after: ['line three'],
      },
      { sessionId: idOf(1), provider: 'claude-code', lineNumber: 8, role: 'tool', snippet: '2 failed' },
    ])
    expect(await run('session.search', { pattern: 'slow|failed', maxResults: 1 })).toMatchObject({
      totalMatches: 2,
      matches: [{ lineNumber: 6 }],
      truncated: true,
    })
    expect(await run('session.search', { pattern: 'Bash.*npm' })).toMatchObject({
      matches: [{ tool: 'Bash', lineNumber: 7 }],
    })
  })

  test('a snippet of at most 100 characters has the match, however far behind it stands', async () => {
    writeClaudeCode(store, 1, [user(0, `${'🙂'.repeat(500)} needle ${'y'.repeat(500)}`)])
    const { matches } = await run('session.search', { pattern: 'needle' })
    const [{ snippet = '' } = {}] = matches as { snippet?: string }[]
    expect(snippet).toContain('needle')
    expect(snippet.length).toBeLessThanOrEqual(100)
    expect(snippet.isWellFormed()).toBe(true)
  })

  test('refuses an invalid pattern, and says what is wrong', async () => {
    writeWork(1)
    await expect(run('session.search', { pattern: '(' })).rejects.toMatchObject({ code: 'invalid_arguments' })
    await expect(run('session.search', { pattern: '(?=a)' })).rejects.toThrow('look-around')
  })

  test('a text with a secret matches nothing, and no count tells that it does', async () => {
    const key = `AKIA${'ABCDEFGH'.repeat(2)}`
    writeClaudeCode(store, 1, [
      user(0, 'the key?'),
      user(1, `the key is ${key}`),
      user(2, `long ${' '.repeat(3_000_000)} key ${key}`),
    ])
    const found = await run('session.search', { pattern: 'key' })
    expect(found).toMatchObject({ totalMatches: 1, matches: [{ snippet: 'the key?' }], truncated: false })
    const read = await run('session.read', { sessionId: idOf(1), provider: 'claude-code' })
    expect(JSON.stringify([found, read])).not.toContain('AKIA')
    expect(read).toMatchObject({ skipped: { withheld: 2 } })
  })
})

describe('session.read', () => {
  test('gives what happened, in order, without the scaffolding', async () => {
    writeWork(1)
    const { events, ...rest } = await run('session.read', { sessionId: idOf(1), provider: 'claude-code' })
    expect(rest).toEqual({ sessionId: idOf(1), provider: 'claude-code', skipped: NOTHING_SKIPPED, truncated: false })
    expect(events).toEqual([
      { line: 2, at: at(0), role: 'user', type: 'text', text: 'Make the parser faster' },
      { line: 3, at: at(1), role: 'note', type: 'text', text: expect.stringContaining('/model') },
      { line: 4, at: at(2), role: 'assistant', type: 'reasoning', text: 'Where is it?' },
      {
        line: 5,
        at: at(3),
        role: 'assistant',
        type: 'call',
        tool: 'Read',
        callId: 't1',
        text: '{"file_path":"/work/src/parser.ts"}',
      },
      {
        line: 6,
        at: at(4),
        role: 'tool',
        type: 'result',
        callId: 't1',
        text: 'line one\nconst slow = true\nline three',
      },
      {
        line: 7,
        at: at(400),
        role: 'assistant',
        type: 'call',
        tool: 'Bash',
        callId: 't2',
        text: '{"command":"npm test"}',
      },
      { line: 8, at: at(401), role: 'tool', type: 'result', callId: 't2', text: '2 failed', isError: true },
      { line: 9, at: at(402), role: 'assistant', type: 'text', text: 'The tests fail.' },
      { line: 10, at: at(403), role: 'user', type: 'text', text: 'Why does <command-name> stand in the log?' },
    ])
  })

  test('pages lose and repeat nothing', async () => {
    const blocks = (count: number) =>
      Array.from({ length: count }, (_, number) => ({ type: 'text', text: `${number}` }))
    writeClaudeCode(store, 1, [
      user(0, blocks(3)),
      user(1, blocks(4)),
      user(2, blocks(250)),
      user(3, blocks(1)),
      user(4, 'x'.repeat(30_000)),
    ])
    const seen: string[] = []
    let startLine: number | undefined = 1
    let pages = 0
    while (startLine !== undefined) {
      const page = await run('session.read', { sessionId: idOf(1), provider: 'claude-code', startLine, maxEvents: 5 })
      seen.push(
        ...(page['events'] as { line: number; text: string }[]).map(({ line, text }) => `${line}:${text.length}`),
      )
      startLine = (page['next'] as { startLine: number } | undefined)?.startLine
      pages += 1
    }
    expect(seen).toHaveLength(3 + 4 + 250 + 1 + 1)
    expect(seen.at(-1)).toBe('5:2000')
    expect(pages).toBe(4)
    const part = await run('session.read', { sessionId: idOf(1), provider: 'claude-code', startLine: 2, endLine: 2 })
    expect(part['events']).toHaveLength(4)
  })

  test('Codex: what stands twice is shown once, and its own words are not the user’s', async () => {
    writeCodex(store, 1, [
      item(1, { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief' }] }),
      item(2, {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: '<environment_context>\n  <cwd>/x</cwd>' }],
      }),
      item(3, {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'List it' },
          { type: 'input_image', image_url: 'data:' },
        ],
      }),
      screen(3, { type: 'user_message', message: 'List it' }),
      item(4, { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Look' }], encrypted_content: 'x' }),
      item(5, { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'c1' }),
      screen(6, { type: 'exec_command_end', call_id: 'c1', aggregated_output: 'a.ts', exit_code: 0 }),
      item(6, { type: 'function_call_output', call_id: 'c1', output: 'Process exited with code 0\na.ts' }),
      item(7, {
        type: 'custom_tool_call',
        name: 'apply_patch',
        call_id: 'c2',
        input: '*** Begin Patch\n*** Update File: src/a.ts\n',
      }),
      item(8, {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: '{"output":"no such line","metadata":{"exit_code":1}}',
      }),
      item(9, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done' }] }),
    ])
    const { events } = await run('session.read', { sessionId: idOf(1), provider: 'codex' })
    const shown = (events as { role: string; type: string; text: string; isError?: boolean }[]).map(
      ({ role, type, text, isError }) => `${role} ${type}${isError ? ' error' : ''} ${text}`,
    )
    expect(shown).toEqual([
      'note text Be brief',
      'note text <environment_context>\n  <cwd>/x</cwd>',
      'user text List it',
      'user image [image]',
      'assistant reasoning Look',
      'assistant call {"cmd":"ls"}',
      'tool result a.ts',
      'assistant call *** Begin Patch\n*** Update File: src/a.ts\n',
      'tool result error no such line',
      'assistant text Done',
    ])
  })

  test('says what it could not read: broken and long lines, new types', async () => {
    const path = writeClaudeCode(store, 1, [
      user(0, 'one'),
      '{"type":"user","message":{"con',
      '[1]',
      JSON.stringify({ type: 'user', message: { content: 'y'.repeat(9 * 1024 * 1024) } }),
      { type: 'of-next-year', text: 'new' },
      { type: 'of-next-year', text: 'new' },
      '',
      user(1, 'two'),
    ])
    const { events, skipped } = await run('session.read', { sessionId: idOf(1), provider: 'claude-code' })
    expect(events).toMatchObject([{ text: 'one' }, { text: 'two', line: 8 }])
    expect(skipped).toEqual({
      ...NOTHING_SKIPPED,
      broken: 2,
      tooLong: 1,
      unknown: [{ type: 'of-next-year', lines: 2 }],
    })
    rmSync(path)
    await expect(run('session.read', { sessionId: idOf(1), provider: 'claude-code' })).rejects.toThrow('session.list')
    await expect(run('session.read', { sessionId: '../../etc/passwd', provider: 'codex' })).rejects.toThrow(
      'session.list',
    )
  })

  test('a call that is cancelled stops', async () => {
    writeClaudeCode(
      store,
      1,
      Array.from({ length: 5000 }, (_, number) => user(number, 'word')),
    )
    const aborted = AbortSignal.abort()
    await expect(run('session.search', { pattern: 'word' }, {}, aborted)).rejects.toMatchObject({ code: 'cancelled' })
  })

  test('a call whose time is over says so, with what it has', async () => {
    writeClaudeCode(
      store,
      1,
      Array.from({ length: 5000 }, (_, number) => user(number, 'word')),
    )
    let nowMs = 0
    const clock = { nowMs: () => nowMs, monotonicMs: () => (nowMs += 10) }
    const found = await run('session.search', { pattern: 'word' }, { clock, timeMs: 100 })
    expect(found).toMatchObject({ truncated: true, sessionsSearched: 0 })
    expect(found['totalMatches']).toBeGreaterThan(0)
    expect(found['totalMatches']).toBeLessThan(5000)
    const page = await run('session.read', { sessionId: idOf(1), startLine: 250 }, { clock, timeMs: 15 })
    expect((page['events'] as { line: number }[]).map(({ line }) => line)).toEqual([250, 251, 252, 253, 254, 255])
    expect(page).toMatchObject({ truncated: true, next: { startLine: 256 } })
  })

  test('a call whose time is over among broken lines goes on behind them', async () => {
    const path = writeClaudeCode(store, 1, [user(0, 'word')])
    writeFileSync(path, `{\n`.repeat(600), { flag: 'a' })
    let nowMs = 0
    const clock = { nowMs: () => nowMs, monotonicMs: () => (nowMs += 10) }
    const read = (input: object) => run('session.read', { sessionId: idOf(1), ...input }, { clock, timeMs: 15 })
    expect(await read({ startLine: 2 })).toMatchObject({ truncated: true, next: { startLine: 256 } })
    // Nothing is missing of what was asked for.
    expect(await read({ startLine: 2, endLine: 200 })).toMatchObject({ truncated: false })
  })

  test.each([256, 257, 512, 590])('a call whose time is over before its line %i says so', async (startLine) => {
    writeClaudeCode(
      store,
      1,
      Array.from({ length: 600 }, (_, number) => user(number, 'word')),
    )
    let nowMs = 0
    const clock = { nowMs: () => nowMs, monotonicMs: () => (nowMs += 10) }
    const reading = run('session.read', { sessionId: idOf(1), startLine }, { clock, timeMs: 15 })
    await expect(reading).rejects.toMatchObject({
      code: 'tool_failed',
      message: `reading did not reach line ${startLine} within 15 ms: try again, or read earlier lines`,
    })
  })

  test('a session that is not found in time is not said to be missing', async () => {
    writeClaudeCode(store, 1, [user(0, 'word')])
    let nowMs = 0
    const clock = { nowMs: () => nowMs, monotonicMs: () => (nowMs += 10) }
    await expect(run('session.read', { sessionId: idOf(1) }, { clock, timeMs: 5 })).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringMatching(/^the time of 5 ms ended before session .+ was found: try again/) as string,
    })
  })
})

describe('session.analyze', () => {
  test('counts turns, tools, files, time, errors and tokens', async () => {
    writeWork(1)
    const one = {
      turns: 2,
      tools: [
        { name: 'Read', calls: 1, errors: 0 },
        { name: 'Bash', calls: 1, errors: 1 },
      ],
      files: { count: 1, most: [{ path: '/work/src/parser.ts', times: 1 }] },
      time: { elapsedMs: 403_000, activeMs: 7000 },
      errors: 1,
      // An answer spread over several lines counts once: 20 + 7 + 5.
      tokens: { input: 30, output: 32, cacheRead: 300, cacheWrite: 3 },
    }
    const named = {
      sessionId: idOf(1),
      provider: 'claude-code',
      title: 'Make the parser faster',
      startedAt: at(0),
      endedAt: at(403),
    }
    expect(await run('session.analyze')).toEqual({
      sessions: [{ ...named, ...one }],
      total: one,
      skipped: NOTHING_SKIPPED,
      truncated: false,
    })
    expect(await run('session.analyze', { metrics: ['turns', 'errors'] })).toMatchObject({
      total: { turns: 2, errors: 1 },
    })
    expect(Object.keys((await run('session.analyze', { metrics: ['turns'] }))['total'] as object)).toEqual(['turns'])
  })

  test('Codex: the last sum of tokens holds, and a failure that only the screen tells counts', async () => {
    const count = (second: number, total: number) =>
      screen(second, {
        type: 'token_count',
        info: { total_token_usage: { input_tokens: total, cached_input_tokens: 40, output_tokens: 9 } },
      })
    writeCodex(store, 1, [
      item(1, { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Run' }] }),
      item(2, { type: 'function_call', name: 'exec_command', arguments: '{}', call_id: 'c1' }),
      item(3, { type: 'function_call_output', call_id: 'c1', output: 'boom' }),
      screen(3, { type: 'exec_command_end', call_id: 'c1', aggregated_output: 'boom', exit_code: 1 }),
      screen(4, { type: 'patch_apply_end', call_id: 'c2', success: true, changes: { 'src/a.ts': {}, 'src/b.ts': {} } }),
      screen(5, { type: 'error', message: 'rate limited' }),
      count(6, 100),
      screen(6, { type: 'token_count', info: null }),
      count(7, 140),
    ])
    expect((await run('session.analyze'))['total']).toEqual({
      turns: 1,
      tools: [{ name: 'exec_command', calls: 1, errors: 1 }],
      files: {
        count: 2,
        most: [
          { path: 'src/a.ts', times: 1 },
          { path: 'src/b.ts', times: 1 },
        ],
      },
      time: { elapsedMs: 7000, activeMs: 7000 },
      errors: 2,
      tokens: { input: 100, output: 9, cacheRead: 40, cacheWrite: 0 },
    })
  })

  test('Codex: a file that a patch and the screen name counts once', async () => {
    const input = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-1\n+2\n*** End Patch'
    writeCodex(store, 1, [
      item(1, { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Patch' }] }),
      item(2, { type: 'custom_tool_call', name: 'apply_patch', input, call_id: 'c1' }),
      screen(3, { type: 'patch_apply_end', call_id: 'c1', success: true, changes: { '/work/shop/src/a.ts': {} } }),
      item(3, { type: 'custom_tool_call_output', call_id: 'c1', output: 'Success' }),
    ])
    expect((await run('session.analyze', { metrics: ['files'] }))['total']).toEqual({
      files: { count: 1, most: [{ path: 'src/a.ts', times: 1 }] },
    })
  })

  test('takes the newest 20, and says that there are more', async () => {
    for (let number = 1; number <= 21; number++) writeClaudeCode(store, number, [user(0, `work ${number}`)])
    const { sessions, total, truncated } = await run('session.analyze')
    expect(sessions).toHaveLength(20)
    expect((sessions as { sessionId: string }[])[0]?.sessionId).toBe(idOf(21))
    expect({ total, truncated }).toMatchObject({ total: { turns: 20 }, truncated: true })
    expect(await run('session.analyze', { sessionIds: [idOf(1)] })).toMatchObject({
      sessions: [{ sessionId: idOf(1) }],
      truncated: false,
    })
  })
})

test('options are checked', () => {
  const open = (options: object) => () => codingSessionTools({ ...store, ...options } as CodingSessionOptions)
  expect(open({ root: '' })).toThrow('root must be the path of the workspace')
  expect(open({ scope: 'mine' })).toThrow('scope')
  expect(open({ timeMs: 0.5 })).toThrow('timeMs must be a whole number of at least 1')
  expect(open({ claudCode: '/x' })).toThrow('claudCode')
})

test('sessions, matches and events have the counts that the page names', async () => {
  for (let number = 1; number <= 25; number++) writeClaudeCode(store, number, [user(0, `needle ${number}`)])
  writeClaudeCode(
    store,
    26,
    Array.from({ length: 150 }, (_, number) => user(number, `needle ${number}`)),
  )
  const ask = { sessionId: idOf(26), provider: 'claude-code' }
  const counts = async (wanted: object = {}, matches: object = {}, events: object = {}) => [
    ((await run('session.list', wanted))['sessions'] as readonly object[]).length,
    ((await run('session.search', { pattern: 'needle', ...matches }))['matches'] as readonly object[]).length,
    ((await run('session.read', { ...ask, ...events }))['events'] as readonly object[]).length,
  ]
  expect(await counts()).toEqual([20, 100, 100])
  expect(await counts({ topK: 200 }, { maxResults: 200 }, { maxEvents: 200 })).toEqual([26, 175, 150])
  await expect(run('session.list', { topK: 201 })).rejects.toThrow('too_big')
  await expect(run('session.search', { pattern: 'needle', maxResults: 201 })).rejects.toThrow('too_big')
  await expect(run('session.read', { ...ask, maxEvents: 201 })).rejects.toThrow('too_big')
  const ids = Array.from({ length: 51 }, (_, number) => idOf(number))
  await expect(run('session.analyze', { sessionIds: ids })).rejects.toThrow('too_big')
})
