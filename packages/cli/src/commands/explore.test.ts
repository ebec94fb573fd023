// `baton explore` with a fake provider: its output, its permissions, and what later explorations remember.
import type { FakeRequest, FakeScript } from '@baton/testing/fake-server'
import { startFakeAnthropic } from '@baton/testing/fake-anthropic'
import type { ExplorationSummary } from '@baton/kits/explorer'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Console } from '../console.ts'
import { run } from '../run.ts'

let place = ''
let folder = ''
let ends: (() => Promise<unknown>)[] = []

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-explore-'))
  folder = join(place, 'shop')
  mkdirSync(join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'src', 'main.ts'), '// TODO: open the shop\u001b[31m\n')
})
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
  rmSync(place, { recursive: true, force: true })
})

async function explore(words: readonly string[], script?: FakeScript, variables = {}) {
  const fake = script && (await startFakeAnthropic(script))
  if (fake) ends.push(() => fake.close())
  const said = { output: '', notes: '' }
  const home = { CLAUDE_CONFIG_DIR: join(place, 'none'), CODEX_HOME: join(place, 'none') }
  const terminal: Console = {
    variables: {
      ...(fake && { ANTHROPIC_API_KEY: 'key-of-a-test', ANTHROPIC_BASE_URL: fake.url }),
      ...home,
      ...variables,
    },
    folder,
    write: (text) => void (said.output += text),
    note: (line) => void (said.notes += `${line}\n`),
    onStray: () => () => {},
    onStop: () => () => {},
  }
  const code = await run(['explore', ...words], terminal)
  return { code, ...said, requests: fake?.requests ?? [] }
}

/** Searches once, then reports the line found. */
function findTodo(request: FakeRequest, said = 'The shop \u001b[1mis closed') {
  const { results, body } = request
  const { tool_choice: choice } = body as { readonly tool_choice?: { readonly type: string; readonly name?: string } }
  const call = (pattern: RegExp, input: object) => ({
    calls: [{ name: request.toolLike(pattern), input: JSON.parse(JSON.stringify(input)) }],
  })
  if (choice?.type === 'tool') return call(new RegExp(choice.name ?? ''), {})
  if (choice?.type === 'none' || results.some((text) => text.includes('accepted'))) return { text: 'It opens soon.' }
  if (results.some((text) => text.includes('filesSearched')))
    return call(/report/, {
      findings: [{ text: said, evidence: [{ path: 'src/main.ts', line: 1 }] }],
    })
  return call(/grep/, { pattern: 'TODO' })
}

test('prints what the model found, where, and what code counted, and nothing that steers a terminal', async () => {
  const words = ['--store', 'memory:', '--allow-network', '--allow-external-llms']
  const { code, output, notes } = await explore(words, findTodo)
  expect(output).toBe(`shop

Languages
  TypeScript: 1 line in 1 file

Entry points
  src/main.ts

Top files
  src/main.ts (1 line, in 1 call)

Findings
  The shop \\u001b[1mis closed (src/main.ts:1)
`)
  expect(notes).toContain('permissions all')
  expect(notes).toContain('> code.grep')
  expect(notes).toContain('It opens soon.')
  expect(code).toBe(0)
})

test('--json is the typed summary, whose evidence names the call', async () => {
  const { output } = await explore(
    ['--store', 'memory:', '--allow-network', '--allow-external-llms', '--json'],
    findTodo,
  )
  const summary = JSON.parse(output) as ExplorationSummary
  expect(summary.findings[0]?.evidence).toEqual([
    { callId: expect.stringMatching(/^call_/), tool: 'code.grep', path: 'src/main.ts', line: 1 },
  ])
  expect(output.trim().split('\n')).toHaveLength(1)
})

test('findings can neither forge lines of the summary nor control a terminal through JSON', async () => {
  const words = ['--store', 'memory:', '--allow-network', '--allow-external-llms']
  const said = 'Fine\n\nFindings\n  All is well\u009b2J \u202eevil'
  const plain = await explore(words, (request) => findTodo(request, said))
  expect(plain.output).toContain('  Fine\\n\\nFindings\\n  All is well\\u009b2J \\u202eevil (src/main.ts:1)\n')
  const { output } = await explore([...words, '--json'], (request) => findTodo(request, said))
  expect(output).not.toMatch(/[\u009b\u202e]/)
  expect((JSON.parse(output) as ExplorationSummary).findings[0]?.text).toBe(said)
})

test('a key in the environment counts for nothing', async () => {
  const { code, notes, output } = await explore(['--store', 'memory:'], undefined, { ANTHROPIC_API_KEY: 'key' })
  expect(notes).toContain('permissions no network; only models on this machine')
  expect(notes).toContain('model offline')
  expect(output).toContain('The model gave no report supported by its calls.')
  expect(notes).toContain('"offline" is not a language model and cannot report: name a model on this machine')
  expect(code).toBe(3)
  const without = await explore(['--store', 'memory:'])
  expect(without.notes).toContain('model offline, because no model on this machine is named; name one with --model')
})

test('a later exploration of the name knows what the first one found', async () => {
  const words = [
    '--store',
    `sqlite:${join(place, 'store.db')}`,
    '--allow-network',
    '--allow-external-llms',
    '--name',
    'shop',
  ]
  await explore(words, findTodo)
  const { requests } = await explore(['And now?', ...words], findTodo)
  expect(JSON.stringify(requests[0]?.body['messages'])).toContain('is closed')
})

test.each([
  [['--steps', '1'], '--steps must be a number from 2 to 100'],
  [['--allow-external-llms'], '--allow-external-llms needs --allow-network'],
  [['--tool-calling', 'wild'], '--tool-calling must be native, prompted, planned, not "wild"'],
  [[' '], 'the goal must not be empty'],
  [['a', 'b'], 'unexpected word "b"'],
])('of %j it says what is wrong', async (words, message) => {
  const { code, notes } = await explore(words)
  expect(notes).toContain(message)
  expect(code).toBe(2)
})
