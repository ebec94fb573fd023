// The `baton` command as separate processes: answers without a key or network, files loaded by Node, signals, exit
// codes. Tests in one process are in `commands.test.ts`.
import { chooseSample } from '@baton/testing/depth'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import type { V1App } from '@baton/testing/v1-app'
import { connectV1App } from '@baton/testing/v1-app'
import { mkdirSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))

let folder: string
/** Folder of the default session store. */
let data: string
let commands: StartedCommand[]
let apps: V1App[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
  data = mkdtempSync(join(tmpdir(), 'baton-data-'))
  writeFileSync(join(folder, 'server.ts'), "import { WebSocketServer } from 'ws'\n")
  writeFileSync(join(folder, 'notes.md'), 'Nothing of interest.\n')
  commands = []
  apps = []
})
afterEach(async () => {
  for (const app of apps) app.close()
  for (const command of commands) {
    command.kill('SIGKILL')
    await command.ended
  }
  rmSync(folder, { recursive: true })
  rmSync(data, { recursive: true })
})

function baton(words: readonly string[], variables: Readonly<Record<string, string>> = {}): StartedCommand {
  const command = startCommand(process.execPath, {
    words: [BATON, ...words],
    folder,
    variables: { XDG_DATA_HOME: data, HOME: data, ...variables },
  })
  commands.push(command)
  return command
}

async function serve(words: readonly string[] = []) {
  const command = baton(['serve', '--port', '0', '--json', ...words])
  const line = await command.untilLine((said) => said.includes('"listening"'))
  return { command, url: (JSON.parse(line) as { readonly url: string }).url }
}

test('chat answers a question about the folder from real calls, without key or network', async () => {
  const command = baton(['chat', '--once', 'which files here mention WebSocket?'])
  expect(await command.ended).toEqual({ code: 0, signal: null })
  expect(command.output()).toContain('server.ts')
  expect(command.output()).not.toContain('notes.md')
  expect(command.errors()).toMatch(/^model offline, because no key is set/)
  expect(command.errors()).toMatch(/> code\.grep .*\n✓ code\.grep [\d.]+ m?s/)
})

test('serve answers an app, and a signal ends it cleanly', async () => {
  const { command, url } = await serve()
  expect(url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/ws$/)
  const app = await connectV1App({ url, session: 's', runCall: () => 'unused' })
  apps.push(app)
  await app.say('which files here mention WebSocket?')
  const final = app.frames.find((frame) => frame.type === 'assistant.speech.final')
  expect(final?.payload['text']).toContain('server.ts')
  command.kill('SIGINT')
  expect(await command.ended).toEqual({ code: 0, signal: null })
  expect(command.output().trim().split('\n')).toHaveLength(1)
})

test('serve says where it listens, which model answers and why, and what to try', async () => {
  const command = baton(['serve', '--port', '0', '--model', 'offline'])
  await command.untilLine((line) => line.includes('Ctrl+C'))
  expect(command.output()).toMatch(/^Baton listens on ws:\/\/127\.0\.0\.1:\d+\/ws\n/)
  expect(command.output()).toContain('model  offline, because the option --model names it')
  expect(command.output()).toMatch(/\n +npx baton chat\n/)
})

test.each([[['serve']], [['mcp', '--http']]])('%j: a port that is in use is one line', async (words) => {
  const { url } = await serve()
  const { port } = new URL(url)
  const command = baton([...words, '--port', port, '--store', 'memory:'])
  expect(await command.ended).toEqual({ code: 1, signal: null })
  expect(command.errors()).toBe(
    `baton: port ${port} of 127.0.0.1 is in use; choose another one with --port, or --port 0 for a free one\n`,
  )
})

const AGENT_FILES = {
  'script.mjs': 'const a = 1\nexport default {,\n',
  'bare.ts': "import { x } from '@nowhere/tools/web'\nexport default x\n",
  'lost.ts': "// one\nimport { x } from './none.ts'\nexport default x\n",
  'other.ts': "import './throws.ts'\n",
  'bareless.ts': "import './throws'\n",
  'enum.ts': 'const a = 1\nenum X { A }\n',
  'empty.ts': '',
  'throws.ts': "throw new Error('first\\nsecond')",
  'broken.ts': 'export default {',
}

type Said = readonly [exitCode: number, line: string | RegExp]

const MISTAKES: readonly [string, readonly string[], Readonly<Record<string, string>>, Said][] = [
  [
    'an agent file without an agent',
    ['serve', '--agent', 'empty.ts'],
    {},
    [1, 'the agent file empty.ts must have an agent as its default export: export default defineAgent({ ... })'],
  ],
  [
    'an agent file that throws',
    ['serve', '--agent', 'throws.ts'],
    {},
    [1, 'the agent file throws.ts could not be loaded: throws.ts:1: first second'],
  ],
  [
    'an agent file of JavaScript that is not a program',
    ['serve', '--agent', 'script.mjs'],
    {},
    [1, "the agent file script.mjs could not be loaded: script.mjs:2: Unexpected token ','"],
  ],
  [
    'an agent file that imports what is not there',
    ['serve', '--agent', 'lost.ts'],
    {},
    [1, /^the agent file lost\.ts could not be loaded: lost\.ts:2: Cannot find module '.*none\.ts' imported from /],
  ],
  [
    'an agent file that imports a file without its extension',
    ['serve', '--agent', 'bareless.ts'],
    {},
    [
      1,
      /^the agent file bareless\.ts could not be loaded: bareless\.ts:1: Cannot find module .+; write '\.\/throws\.ts'$/,
    ],
  ],
  [
    'an agent file that imports a package that its folder does not have',
    ['serve', '--agent', 'bare.ts'],
    {},
    [
      1,
      /^the agent file bare\.ts could not be loaded: bare\.ts:1: Cannot find package '@nowhere\/tools' imported from .+; in the folder of that file, run "npm install @nowhere\/tools"/,
    ],
  ],
  [
    'an agent file that imports a file that throws',
    ['serve', '--agent', 'other.ts'],
    {},
    [1, 'the agent file other.ts could not be loaded: throws.ts:1: first second'],
  ],
  [
    'an agent file with types that cannot be stripped',
    ['serve', '--agent', 'enum.ts'],
    {},
    [1, 'the agent file enum.ts could not be loaded: enum.ts:2: TypeScript enum is not supported in strip-only mode'],
  ],
  [
    'an agent file that is not a program',
    ['serve', '--agent', 'broken.ts'],
    {},
    [1, /^the agent file broken\.ts could not be loaded: broken\.ts:1: /],
  ],
]

test.each(chooseSample(MISTAKES, 3))(
  '%s is one line and an exit code',
  async (_situation, words, variables, [code, message]) => {
    for (const [name, text] of Object.entries(AGENT_FILES)) writeFileSync(join(folder, name), text)
    const command = baton(words, variables)
    expect(await command.ended).toEqual({ code, signal: null })
    expect(command.output()).toBe('')
    const [line, ...others] = command.errors().split('\n')
    expect(others).toEqual([''])
    expect(line?.startsWith('baton: ')).toBe(true)
    const said = line?.slice('baton: '.length) ?? ''
    const fits = typeof message === 'string' ? said === message : message.test(said)
    expect({ said, fits }).toEqual({ said, fits: true })
  },
)

test('--verbose says where an error comes from, without the secrets of the variables', async () => {
  writeFileSync(join(folder, 'throws.ts'), "throw new Error(process.env['OPENAI_API_KEY'])")
  const command = baton(['chat', '--once', 'x', '--agent', 'throws.ts', '--verbose'], {
    OPENAI_API_KEY: 'key-of-a-test',
  })
  expect(await command.ended).toEqual({ code: 1, signal: null })
  expect(command.errors()).toMatch(/^baton: the agent file throws\.ts could not be loaded: throws\.ts:1: /)
  expect(command.errors()).toMatch(/\ncaused by Error: .*\n {4}at .*throws\.ts:1:7/)
  expect(command.errors()).not.toContain('key-of-a-test')
})

test('an agent file in a CommonJS package fails with the remedy', async () => {
  // Same file as `npm init -y` writes; Node prints a warning first.
  const common = join(folder, 'common')
  mkdirSync(common, { recursive: true })
  writeFileSync(join(common, 'package.json'), '{ "type": "commonjs" }')
  writeFileSync(join(common, 'agent.ts'), "import { x } from './x.ts'")
  const command = baton(['serve', '--agent', 'common/agent.ts'])
  expect(await command.ended).toEqual({ code: 1, signal: null })
  expect(command.errors().trimEnd().split('\n').at(-1)).toBe(
    'baton: the agent file common/agent.ts could not be loaded: it is an ES module, loaded as CommonJS; run "npm pkg set type=module", or name it .mts',
  )
})

test('a failing provider is one line and exit code 1', async () => {
  const command = baton(['chat', '--once', 'hello', '--model', 'anthropic/claude-x'], {
    ANTHROPIC_API_KEY: 'key-of-a-test',
    // No server listens on this port below 1024.
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  })
  expect(await command.ended).toEqual({ code: 1, signal: null })
  expect(command.errors().split('\n').at(-2)).toMatch(/^baton: model_network_failed: /)
  expect(command.errors()).not.toContain('key-of-a-test')
  expect(command.errors()).toContain('retrying the model: the last attempt failed\n')
})

test('the version is answered on the output', async () => {
  const command = baton(['--version'])
  expect(await command.ended).toEqual({ code: 0, signal: null })
  expect([command.output() === '', command.errors()]).toEqual([false, ''])
})

test('serve keeps its sessions in a file of its folder, and says which', async () => {
  const command = baton(['serve', '--port', '0', '--model', 'offline'])
  await command.untilLine((line) => line.includes('Ctrl+C'))
  const [, path = ''] = /^ {2}store {2}(.+)$/m.exec(command.output()) ?? []
  expect(path).toMatch(new RegExp(`^${data}/baton/baton-\\w+-[0-9a-f]{8}\\.db$`))
  expect(existsSync(path)).toBe(true)
})

test('a second server on the same file shares it', async () => {
  await serve(['--store', 'sqlite:shop.db'])
  const { url } = await serve(['--store', 'sqlite:shop.db'])
  const app = await connectV1App({ url, session: 's', runCall: () => 'unused' })
  apps.push(app)
  await app.say('which files here mention WebSocket?')
  const listed = baton(['sessions', 'list', '--store', 'sqlite:shop.db', '--json'])
  expect(await listed.ended).toEqual({ code: 0, signal: null })
  expect(listed.output()).toContain('"session":"s"')
})

test('what needs the file alone says which process has it', async () => {
  const { command } = await serve(['--store', 'sqlite:shop.db'])
  expect(await baton(['store', 'backup', 'shop.db', 'copy.db']).ended).toEqual({ code: 0, signal: null })
  const restore = baton(['store', 'restore', 'copy.db', 'shop.db', '--replace'])
  expect(await restore.ended).toEqual({ code: 1, signal: null })
  expect(restore.errors()).toContain(`process ${command.pid} is using the store ${join(folder, 'shop.db')}`)
})

test('a store that is not a database is one line', async () => {
  const command = baton(['serve', '--port', '0', '--store', 'sqlite:server.ts'])
  expect(await command.ended).toEqual({ code: 1, signal: null })
  expect(command.errors()).toMatch(/^baton: the store \S+server\.ts is not a Baton database: .*\n$/)
})

test('a .mcp.json in the folder starts nothing unless it is named', async () => {
  const started = join(folder, 'started')
  const args = ['-e', `require('node:fs').writeFileSync(${JSON.stringify(started)}, '')`]
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: { odd: { command: process.execPath, args } } }))
  const question = 'which files here mention WebSocket?'
  expect((await baton(['chat', '--once', question]).ended).code).toBe(0)
  expect(existsSync(started)).toBe(false)
  await baton(['chat', '--once', question, '--store', 'memory:', '--mcp', '.mcp.json']).ended
  expect(existsSync(started)).toBe(true)
})
