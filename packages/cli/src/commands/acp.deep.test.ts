// `baton acp` as separate processes: several on one store, a killed one, one without a model, and the login.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
const HOST = import.meta.resolve('@baton/host')
const TESTING = import.meta.resolve('@baton/core/testing')

/** Prints at startup; the output must not end up in the protocol. */
const AGENT = `import { defineAgent, tool } from ${JSON.stringify(HOST)}
import { createScriptedModel } from ${JSON.stringify(TESTING)}
console.log('the agent is loaded')
const say = (text) => (text.includes('think') ? { text: 'I think', hangs: 'until-aborted' } : { text: 'You said ' + text })
const model = createScriptedModel({ steps: ({ messages }) => say(messages.at(-1).parts.map((part) => part.text).join('')) })
export default defineAgent({ name: 'echo', model })
`

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
  readonly params?: { readonly update?: Readonly<Record<string, unknown>> }
}

let folder: string
let started: { readonly kill: (signal: NodeJS.Signals) => void; readonly ended: Promise<unknown> }[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-acp-'))
  writeFileSync(join(folder, 'agent.ts'), AGENT)
  started = []
})
afterEach(async () => {
  for (const { kill, ended } of started) {
    kill('SIGKILL')
    await ended
  }
  rmSync(folder, { recursive: true })
})

function start(words: readonly string[]) {
  const child = spawn(process.execPath, [BATON, ...words], {
    cwd: folder,
    env: { HOME: folder, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const messages: Message[] = []
  let wake = Promise.withResolvers<void>()
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (errors += piece))
  createInterface({ input: child.stdout }).on('line', (line) => {
    messages.push(JSON.parse(line) as Message) // nothing else is on the output
    wake.resolve()
    wake = Promise.withResolvers()
  })
  child.stdin.on('error', () => {}) // it was killed
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  let isOver = false
  void ended.then(() => {
    isOver = true
    wake.resolve()
  })
  const until = async (find: (message: Message) => boolean): Promise<Message> => {
    for (;;) {
      const found = messages.find(find)
      if (found) return found
      if (isOver) throw new Error(`it has ended: ${errors}`)
      await wake.promise
    }
  }
  let ids = 0
  const ask = (method: string, params?: object): Promise<Message> => {
    const id = ++ids
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return until((message) => message.id === id && message.method === undefined)
  }
  const editor = {
    ask,
    until,
    ended,
    errors: () => errors,
    end: () => void child.stdin.end(),
    type: (text: string) => void child.stdin.write(text),
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    open: async (): Promise<unknown> => {
      await ask('initialize', { protocolVersion: 1, clientCapabilities: { auth: { terminal: true } } })
      return (await ask('session/new', { cwd: folder, mcpServers: [] })).result?.['sessionId']
    },
    prompt: (sessionId: unknown, text: string) =>
      ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
  }
  started.push(editor)
  return editor
}

type Editor = ReturnType<typeof start>

const acp = (...words: readonly string[]): Editor => start(['acp', 'agent.ts', '--store', 'sqlite:s.db', ...words])
const says =
  (text: string) =>
  ({ params }: Message): boolean =>
    JSON.stringify(params ?? {}).includes(text)
const isText = ({ params }: Message): boolean => params?.update?.['sessionUpdate'] === 'agent_message_chunk'

test('a second editor on the same store has its own agent, and continues when the first one disconnects', async () => {
  const first = acp()
  const one = await first.open()
  expect(statSync(join(folder, 's.db.socket')).mode & 0o777).toBe(0o600)
  const second = acp('--deny', 'fs.*')
  const two = await second.open()
  expect((await second.prompt(two, 'hi')).result).toEqual({ stopReason: 'end_turn' })
  expect(second.errors()).toContain('the agent is loaded')
  // The first process's sessions are listed too.
  const { result } = await second.ask('session/list', {})
  expect(JSON.stringify(result)).toContain(String(one))
  first.end()
  expect(await first.ended).toBe(0)
  expect((await second.prompt(two, 'still there')).result).toEqual({ stopReason: 'end_turn' })
  second.end()
  expect(await second.ended).toBe(0)
  expect(existsSync(join(folder, 's.db.socket'))).toBe(false)
})

test('two editors have one session in turn: it goes to whoever speaks in it', async () => {
  const first = acp()
  const session = await first.open()
  expect((await first.prompt(session, 'one')).result).toEqual({ stopReason: 'end_turn' })
  const second = acp()
  await second.ask('initialize', { protocolVersion: 1 })
  const loaded = await second.ask('session/load', { sessionId: session, cwd: folder, mcpServers: [] })
  expect(loaded.error).toBeUndefined()
  expect((await second.prompt(session, 'two')).result).toEqual({ stopReason: 'end_turn' })
  expect((await first.prompt(session, 'three')).result).toEqual({ stopReason: 'end_turn' })
  await first.until(says('You said two'))
  // While a turn runs the session stays put, and the other editor's error names its holder.
  void first.prompt(session, 'think').catch(() => {})
  await first.until(says('I think'))
  const refused = await second.prompt(session, 'four')
  expect(refused.error?.message).toMatch(/^session \S+ is held by host /)
})

test('a process that is killed in mid-turn loses nothing', async () => {
  const first = acp()
  const session = await first.open()
  void first.prompt(session, 'think').catch(() => {})
  await first.until(isText)
  first.kill('SIGKILL')
  await first.ended
  const second = acp()
  await second.ask('initialize', { protocolVersion: 1 })
  expect((await second.ask('session/load', { sessionId: session, cwd: folder, mcpServers: [] })).result).toBeDefined()
  second.type(`${JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: session } })}\n`)
  expect((await second.prompt(session, 'hi')).result).toEqual({ stopReason: 'end_turn' })
  second.end()
  expect(await second.ended).toBe(0)
})

test('an editor that leaves in mid-turn ends the process', async () => {
  const editor = acp()
  void editor.prompt(await editor.open(), 'think').catch(() => {})
  await editor.until(isText)
  editor.end()
  expect(await editor.ended).toBe(0)
})

test('without a model an editor is sent to the login, which hides the key', async () => {
  const editor = start(['acp', '--store', 'memory:'])
  const { result } = await editor.ask('initialize', {
    protocolVersion: 1,
    clientCapabilities: { auth: { terminal: true } },
  })
  expect(result?.['authMethods']).toMatchObject([{ id: 'keys' }, { type: 'terminal', id: 'login', args: ['--login'] }])
  const place = { cwd: folder, mcpServers: [] }
  expect((await editor.ask('session/new', place)).error).toMatchObject({ code: -32_000 })
  expect((await editor.ask('authenticate', { methodId: 'keys' })).error).toMatchObject({ code: -32_000 })

  const login = start(['login', 'anthropic'])
  login.type('sk-ant-secret-of-a-test\n')
  login.end()
  expect(await login.ended).toBe(0)
  expect(login.errors()).toContain('keys.json')
  expect(login.errors()).not.toContain('secret-of-a-test')
  const [, file = ''] = /the key was saved in (\S+);/.exec(login.errors()) ?? []
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).toContain('sk-ant-secret-of-a-test')

  // The same process can use the key.
  expect((await editor.ask('authenticate', { methodId: 'keys' })).result).toEqual({})
  const opened = await editor.ask('session/new', place)
  expect(JSON.stringify(opened.result?.['configOptions'])).toContain('anthropic/')
  editor.end()
  expect(await editor.ended).toBe(0)
  expect(editor.errors()).not.toContain('secret-of-a-test')
})
