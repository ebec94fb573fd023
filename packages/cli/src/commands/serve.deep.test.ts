// `baton serve` as a process: its end after a signal, TLS, its log, and restarts after a change to the agent's file.
import { findFreePort } from '@baton/testing/free-port'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import type { V1App, V1AppOptions } from '@baton/testing/v1-app'
import { connectV1App } from '@baton/testing/v1-app'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import type { Duplex } from 'node:stream'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { generate } from 'selfsigned'
import { afterEach, beforeEach, expect, test } from 'vitest'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))

let folder: string
let commands: StartedCommand[]
let apps: V1App[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
  commands = []
  apps = []
})
afterEach(async () => {
  for (const app of apps) app.close()
  for (const command of commands) {
    // A `--dev` server has a child process, stopped only by a signal that can be forwarded; the second one stops it at
    // once.
    command.kill('SIGTERM')
    command.kill('SIGTERM')
    await command.ended
  }
  rmSync(folder, { recursive: true })
})

/** Writes an agent that asks the app to look, then says the given text and what the app saw. */
function writeAgent(
  says: string,
  tools = 'tool({ name: "look", description: "Looks", input: { type: "object" }, effect: "pure" })',
): void {
  const core = JSON.stringify(new URL('../../../core/src/index.ts', import.meta.url).href)
  const testing = JSON.stringify(new URL('../../../core/src/testing/index.ts', import.meta.url).href)
  writeFileSync(join(folder, 'words.ts'), `export const says = ${JSON.stringify(says)}\n`)
  writeFileSync(
    join(folder, 'agent.ts'),
    `import { defineAgent, tool } from ${core}
import { createScriptedModel } from ${testing}
import { says } from './words.ts'
const model = createScriptedModel({
  steps: (request) =>
    request.messages.at(-1)?.role === 'tool' ? { text: says } : { calls: [{ name: 'look', arguments: {} }] },
})
export default defineAgent({ name: 'looker', model, tools: [${tools}] })
`,
  )
}

async function serve(words: readonly string[] = []) {
  const command = startCommand(process.execPath, {
    words: [BATON, 'serve', '--store', 'memory:', '--port', '0', '--json', '--agent', 'agent.ts', ...words],
    folder,
  })
  commands.push(command)
  const line = await command.untilLine((said) => said.includes('"listening"'))
  return { command, url: (JSON.parse(line) as { readonly url: string }).url }
}

async function connect(url: string, runCall: V1AppOptions['runCall'], session = 's'): Promise<V1App> {
  const app = await connectV1App({ url, session, runCall })
  apps.push(app)
  return app
}

/** Waits until the test times out. */
async function untilErrors(command: StartedCommand, text: string): Promise<void> {
  while (!command.errors().includes(text)) await wait(20)
}

const findFinal = (app: V1App): string | undefined =>
  app.frames.findLast(({ type }) => type === 'assistant.speech.final')?.payload['text']

const STOPS = 'the server is stopping'

test('a turn that is running at the signal is delivered in full, and the exit is clean', async () => {
  writeAgent('Seen.')
  const { command, url } = await serve()
  let meanwhile = ''
  const app = await connect(url, async () => {
    meanwhile = await (await fetch(url.replace(/^ws(.*)\/ws$/, 'http$1/metrics'))).text()
    command.kill('SIGTERM')
    await untilErrors(command, STOPS)
    return 'a cat'
  })
  await app.say('Look')
  expect(await command.ended).toEqual({ code: 0, signal: null })
  expect(findFinal(app)).toBe('Seen.')
  expect(meanwhile).toContain('\nbaton_open_calls 1\n')
  expect(app.frames.slice(-3).map(({ payload }) => payload['name'])).toEqual([
    'convo.setState',
    'tts.speak',
    'convo.setState',
  ])
})

test('a turn that does not end is cut after the time for it, also when its tool keeps the process busy', async () => {
  const hang = 'execute: () => new Promise(() => setInterval(() => {}, 1000))'
  writeAgent(
    'Never.',
    `tool({ name: "look", description: "Looks", input: { type: "object" }, effect: "pure", ${hang} })`,
  )
  const { command, url } = await serve(['--drain-ms', '300'])
  const app = await connect(url, () => 'unused')
  const said = app.say('Look').catch(String)
  while (!app.frames.some(({ payload }) => payload['arguments'] === '{"state":"thinking"}')) await wait(20)
  command.kill('SIGTERM')
  expect(await command.ended).toEqual({ code: 0, signal: null })
  expect(await said).toMatch(/the connection was closed: 1001/)
})

test('a server whose output and log are no longer read keeps running, and ends cleanly', async () => {
  writeAgent('Seen.')
  const { command, url } = await serve()
  command.stopReading()
  for (const session of ['a', 'b', 'c']) {
    const app = await connect(url, () => 'a cat', session)
    await app.say('Look')
    expect(findFinal(app)).toBe('Seen.')
  }
  command.kill('SIGTERM')
  expect(await command.ended).toEqual({ code: 0, signal: null })
})

test('a second signal ends at once', async () => {
  writeAgent('Never.')
  const { command, url } = await serve(['--drain-ms', '3600000'])
  const app = await connect(url, async () => {
    command.kill('SIGTERM')
    await untilErrors(command, STOPS)
    command.kill('SIGTERM')
    return await new Promise<string>(() => {})
  })
  await expect(app.say('Look')).rejects.toThrow('the connection was closed')
  expect(await command.ended).toEqual({ code: 143, signal: null })
})

test('the log has lines of JSON for the outcome of each call and turn, without their texts', async () => {
  writeAgent('A secret answer.')
  const { command, url } = await serve()
  const app = await connect(url, () => {
    throw new Error('too dark')
  })
  await app.say('A secret question')
  command.kill('SIGTERM')
  await command.ended
  const lines = command.errors().trim().split('\n')
  const told = lines.map((line) => JSON.parse(line) as { readonly msg: string; readonly tool?: string })
  expect(told.find(({ tool }) => tool === 'look')).toMatchObject({
    level: 'info',
    session: 's',
    tool: 'look',
    error: 'too dark',
    msg: 'a result was received',
  })
  const frames =
    /^turn 1: convo\.setState -> convo\.appendMessage -> look -> (assistant\.speech\.partial( x\d)? -> )?assistant\.speech\.final -> convo\.appendMessage -> convo\.setState -> tts\.speak -> convo\.setState$/
  expect(told.find(({ msg }) => msg.startsWith('turn'))).toMatchObject({
    msg: expect.stringMatching(frames) as unknown,
    session: 's',
    turn: 1,
    outcome: 'answered',
    causes: [expect.any(String)],
  })
  expect(command.errors()).not.toContain('secret')
})

test('with certificate files the server speaks wss', async () => {
  writeAgent('Seen.')
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
  writeFileSync(join(folder, 'cert.pem'), cert)
  writeFileSync(join(folder, 'key.pem'), key)
  const { url } = await serve(['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'])
  expect(url).toMatch(/^wss:/)
  // The global WebSocket does not trust test certificates, so the handshake is written by hand.
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const handshake = request(url.replace('wss:', 'https:'), { ca: cert, headers }).end()
  // The event's arguments, from Node.
  const [response, socket] = (await once(handshake, 'upgrade')) as [IncomingMessage, Duplex]
  expect(response.statusCode).toBe(101)
  socket.destroy()
})

test.each<[string, readonly string[], readonly [code: number, line: RegExp]]>([
  [
    'a certificate file that is not there',
    ['--tls-cert', 'none.pem', '--tls-key', 'words.ts'],
    [1, /^baton: --tls-cert none\.pem cannot be read: ENOENT.*\n$/],
  ],
  [
    'a certificate that is none',
    ['--tls-cert', 'words.ts', '--tls-key', 'words.ts'],
    [1, /^baton: --tls-cert words\.ts and --tls-key words\.ts cannot be used: .*\n$/],
  ],
  ['an open address without a token', ['--host', '0.0.0.0'], [2, /^baton: --host 0\.0\.0\.0 is open to others, .*\n$/]],
])('%s is one line and an exit code', async (_situation, words, [code, line]) => {
  writeAgent('Seen.')
  const command = startCommand(process.execPath, {
    words: [BATON, 'serve', '--store', 'memory:', '--port', '0', '--agent', 'agent.ts', ...words],
    folder,
  })
  commands.push(command)
  expect(await command.ended).toEqual({ code, signal: null })
  expect(command.errors()).toMatch(line)
})

test('in development a changed file restarts the server; the old one delivers its running turn in full', async () => {
  writeAgent('One.')
  const { command, url } = await serve(['--dev', '--port', String(await findFreePort())])
  const first = await connect(url, async () => {
    // On a busy machine, Node's watcher may start after the server listens, so the file is saved repeatedly until the
    // test times out.
    for (let looks = 0; !command.errors().includes(STOPS); looks++) {
      if (looks % 250 === 0) writeFileSync(join(folder, 'words.ts'), "export const says = 'Two.'\n")
      await wait(20)
    }
    return 'a cat'
  })
  await first.say('Look')
  expect(findFinal(first)).toBe('One.')
  while (command.output().split('"listening"').length < 3) await wait(20)
  const second = await connect(url, () => 'a dog', 't')
  await second.say('Look')
  expect(findFinal(second)).toBe('Two.')
  command.kill('SIGTERM')
  expect(await command.ended).toEqual({ code: 0, signal: null })
  await expect(connect(url, () => 'unused')).rejects.toThrow('no connection')
})

const STRAY = `tool({
  name: 'look',
  description: 'Leaves an error behind',
  input: { type: 'object' },
  effect: 'pure',
  execute: async () => {
    await new Promise((resolve) => {
      setTimeout(() => resolve(), 200)
      setTimeout(() => { throw new Error('left behind') }, 1)
      setTimeout(() => Promise.reject(new Error('and rejected')), 2)
    })
    return 'looked'
  },
})`

test('an error that a tool leaves behind in its own timer is logged with its name; the turn ends, then the server with a code', async () => {
  writeAgent('done', STRAY)
  const { command, url } = await serve(['--store', 'sqlite:s.db'])
  const app = await connect(url, () => '')
  await app.say('go')
  const finals = app.frames.filter(({ type }) => type === 'assistant.speech.final')
  expect(finals.map(({ payload }) => payload['text'])).toEqual(['done'])
  expect(await command.ended).toEqual({ code: 70, signal: null })
  const lines = command
    .errors()
    .split('\n')
    .filter((line) => line.includes('an uncaught error occurred'))
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { tool: 'look', session: 's', cause: expect.stringContaining('left behind') },
    { tool: 'look', session: 's', cause: expect.stringContaining('and rejected') },
  ])
})
