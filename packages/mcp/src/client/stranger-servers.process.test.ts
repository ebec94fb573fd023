// Odd or lying servers, as a program and over HTTP, without an SDK: each call settles at once, its results are never
// lost, and if its outcome cannot be known, the call says so.
import { chooseRotating } from '@baton/testing/depth'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { leaveOut } from '@baton/testing/left-out'
import { afterEach, describe, expect, test } from 'vitest'
import type { McpServerConfig } from './index.ts'
import { callTools, createWaitingServers } from './mcp-session.test-kit.ts'
import { KINDS } from './stranger-kinds.test-kit.ts'

const SERVER = fileURLToPath(new URL('stranger-server.test-kit.ts', import.meta.url))
const WORDS = ['--no-warnings', SERVER]

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const asProgram = (mode: string): Promise<McpServerConfig> =>
  Promise.resolve({ command: process.execPath, args: [...WORDS, 'stdio', mode] })

async function overHttp(mode: string): Promise<McpServerConfig> {
  const child = spawn(process.execPath, [...WORDS, 'http', mode], { stdio: ['pipe', 'pipe', 'ignore'] })
  ends.push(() => child.kill('SIGKILL'))
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return { url: `http://127.0.0.1:${port.toString().trim()}/mcp` }
}

async function call(config: McpServerConfig, ...names: readonly string[]) {
  const { servers, warnings } = createWaitingServers({ odd: { ...config, timeoutMs: 20_000 } })
  ends.push(() => servers.close())
  const { calls } = await callTools(
    servers,
    names.map((name) => [name, { q: 'x' }] as const),
  )
  return { calls, warnings }
}

const matches = (came: string): unknown =>
  expect.stringMatching(
    new RegExp(
      `^${came
        .split('*')
        .map((words) => words.replaceAll(/[$()+.?[\\\]^{|}]/g, String.raw`\$&`))
        .join('.*')}$`,
      's',
    ),
  )
const LOST = 'plain unknown tool_result_unknown: MCP server "odd"*: it may have run'
const PLAIN = 'plain ok: [{"type":"text","text":"plain"}]'

describe.each([
  ['as a program', () => asProgram('plain')],
  ['over HTTP, as JSON', () => overHttp('plain')],
  ['over HTTP, as events', () => overHttp('events')],
] as const)('%s', (_, open) => {
  test('each kind of answer comes to what the table says', async () => {
    const config = await open()
    const names = [...KINDS.keys()]
    const calls: string[] = []
    // A turn has 50 rounds.
    for (let at = 0; at < names.length; at += 40) calls.push(...(await call(config, ...names.slice(at, at + 40))).calls)
    const expected = [...KINDS].map(([name, { came }]) => `${name} ${came}`)
    const wrong = calls.flatMap((came, n) => {
      const [, { kind } = { kind: '' }] = [...KINDS][n] ?? []
      return matchesText(came, expected[n] ?? '') ? [] : [{ kind, came, expected: expected[n] }]
    })
    expect(wrong).toEqual([])
    expect(calls).toHaveLength(KINDS.size)
  })

  test('what a tool lacks or has as null does not hide it; a result that breaks its own schema stays', async () => {
    const { calls } = await call(await open(), 'no-schema', 'unstructured', 'lies')
    expect(calls).toEqual([
      'no-schema ok: [{"type":"text","text":"no-schema"}]',
      'unstructured ok: [{"type":"text","text":"unstructured"}]',
      matches('lies ok: *it is done*no number*does not match the tool*s output schema*'),
    ])
  })
})

function matchesText(came: string, expected: string): boolean {
  const [begin = '', ...others] = expected.split('*')
  const end = others.at(-1)
  if (end === undefined || expected.includes('***')) return came === expected
  return came.startsWith(begin) && came.endsWith(end)
}

describe('as a program', () => {
  test.each(
    chooseRotating(
      [
        'bom',
        'crlf',
        'noise',
        'prompt',
        'no-newline',
        'cursor',
        'version',
        'picky',
        'no-capabilities',
        'null-capabilities',
        'modern',
      ],
      2,
    ),
  )('%s: the server can be used', async (mode) => {
    expect((await call(await asProgram(mode), 'plain')).calls).toEqual([PLAIN])
  })

  test('lines that are not messages are logged', async () => {
    const { warnings } = await call(await asProgram('noise'), 'plain')
    expect(warnings).toContainEqual(expect.stringContaining('[INFO] starting'))
  })

  test('a request that Baton does not know is answered', async () => {
    expect((await call(await asProgram('plain'), 'asks')).calls).toEqual([
      'asks ok: [{"type":"text","text":"got -32601"}]',
    ])
  })

  test.each(chooseRotating(['exits', 'is-killed', 'closes', 'leaves-a-child', 'cut'], 2))(
    'a server that %s in a call: nobody knows whether it ran',
    async (mode) => {
      expect((await call(await asProgram(mode), 'plain')).calls).toEqual([matches(LOST)])
    },
  )
})

describe('over HTTP', () => {
  test.each(
    chooseRotating(
      [
        'plain-text',
        'no-type',
        'charset',
        'json-as-events',
        'events-as-json',
        'odd-events',
        'unended-events',
        'accepted',
        'created',
        'status-500',
        'receipts',
        'html',
        'redirects',
        'resumes',
        'forgets',
        'older',
        'older-both',
        'older-body',
        'wrong-id',
        'unknown-is-500',
        'modern',
        'version',
        'picky',
        'no-capabilities',
        'null-capabilities',
      ],
      2,
    ),
  )('%s: the server can be used', async (mode) => {
    expect((await call(await overHttp(mode), 'plain')).calls).toEqual([PLAIN])
  })

  test('a session that changes its id continues', async () => {
    expect((await call(await overHttp('session-changes'), 'plain', 'plain')).calls).toEqual([PLAIN, PLAIN])
  })

  test.each(
    chooseRotating(
      ['resets', 'dies', 'cut-json', 'cut-events', 'ends', 'says-html', 'says-nothing', 'older-dies', 'older-breaks'],
      2,
    ),
  )('a server that %s in a call: nobody knows whether it ran', async (mode) => {
    expect((await call(await overHttp(mode), 'plain')).calls).toEqual([matches(LOST)])
  })
})

/** A server as a stranger would write it in an afternoon: no SDK, `print`, `None`, a banner on standard output. */
const PYTHON = `
import json, sys
print("Starting server...")
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    r, e = None, None
    if m["method"] == "initialize": r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": None}, "serverInfo": {"name": "py", "version": None}, "instructions": None}
    elif m["method"] == "tools/list": r = {"tools": [{"name": "plain", "description": None, "inputSchema": {"type": "object"}, "annotations": None}, {"name": "plain", "description": "another one", "inputSchema": {"type": "object"}}], "nextCursor": None}
    elif m["method"] == "tools/call": r = {"content": [{"type": "text", "text": "café", "annotations": None}], "structuredContent": {"ratio": float("nan")}, "isError": False, "_meta": None}
    else: e = {"code": "unknown", "message": m["method"]}
    sys.stdout.buffer.write(json.dumps({"id": m["id"], "result": r, "error": e}, ensure_ascii=False).encode("latin-1") + b"\\n"); sys.stdout.buffer.flush()
`
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython)
  leaveOut('a server in Python', { why: 'Python is missing', remedy: 'Install python3.' }, (said) => console.warn(said))

test.skipIf(!hasPython)('a server in Python without an SDK', async () => {
  const { calls, warnings } = await call({ command: 'python3', args: ['-c', PYTHON] }, 'plain')
  expect(warnings).toContainEqual(expect.stringContaining('skipped: an earlier one has the same name'))
  expect(calls).toEqual(['plain ok: [{"type":"text","text":"caf�"},{"type":"text","text":"{\\"ratio\\":null}"}]'])
})

test('the page names each kind', () => {
  const page = readFileSync(new URL('../../../../docs/mcp.md', import.meta.url), 'utf8')
  const cells = new Set(
    page
      .split('\n')
      .flatMap((line) => (line.split('|')[1] ?? '').split(/;|\(/))
      .map((cell) => cell.trim()),
  )
  expect([...KINDS.values()].map(({ kind }) => kind).filter((kind) => !cells.has(kind))).toEqual([])
})
