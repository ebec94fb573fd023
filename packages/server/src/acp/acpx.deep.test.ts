// Flows of acpx 0.19, a third-party client of the protocol, with an agent of `baton acp` in a separate process.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { AcpxRun, AcpxWorld } from './acpx.test-kit.ts'
import { createAcpxWorld } from './acpx.test-kit.ts'

const HOST = import.meta.resolve('@baton/host')
const TESTING = import.meta.resolve('@baton/core/testing')
const WORKSPACE = import.meta.resolve('@baton/tools/workspace')

/** The agent's model follows the question. */
const AGENT = `import { writeFileSync } from 'node:fs'
import { BatonError, defineAgent, tool } from ${JSON.stringify(HOST)}
import { createScriptedModel } from ${JSON.stringify(TESTING)}
import { workspaceTools } from ${JSON.stringify(WORKSPACE)}
const EMPTY = { type: 'object', properties: {} }
const tools = [
  tool({ name: 'act', description: 'Acts.', input: EMPTY, approval: true, kind: 'execute', execute: () => 'acted' }),
  tool({ name: 'broken', description: 'Fails.', input: EMPTY, effect: 'pure', execute: () => { throw new Error('it is broken') } }),
  tool({ name: 'slow', description: 'Waits.', input: EMPTY, effect: 'pure', timeoutMs: 60000,
    execute: (_input, { signal }) => writeFileSync('started', '') ?? new Promise((resolve) => signal.addEventListener('abort', () => resolve('ended'))) }),
  tool({ name: 'plan', description: 'Plans.', input: EMPTY, effect: 'pure', execute: (_input, context) => {
    context.plan([{ content: 'Look', status: 'completed' }, { content: 'Answer', status: 'in_progress' }])
    return 'planned'
  } }),
  tool({ name: 'ask', description: 'Asks.', input: EMPTY, effect: 'pure', execute: async (_input, context) =>
    await context.ask({ message: 'Who?', schema: { type: 'object', properties: { name: { type: 'string' } } } }) }),
]
const CALLS = {
  act: [{ name: 'act', arguments: {} }],
  broken: [{ name: 'broken', arguments: {} }],
  unknown: [{ name: 'no_such_tool', arguments: {} }],
  slow: [{ name: 'slow', arguments: {} }],
  plan: [{ name: 'plan', arguments: {} }],
  ask: [{ name: 'ask', arguments: {} }],
  two: [{ name: 'plan', arguments: {} }, { name: 'broken', arguments: {} }],
  read: [{ name: 'content.get_span', arguments: { path: 'a.txt' } }],
  secret: [{ name: 'content.get_span', arguments: { path: '.env' } }],
  outside: [{ name: 'content.get_span', arguments: { path: '../../etc/passwd' } }],
  write: [{ name: 'fs.write', arguments: { path: 'b.txt', content: 'bees' } }],
  edit: [{ name: 'fs.edit', arguments: { path: 'a.txt', edits: [{ oldText: 'apples', newText: 'pears' }] } }],
  run: [{ name: 'shell.run', arguments: { command: 'echo out; exit 3' } }],
  mcp: [{ name: 'echo', arguments: { message: 'hello' } }],
}
const SAYS = {
  think: { reasoning: 'Let me think.', text: 'Thought.' },
  long: { text: 'cut', finish: 'max-tokens' },
  refuse: { text: '', finish: 'refusal' },
  fail: { error: new BatonError({ code: 'model_invalid_request', message: 'the model said no' }) },
  hang: { text: 'I think', hangs: 'until-aborted' },
}
function answer({ messages }) {
  const last = messages.at(-1)
  const said = messages.filter(({ role }) => role === 'user').at(-1)
  const text = said.parts.map((part) => part.text ?? part.type).join(' ')
  const [word] = text.split(/\\s/)
  if (last.role === 'tool') return { text: 'Result: ' + last.parts.map(({ isError, content }) => (isError ? 'failed ' : '') + content.map((part) => part.text).join('')).join('; ') }
  if (word === 'count') return { text: 'There were ' + messages.filter(({ role }) => role === 'user').length + ' questions.' }
  if (CALLS[word]) return { text: 'I call it.', calls: CALLS[word] }
  return SAYS[word] ?? { text: 'You said: ' + text }
}
const one = createScriptedModel({ id: 'scripted/one', steps: answer })
const two = createScriptedModel({ id: 'scripted/two', steps: (request) => (JSON.stringify(request.messages).includes('fail') ? SAYS.fail : { text: 'Two answers.' }) })
export default ({ cwd, editor }) =>
  defineAgent({ name: 'tester', model: [one, two], tools: [...tools, ...workspaceTools({ root: cwd, editor, write: true, shell: { sandbox: 'none' } })] })
`

const LONG = { timeout: 120_000 }

let world: AcpxWorld
let flows = 0
beforeAll(() => {
  world = createAcpxWorld(AGENT)
  writeFileSync(join(world.folder, 'a.txt'), 'apples\n')
  writeFileSync(join(world.folder, '.env'), 'KEY=1\n')
})
afterAll(() => {
  world.stop()
  console.log(`${flows} flows of acpx, ${world.count()} messages, all of them valid`)
})

const ask = (text: string, words: readonly string[] = ['--approve-all']): Promise<AcpxRun> =>
  world.run([...words, 'exec', text])

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') flows += 1
})

function findCall({ updates }: AcpxRun, name: string) {
  return updates.findLast((update) => update['name'] === name && 'status' in update)
}

const asksOf = ({ messages }: AcpxRun, method: string) =>
  messages.filter((message) => 'method' in message && message.method === method)

test('an answer in text', LONG, async () => {
  const run = await ask('Hello')
  expect(run).toMatchObject({ code: 0, text: 'You said: Hello', stop: 'end_turn' })
})

test('thoughts arrive as thoughts', LONG, async () => {
  const run = await ask('think')
  expect(run.updates).toContainEqual(expect.objectContaining({ sessionUpdate: 'agent_thought_chunk' }))
})

test('a granted permission', LONG, async () => {
  const run = await ask('act')
  expect(asksOf(run, 'session/request_permission')).toHaveLength(1)
  expect(findCall(run, 'act')).toMatchObject({ status: 'completed' })
})

test('a permission that is refused', LONG, async () => {
  const run = await ask('act', ['--deny-all'])
  expect(findCall(run, 'act')).toMatchObject({ status: 'failed' })
  expect(run.text).toContain('failed')
})

test('a permission without a person to grant it is refused', LONG, async () => {
  const run = await ask('act', ['--non-interactive-permissions', 'deny'])
  expect(findCall(run, 'act')).toMatchObject({ status: 'failed' })
})

test('a tool that fails', LONG, async () => {
  const run = await ask('broken')
  expect(findCall(run, 'broken')).toMatchObject({ status: 'failed' })
  expect(run.stop).toBe('end_turn')
})

test('a tool that does not exist', LONG, async () => {
  const run = await ask('unknown')
  expect(findCall(run, 'no_such_tool')).toMatchObject({ status: 'failed' })
  expect(run.stop).toBe('end_turn')
})

test('two calls at once, of which one fails', LONG, async () => {
  const run = await ask('two')
  expect(findCall(run, 'plan')).toMatchObject({ status: 'completed' })
  expect(findCall(run, 'broken')).toMatchObject({ status: 'failed' })
})

test('a model that fails', LONG, async () => {
  const run = await ask('fail')
  expect(JSON.stringify(run.messages)).toContain('the model said no')
})

test('a plan', LONG, async () => {
  const run = await ask('plan')
  expect(run.updates).toContainEqual(expect.objectContaining({ sessionUpdate: 'plan' }))
})

test('an answer that is cut', LONG, async () => {
  expect((await ask('long')).stop).toBe('max_tokens')
})

test('an answer that is refused', LONG, async () => {
  expect((await ask('refuse')).stop).toBe('refusal')
})

test('a question of a tool to an editor without forms', LONG, async () => {
  expect((await ask('ask')).text).toContain('cannot show questions')
})

test('an image, a link and a file in a prompt', LONG, async () => {
  const image = { type: 'image', mimeType: 'image/png', data: Buffer.from('png').toString('base64') }
  const link = { type: 'resource_link', name: 'a.txt', uri: 'file:///a.txt' }
  const file = { type: 'resource', resource: { uri: 'file:///b.txt', text: 'bees' } }
  const blocks = [{ type: 'text', text: 'see ' }, link, image, file]
  const run = await world.run(['--approve-all', 'exec', '-f', '-'], { input: JSON.stringify(blocks) })
  expect(run.text).toBe('You said: see [a.txt](file:///a.txt) image <file uri="file:///b.txt">\nbees\n</file>')
})

test('a file is read by the client', LONG, async () => {
  const run = await ask('read')
  expect(asksOf(run, 'fs/read_text_file')).toHaveLength(1)
  expect(run.text).toContain('apples')
})

test('without the files of a client the tool reads itself', LONG, async () => {
  const run = await ask('read', ['--approve-all', '--no-fs'])
  expect(asksOf(run, 'fs/read_text_file')).toHaveLength(0)
  expect(run.text).toContain('apples')
})

test('a secret file is not asked for', LONG, async () => {
  const run = await ask('secret')
  expect(asksOf(run, 'fs/read_text_file')).toHaveLength(0)
  expect(findCall(run, 'content.get_span')).toMatchObject({ status: 'failed' })
})

test('a path outside of the folder is not asked for', LONG, async () => {
  const run = await ask('outside')
  expect(asksOf(run, 'fs/read_text_file')).toHaveLength(0)
  expect(findCall(run, 'content.get_span')).toMatchObject({ status: 'failed' })
})

test('a file is written by the client', LONG, async () => {
  const run = await ask('write')
  expect(asksOf(run, 'fs/write_text_file')).toHaveLength(1)
  expect(readFileSync(join(world.folder, 'b.txt'), 'utf8')).toBe('bees')
  expect(run.updates).toContainEqual(
    expect.objectContaining({ content: [expect.objectContaining({ type: 'diff', newText: 'bees' })] }),
  )
})

test('a file is edited by the client', LONG, async () => {
  const run = await ask('edit')
  expect(asksOf(run, 'fs/write_text_file')).toHaveLength(1)
  expect(readFileSync(join(world.folder, 'a.txt'), 'utf8')).toBe('pears\n')
})

test('a command runs in a terminal of the client', LONG, async () => {
  const run = await ask('run')
  expect(asksOf(run, 'terminal/create')).toHaveLength(1)
  expect(run.updates).toContainEqual(
    expect.objectContaining({ content: [expect.objectContaining({ type: 'terminal' })] }),
  )
  expect(run.text).toContain('"exitCode":3')
})

test('without terminals of a client the command runs here', LONG, async () => {
  const run = await ask('run', ['--approve-all', '--no-terminal'])
  expect(asksOf(run, 'terminal/create')).toHaveLength(0)
  expect(run.text).toContain('"exitCode":3')
})

test('a server that the client names is connected', LONG, async () => {
  const server = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')
  const config = join(world.folder, '..', 'mcp.json')
  const named = { name: 'everything', command: process.execPath, args: [server], env: [] }
  writeFileSync(config, JSON.stringify({ mcpServers: [named] }))
  const run = await ask('mcp', ['--approve-all', '--mcp-config', config])
  expect(run.text).toContain('hello')
})

test('a command of the agent', LONG, async () => {
  expect((await ask('/status')).text).toContain('scripted/one')
})

test('another model', LONG, async () => {
  const run = await world.run(['--approve-all', 'exec', '--config-option', 'model=scripted/two', 'Hello'])
  expect(run.text).toBe('Two answers.')
})

test('a mode in which nothing is changed', LONG, async () => {
  const run = await world.run(['--approve-all', 'exec', '--config-option', 'mode=read', 'act'])
  expect(findCall(run, 'act')).toMatchObject({ status: 'failed' })
  expect(asksOf(run, 'session/request_permission')).toHaveLength(0)
})

test('a conversation of several prompts, whose agent is killed between them', LONG, async () => {
  const name = ['-s', 'kept']
  expect((await world.run(['sessions', 'new', '--name', 'kept'])).code).toBe(0)
  const first = await world.run(['--approve-all', 'prompt', ...name, 'Hello'])
  expect(first.text).toBe('You said: Hello')
  killAgents()
  const second = await world.run(['--approve-all', 'prompt', ...name, 'count'])
  expect(second.text).toBe('There were 2 questions.')
  expect(asksOf(second, 'session/load').length + asksOf(second, 'session/resume').length).toBeGreaterThan(0)
})

test('a turn that is cancelled, while another editor works over the same store', LONG, async () => {
  const name = ['-s', 'cancelled']
  await world.run(['sessions', 'new', '--name', 'cancelled'])
  const running = world.run(['--approve-all', 'prompt', ...name, 'slow'])
  while (!existsSync(join(world.folder, 'started'))) await new Promise((resolve) => void setTimeout(resolve, 50))
  // Its agent is a separate process that only forwards messages.
  expect((await ask('Hello')).text).toBe('You said: Hello')
  await world.run(['cancel', ...name])
  expect((await running).stop).toBe('cancelled')
})

test('sessions are listed by the agent', LONG, async () => {
  const run = await world.run(['sessions', 'list'])
  expect(run.code).toBe(0)
})

/** Kills only the agents of this world, found by the path of its store. */
function killAgents(): void {
  const store = join(world.folder, '..', 's.db')
  const lines = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n')
  for (const line of lines)
    if (line.includes(`sqlite:${store}`) && line.includes('baton.mjs acp') && !line.includes('dist/cli.js'))
      process.kill(Number(line.trim().split(' ')[0]), 'SIGKILL')
}
