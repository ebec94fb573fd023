// Commands that manage sessions, models, keys and stores, and chats without a terminal, all in this process.
import { openSharedSqliteStore } from '@baton/host'
import { LLMock } from '@copilotkit/aimock'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Console } from '../console.ts'
import { openEmbeddedHost } from '../places/embedded-host.ts'
import { run } from '../run.ts'

let folder: string
let ends: (() => Promise<unknown>)[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
  writeFileSync(join(folder, 'notes.md'), 'Nothing of interest.\n')
  ends = []
})
afterEach(async () => {
  for (const end of ends) await end()
  rmSync(folder, { recursive: true })
})

type Variables = Readonly<Record<string, string>>

interface Given {
  readonly input?: string
  readonly variables?: Variables
}

function createConsole({ input = '', variables = {} }: Given = {}) {
  const said = { output: '', notes: '' }
  const piped = new PassThrough()
  piped.end(input)
  const terminal: Console = {
    variables: { BATON_STORE: 'sqlite:kept.db', ...variables },
    folder,
    write: (text) => void (said.output += text),
    note: (line) => void (said.notes += `${line}\n`),
    onStop: () => () => {},
    onStray: () => () => {},
    streams: { input: piped, output: new PassThrough(), errors: new PassThrough() },
  }
  return { terminal, said }
}

/** Runs a command with `input` piped into it, and waits for it to exit. */
async function baton(words: readonly string[], given: Given = {}) {
  const { terminal, said } = createConsole(given)
  return { code: await run(words, terminal), ...said }
}

async function mockServer(): Promise<LLMock> {
  const mock = new LLMock({ port: 0 })
  mock.on({ model: 'small' }, { content: 'Small speaking.' })
  mock.on({ model: 'large' }, { content: 'Large speaking.' })
  await mock.start()
  ends.push(() => mock.stop())
  return mock
}

test('each line of a pipe is a turn of one session, which the log tells again', async () => {
  const chat = await baton(['chat', '--session', 's'], { input: 'list the files\n\nwhich files mention interest?\n' })
  expect([chat.code, chat.output]).toEqual([0, expect.stringMatching(/notes\.md[^]*notes\.md/)])
  expect(chat.notes).toMatch(/> fs\.list_dir [^]*✓ fs\.list_dir [\d.]+ m?s\n[^]*> code\.grep/)
  const log = await baton(['log', 's'])
  expect(log.output).toMatch(
    /session s, agent workspace-explorer\n[^]*you: list the files\n[^]*> fs\.list_dir \{\}\n[^]*✓ fs\.list_dir [\d.]+ m?s\n[^]*agent \(offline\): [^]*turn 1 was answered in [^]*you: which files mention interest\?\n[^]*turn 2 was answered/,
  )
  const json = await baton(['log', 's', '--json'])
  const facts = json.output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly type: string })
  expect(facts.filter(({ type }) => type === 'turn-finished')).toHaveLength(2)
})

test('a session continues after a restart of the command', async () => {
  await baton(['chat', '--session', 's'], { input: 'list the files\n' })
  const again = await baton(['chat', '--session', 's'], { input: 'list the files\n' })
  expect(again.notes).toContain('continuing session s: 1 turn so far, model offline')
})

test('a chat without messages leaves no session behind', async () => {
  await baton(['chat'], { input: '/help\n/quit\n' })
  expect((await baton(['sessions', 'list'])).notes).toContain('no sessions in ')
})

test('a session is listed, exported, imported elsewhere and deleted', async () => {
  await baton(['chat', '--session', 'shop'], { input: 'list the files\n' })
  const listed = await baton(['sessions', 'list', '--json'])
  expect(JSON.parse(listed.output)).toMatchObject({ session: 'shop', isOpen: false })
  expect(await baton(['sessions', 'export', 'shop', '--file', 'shop.jsonl'])).toMatchObject({ code: 0, output: '' })
  const out = await baton(['sessions', 'export', 'shop'])
  expect(out.output).toBe(readFileSync(join(folder, 'shop.jsonl'), 'utf8'))
  expect((await baton(['sessions', 'import', 'shop.jsonl', '--store', 'sqlite:other.db'])).code).toBe(0)
  expect((await baton(['log', 'shop', '--store', 'sqlite:other.db', '--json'])).output).toBe(
    (await baton(['log', 'shop', '--json'])).output,
  )
  expect((await baton(['sessions', 'delete', 'shop'])).code).toBe(0)
  expect((await baton(['log', 'shop'])).notes).toMatch(/^baton: there is no session "shop" in .*kept\.db; /)
})

test('a session that another process has is not deleted, and comes to a chat when it rests', async () => {
  await baton(['chat', '--session', 'shop', '--once', 'hello'])
  const store = await openSharedSqliteStore(join(folder, 'kept.db'))
  ends.push(() => store.close())
  const held = await store.acquire('shop', 'editor')
  const { code, notes } = await baton(['sessions', 'delete', 'shop'])
  expect([code, notes]).toEqual([1, expect.stringMatching(/^baton: session shop is held by host editor/)])
  const chat = baton(['chat', '--session', 'shop', '--once', 'list the files'])
  // The lease shows that another process wants the session.
  await expect.poll(async () => JSON.stringify(await store.renew('editor'))).toContain('shop')
  await store.release('shop', 'epoch' in held ? held.epoch : 0)
  expect(await chat).toMatchObject({ code: 0, output: expect.stringContaining('notes.md') as string })
})

test('a chat waits for a session that is busy for so long, and no longer', async () => {
  const store = await openSharedSqliteStore(join(folder, 'kept.db'))
  ends.push(() => store.close())
  await store.acquire('shop', 'editor')
  const { host, stop } = await openEmbeddedHost({
    agent: undefined,
    model: 'offline',
    baseUrl: undefined,
    exchanges: undefined,
    terminal: createConsole().terminal,
    store: { type: 'sqlite', path: join(folder, 'kept.db') },
    heldMs: 300,
  })
  await expect(host.session('shop')).rejects.toMatchObject({ code: 'session_held' })
  await stop(0)
})

test('a database of another program is refused by each command, with what to do, and stays as it is', async () => {
  const songs = join(folder, 'songs.db')
  const db = new DatabaseSync(songs)
  db.exec('CREATE TABLE songs (title TEXT)')
  db.close()
  const before = readFileSync(songs)
  const line =
    /^(?:no input arrived .*\n)?baton: the store \S+songs\.db is not a Baton database; choose another file \(Nothing in it was changed\. .*\)\n$/
  for (const words of [
    ['sessions', 'list', '--store', 'sqlite:songs.db'],
    ['sessions', 'delete', 's', '--store', 'sqlite:songs.db'],
    ['chat', '--once', 'hi', '--store', 'sqlite:songs.db'],
    ['store', 'check', 'songs.db'],
    ['store', 'backup', 'songs.db', 'copy.db'],
    ['store', 'restore', 'songs.db', 'new.db'],
  ])
    expect(await baton(words)).toMatchObject({ code: 1, notes: expect.stringMatching(line) })
  expect(readFileSync(songs).equals(before)).toBe(true)
  expect(readdirSync(folder).filter((name) => name.endsWith('.db') || name.endsWith('.lock'))).toEqual(['songs.db'])
})

test('a file that is not a session is refused in one line, however large it is', async () => {
  const file = join(folder, 'large.jsonl')
  writeFileSync(file, '')
  truncateSync(file, 700_000_000)
  expect(await baton(['sessions', 'import', 'large.jsonl'])).toMatchObject({
    code: 1,
    notes: expect.stringMatching(/^baton: line 1 of large\.jsonl has more than the allowed 134217728 bytes .*\n$/),
  })
  truncateSync(file, 5_000_000_000)
  expect(await baton(['sessions', 'import', 'large.jsonl'])).toMatchObject({
    code: 1,
    notes: expect.stringMatching(/^baton: the file large\.jsonl has 5000000000 bytes; .*1073741824 bytes.*\n$/),
  })
})

test.each<[string, readonly string[], number, RegExp]>([
  ['no action', ['sessions'], 2, /^baton: sessions needs one of list, delete, export, import; /],
  [
    'an action that is none',
    ['sessions', 'delet'],
    2,
    /can list, delete, export, import, not "delet", did you mean delete\?/,
  ],
  [
    'a store that is not there',
    ['sessions', 'list'],
    1,
    /^baton: there is no store at .*kept\.db; use --store sqlite:FILE/,
  ],
  ['a log without a session', ['log'], 2, /^baton: log needs the name of a session/],
  ['no act on a store', ['store'], 2, /^baton: store needs one of check, backup, restore; /],
  [
    'an act on a store that is none',
    ['store', 'chek', 'x'],
    2,
    /^baton: store can check, backup, restore, not "chek", did you mean check\?/,
  ],
  ['a store that is not there', ['store', 'check', 'none.db'], 1, /^baton: there is no store at .*none\.db/],
  ['a backup without a target', ['store', 'backup', 'x.db'], 2, /^baton: store backup needs a second file/],
  ['a file to import that is not there', ['sessions', 'import', 'none'], 1, /^baton: there is no file none to import/],
  [
    'a file that is not an export',
    ['sessions', 'import', 'notes.md'],
    1,
    /^baton: notes\.md, line 1: it is not JSON \("baton sessions export SESSION --file FILE" writes a file that can be imported\.\)$/m,
  ],
  ['a store in memory', ['sessions', 'list', '--store', 'memory:'], 2, /^baton: memory: keeps nothing/],
  [
    'a provider that is none',
    ['models', 'olama'],
    2,
    /^baton: there is no provider "olama", did you mean ollama\? the providers are/,
  ],
  ['models without a key', ['models', 'groq'], 1, /^baton: groq needs a key; set GROQ_API_KEY$/m],
  [
    'models without an address',
    ['models', 'openai-compatible'],
    1,
    /needs an address: --base-url, or OPENAI_BASE_URL$/m,
  ],
  ['models of a server that is not there', ['models', '--base-url', 'http://127.0.0.1:9/v1'], 1, /not reachable at/],
  [
    'an address that is none',
    ['chat', '--once', 'x', '--base-url', 'gpu'],
    1,
    /the base address must be an address such as/,
  ],
  [
    'a server and a model',
    ['chat', '--url', 'ws://x/ws', '--model', 'offline'],
    2,
    /--url and --model cannot be combined/,
  ],
  ['a server that is not an address', ['chat', '--url', 'http://x'], 2, /--url must be an address such as ws:/],
  [
    'a server that is not there',
    ['chat', '--once', 'x', '--url', 'ws://127.0.0.1:9/ws'],
    1,
    /no server answers at ws:/,
  ],
  ['a token for nobody', ['chat', '--token', 'x'], 2, /--token requires --url/],
  [
    'a time that is none',
    ['doctor', '--timeout-ms', 'x'],
    2,
    /--timeout-ms must be a number from 1 to 600000, not "x"/,
  ],
])('%s is one line', async (_situation, words, code, line) => {
  const { notes, ...ended } = await baton(words)
  expect([ended.code, ended.output]).toEqual([code, ''])
  const last = notes.trim().split('\n').at(-1) ?? ''
  expect(last).toMatch(/^baton: /)
  expect(last).toMatch(line)
})

test('models tells what each provider needs, and what a server offers', async () => {
  const all = await baton(['models'], { variables: { GROQ_API_KEY: 'gsk' } })
  expect(all.output).toMatch(/^anthropic +no key +ANTHROPIC_API_KEY$/m)
  expect(all.output).toMatch(/^groq +name a model +GROQ_API_KEY$/m)
  const mock = await mockServer()
  const some = await baton(['models', '--base-url', `${mock.url}/v1`])
  expect(some.code).toBe(0)
  expect(some.output).toMatch(/^openai-compatible\/\S+$/m)
})

test('the model is switched between two turns of a chat with a server of another hand', async () => {
  const mock = await mockServer()
  const input = 'hello\n/model openai-compatible/large\nhello again\n'
  const chat = await baton(['chat', '--model', 'openai-compatible/small', '--base-url', `${mock.url}/v1`], { input })
  expect([chat.code, chat.output]).toEqual([0, 'Small speaking.\nLarge speaking.\n'])
  // The fake server answers each model's probe with these texts.
  expect(chat.notes.match(/^.*the server ignores tools.*$/gm)).toEqual([
    'openai-compatible/small: the server ignores tools, so tools are described in the prompt (hermes)',
    'openai-compatible/large: the server ignores tools, so tools are described in the prompt (hermes)',
  ])
})

test('a model that cannot be used is refused in the chat, and the chat continues', async () => {
  const chat = await baton(['chat'], { input: '/model groq/x\nlist the files\n' })
  expect(chat.notes).toContain('the model groq/x needs a key; set GROQ_API_KEY')
  expect(chat.output).toContain('notes.md')
})

test('the doctor says what works, what does not, and how to get the rest', async () => {
  const well = await baton(['doctor'])
  expect(well.code).toBe(0)
  expect(well.output).toMatch(/^✓ store +.*kept\.db will be created/m)
  expect(well.output).toMatch(/^✓ model +offline, because no key is set/m)
  expect(well.output).toMatch(/^- anthropic +not configured; set ANTHROPIC_API_KEY$/m)
  const ill = await baton(['doctor', '--timeout-ms', '2000'], {
    variables: {
      OLLAMA_MODEL: 'qwen3',
      OLLAMA_BASE_URL: 'http://127.0.0.1:9/v1',
      ANTHROPIC_API_KEY: 'key-of-a-test',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    },
  })
  expect(ill.code).toBe(1)
  expect(ill.output).toMatch(/^✗ ollama +.*not reachable at http:\/\/127\.0\.0\.1:9/m)
  expect(ill.output).toMatch(/^✗ anthropic +Anthropic is not reachable: (?!fetch failed)\w/m)
  expect(ill.output).not.toContain('key-of-a-test')
})

test.each<[string, Variables, number, RegExp]>([
  [
    'nothing else',
    {},
    0,
    /^✓ ollama +answers, \d+ models?; .*lists them; the first turn finds out whether it supports tools$/m,
  ],
  ['that it takes tools', { BATON_TOOLS: 'native' }, 0, /^✓ ollama +answers, .* lists them$/m],
  [
    'that it takes none',
    { BATON_TOOLS: 'llama' },
    0,
    /^✓ ollama +answers, .*; tools as text \(llama\), from BATON_TOOLS$/m,
  ],
  ['what cannot be', { BATON_TOOLS: 'yes' }, 1, /^✗ ollama +.*BATON_TOOLS must be probe, native, prompted .*"yes"/m],
])('the doctor finds a server that answers, of which is said %s', async (_said, variables, code, line) => {
  const mock = await mockServer()
  const found = await baton(['doctor'], { variables: { OLLAMA_BASE_URL: `${mock.url}/v1`, ...variables } })
  expect([found.code, found.output]).toEqual([code, expect.stringMatching(line)])
})

test('a store is backed up, found to be damaged, and restored', async () => {
  await baton(['chat', '--session', 'shop'], { input: 'list the files\n' })
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.db'))
  expect(await baton(['store', 'backup', file, 'copy.db'])).toMatchObject({
    code: 0,
    output: expect.stringMatching(/copy\.db: 1 session, \d+ records, 0 large texts: no damage found\n$/),
  })
  // A first backup creates its folder, private to the user, but not if the store does not exist.
  expect((await baton(['store', 'backup', file, 'backups/monday.db'])).code).toBe(0)
  expect(statSync(join(folder, 'backups')).mode & 0o777).toBe(0o700)
  expect((await baton(['store', 'backup', 'none.db', 'others/monday.db'])).code).toBe(1)
  expect(existsSync(join(folder, 'others'))).toBe(false)
  const db = new DatabaseSync(join(folder, file))
  db.exec("UPDATE records SET body = 'x' WHERE id = 67108864 + 2")
  db.close()
  const checked = await baton(['store', 'check', file])
  expect(checked).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^session shop: .*record 2: .*: 1 findings\n$/s),
  })
  expect(JSON.parse((await baton(['store', 'check', `sqlite:${file}`, '--json'])).output)).toMatchObject({
    sessions: 1,
  })
  expect((await baton(['sessions', 'export', 'shop'])).notes).toMatch(/shop is damaged at record 2/)
  expect(await baton(['store', 'restore', 'copy.db', file])).toMatchObject({ code: 1 })
  const restored = await baton(['store', 'restore', 'copy.db', file, '--replace'])
  expect(restored.notes).toMatch(/was restored from .*copy\.db\nthe former store is now .*\.before-1/)
  expect((await baton(['store', 'check', file])).code).toBe(0)
  expect((await baton(['sessions', 'export', 'shop'])).code).toBe(0)
})
