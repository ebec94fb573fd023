// `baton chat` in a real terminal (tmux) and with a running server: its screen and keys. Skipped without tmux.
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTerminals, findTmux } from '../terminal/terminal.test-kit.ts'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
const hasTmux = findTmux('baton chat in a terminal')

let folder: string
let server: StartedCommand | undefined
const { chat, closeTerminal, press, screen, shows, tmux, type } = createTerminals(() => folder)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
  writeFileSync(join(folder, 'notes.md'), 'Nothing of interest.\n')
})
afterEach(async () => {
  tmux('kill-server')
  server?.kill('SIGKILL')
  await server?.ended
  server = undefined
  rmSync(folder, { recursive: true })
})

/** An agent that asks a person to look and to approve a payment, then reports the results. */
function writeAgent(): void {
  const core = JSON.stringify(new URL('../../../core/src/index.ts', import.meta.url).href)
  const testing = JSON.stringify(new URL('../../../core/src/testing/index.ts', import.meta.url).href)
  writeFileSync(
    join(folder, 'agent.ts'),
    `import { defineAgent, tool } from ${core}
import { createScriptedModel } from ${testing}
import { existsSync } from 'node:fs'
const said = (message) => message.parts.map((part) => part.content[0].text).join(' and ')
const model = createScriptedModel({
  steps: ({ messages }) => {
    const last = messages.at(-1)
    if (last.role === 'tool') return { text: 'It was ' + said(last) + '.' }
    const given = { look: { where: 'door' }, pay: { euro: 12 }, slow: {}, many: {}, ask: {} }
    const name = last.parts[0].text
    if (name === 'markdown') return { text: markdown, usage: { inputTokens: 1234, outputTokens: 56, costMicros: 1200 } }
    return given[name] ? { calls: [{ name, arguments: given[name] }] } : { text: 'No.' }
  },
})
const markdown = \`# Title
Some **bold** text that is rather long, so that it is wrapped
- one
\\\`\\\`\\\`ts
const veryLong = someFunction(withArguments, andMore, andStillMore)
\\\`\\\`\\\`
\`
const input = { type: 'object' }
const size = { type: 'object', properties: { size: { enum: ['s', 'm'] }, number: { type: 'integer' } }, required: ['size'] }
export default defineAgent({ name: 'looker', model, tools: [
  tool({ name: 'look', description: 'Looks', input, effect: 'pure' }),
  tool({ name: 'pay', description: 'Pays', input, effect: 'once', approval: true, execute: () => 'paid' }),
  tool({ name: 'many', description: 'Many lines', input, effect: 'pure', execute: (_, context) => {
    context.progress('half way')
    return ['first', 'second', 'a third one that is long enough to be folded with all of the others']
  } }),
  tool({ name: 'ask', description: 'Asks', input, effect: 'once', execute: (_, context) =>
    context.ask({ message: 'Which size?', schema: size }) }),
  tool({ name: 'slow', description: 'Waits for a file', input, effect: 'pure', execute: async () => {
    while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20))
    return 'done'
  } }),
] })
`,
  )
}

test.runIf(hasTmux)('calls, their times and the answer are seen, and the next prompt', async () => {
  await chat('--store memory:')
  type('list the files')
  const shown = await shows(/\n\n› *$/)
  expect(shown).toMatch(
    /› list the files\n> fs\.list_dir \{\}\n✓ fs\.list_dir [\d.]+ m?s \(\d+ lines, \/show 1\)\n[^]*[-•] notes\.md/,
  )
})

test.runIf(hasTmux)('a client tool is run by the person, and an approval given or denied', async () => {
  writeAgent()
  await chat('--store memory: --agent agent.ts')
  type('look')
  await shows(/look is yours to run:\n {2}where: "door"\nresult, or \/fail why: *$/)
  type('a red one')
  await shows(/why: a red one\n✓ look \d+(\.\d)? m?s: a red one\nIt was a red one\.\n\n› *$/)
  type('pay')
  await shows(/pay asks for your approval:\n {2}euro: 12\nrun it\? y\/n\/always: *$/)
  type('y')
  await shows(/✓ pay [\d.]+ m?s: paid\nIt was paid\.\n\n› *$/)
  type('pay')
  await shows(/run it\? y\/n\/always: *$/)
  type('n')
  await shows(/✗ pay .*denied.*\n[^]*\n\n› *$/)
})

test.runIf(hasTmux)('Markdown is shown as it streams, and code is neither wrapped nor indented', async () => {
  writeAgent()
  await chat('--store memory: --agent agent.ts', { columns: 40, variables: 'TERM=xterm-256color' })
  type('markdown')
  const shown = await shows(/tokens in[^]*› *$/)
  expect(shown).toMatch(/\nTitle\nSome bold text that is rather long, so\nthat it is wrapped\n• one\n/)
  // Soft-wrapped lines stay one line of the terminal, so they can be copied exactly.
  const joined = tmux('capture-pane', '-p', '-J', '-t', 'chat', '-S', '-')
  expect(joined).toContain('\nconst veryLong = someFunction(withArguments, andMore, andStillMore)\n')
  expect(tmux('capture-pane', '-p', '-e', '-t', 'chat', '-S', '-')).toContain('\u001b[1mbold')
  expect(shown).toMatch(/scripted\/model · 1,234 tokens in, 56 out\n {2}· \$0\.0012 · context [\d,]+ tokens/)
})

test.runIf(hasTmux)(
  'results are folded and can be shown in full; answers can be retried, undone and copied',
  async () => {
    writeAgent()
    await chat('--session s --store sqlite:s.db --agent agent.ts')
    type('many')
    await shows(/· many: half way\n✓ many [\d.]+ m?s \(5 lines, \/show 1\)\n[^]*\n\n› *$/)
    type('/show')
    await shows(/many, call 1:\n\[\n {2}"first",\n {2}"second",\n[^]*\]\n› *$/)
    type('/retry')
    await shows(/\/retry\n> many[^]*\n\n› *$/)
    type('/undo')
    await shows(/undone: many\n› *$/)
    type('/fork')
    await shows(/copied to session \S+\n› *$/)
    type('/tools')
    await shows(/pay \(once, needs approval\): Pays\n[^]*› *$/)
    type('/usage')
    await shows(/scripted\/model[^\n]*\n› *$/)
    type('/approve always')
    await shows(/calls in this chat are now approved without asking\n› *$/)
    type('pay')
    expect(await shows(/✓ pay [\d.]+ m?s: paid\n[^]*\n\n› *$/)).not.toContain('run it?')
  },
)

test.runIf(hasTmux)('a tool asks field by field, and repeats a field after an invalid answer', async () => {
  writeAgent()
  await chat('--store memory: --agent agent.ts')
  type('ask')
  await shows(/a tool asks: Which size\?[^]*size \(s\/m\): *$/)
  type('xl')
  await shows(/size \(s\/m\): xl\n {2}"xl" is not one of s, m\nsize \(s\/m\): *$/)
  type('m')
  await shows(/number \(whole number, optional\): *$/)
  type('3')
  await shows(/✓ ask [^\n]*: \{"size":"m","number":3\}\n/)
  await shows(/\n\n› *$/)
  type('ask')
  await shows(/size \(s\/m\): *$/)
  type('/decline')
  await shows(/✗ ask [^]*\n\n› *$/)
})

test.runIf(hasTmux)('wide characters are edited in place at 40 columns', async () => {
  writeAgent()
  await chat('--store memory: --agent agent.ts', { columns: 40 })
  const wide = '漢字'.repeat(12)
  tmux('send-keys', '-t', 'chat', '-l', wide)
  await shows(/字漢字漢字$/)
  for (let count = 0; count < 8; count++) press('Left')
  press('BSpace')
  tmux('send-keys', '-t', 'chat', '-l', 'ab👩‍👩‍👧')
  press('BSpace')
  await shows(/漢ab漢字/)
  press('Enter')
  const shown = await shows(/No\.\n\n› *$/)
  // Nothing is repeated, and everything fits in two rows.
  expect(shown).toMatch(/exits\n› (漢字){7}漢ab漢字漢\n字漢字漢字\nNo\./)
})

test.runIf(hasTmux)('a message may have several lines, and what was typed is there in the next chat', async () => {
  writeAgent()
  await chat('--session s --store sqlite:s.db --agent agent.ts')
  type('first \\')
  await shows(/› first\n… *$/)
  tmux('send-keys', '-t', 'chat', '-l', 'second')
  press('M-Enter')
  tmux('send-keys', '-t', 'chat', '-l', 'third')
  await shows(/… second\n… third$/)
  press('Up')
  tmux('send-keys', '-t', 'chat', '-l', '!')
  await shows(/… secon!d\n… third$/)
  press('Enter')
  await shows(/No\.\n\n› *$/)
  tmux('set-buffer', 'pasted one\npasted two')
  tmux('paste-buffer', '-p', '-t', 'chat')
  await shows(/› pasted one\n… pasted two$/)
  press('Enter')
  await shows(/pasted two\nNo\.\n\n› *$/)
  type('/quit')
  await shows(/code 0/)
  await chat('--session t --store sqlite:s.db --agent agent.ts')
  // Goes back past "/quit", then past two lines of the pasted text.
  for (let count = 0; count < 4; count++) press('Up')
  await shows(/› first\n… secon!d\n… third$/)
})

test.runIf(hasTmux)('Ctrl+C takes back what is typed, interrupts a turn, and leaves where there is none', async () => {
  writeAgent()
  await chat('--store memory: --agent agent.ts')
  tmux('send-keys', '-t', 'chat', '-l', 'never said')
  await shows(/› never said$/)
  press('C-c')
  await shows(/› *$/)
  type('look')
  await shows(/\/fail why: *$/)
  press('C-c')
  await shows(/the turn was interrupted\n\n› *$/)
  press('C-c')
  const shown = await shows(/code \d+/)
  expect(shown).toMatch(/code 0$/)
  expect(shown).not.toContain('never said')
})

test.runIf(hasTmux)('keys that come while a turn runs are the next line, and not seen in the answer', async () => {
  writeAgent()
  await chat('--store memory: --agent agent.ts')
  type('slow')
  await shows(/> slow \{\}$/)
  type('//next')
  // The terminal delivers keys late: they must arrive before the turn ends.
  await new Promise((resolve) => setTimeout(resolve, 300))
  writeFileSync(join(folder, 'go'), '')
  const shown = await shows(/No\.\n\n› *$/)
  expect(shown).toMatch(/› slow\n> slow \{\}\n✓ slow .*\nIt was done\.\n\n› \/\/next\nNo\./)
})

test.runIf(hasTmux)('a turn continues after its chat was killed when its session is opened again', async () => {
  writeAgent()
  await chat('--session s --store sqlite:s.db --agent agent.ts')
  type('look')
  await shows(/\/fail why: *$/)
  await closeTerminal()
  await chat('--session s --store sqlite:s.db --agent agent.ts')
  await shows(/continuing session s: 1 turn so far[^]*> look [^]*\/fail why: *$/)
  type('a red one')
  await shows(/✓ look .*\nIt was a red one\.\n\n› *$/)
})

test.runIf(hasTmux)('a narrow terminal without colour breaks between words', async () => {
  await chat('--store memory:', { columns: 40, variables: 'NO_COLOR=1' })
  type('/help')
  await shows(/there\s+is\s+none\n› *$/)
  expect(tmux('capture-pane', '-p', '-e', '-t', 'chat', '-S', '-')).not.toContain('\u001b')
  expect(screen()).toContain('/new          start a new session\n')
  expect(screen()).toMatch(/^\/log {10}show the session so far:\n {14}messages/m)
})

async function serve(): Promise<string> {
  writeAgent()
  server = startCommand(process.execPath, {
    words: [BATON, 'serve', '--agent', 'agent.ts', '--store', 'sqlite:shop.db', '--port', '0', '--json'],
    folder,
    variables: { BATON_TOKEN: 'token-of-a-test' },
  })
  const line = await server.untilLine((said) => said.includes('"listening"'))
  return (JSON.parse(line) as { readonly url: string }).url
}

async function baton(words: readonly string[]) {
  const command = startCommand(process.execPath, { words: [BATON, ...words], folder, variables: { HOME: folder } })
  return { ...(await command.ended), output: command.output(), errors: command.errors() }
}

test('a chat next to a running server uses it, with its token, but not after the server was killed', async () => {
  await serve()
  const store = ['--store', 'sqlite:shop.db']
  const joined = await baton(['chat', '--once', 'x', ...store])
  expect(joined).toMatchObject({ code: 0, output: 'No.\n' })
  expect(joined.errors).toMatch(/^server ws:.*, which has this folder's store open\n$/)
  // A chat with its own model answers by itself, next to the server.
  const own = await baton(['chat', '--once', 'list the files', '--session', 's', '--model', 'offline', ...store])
  expect(own).toMatchObject({ code: 0, output: expect.stringContaining('notes.md') as string })
  expect(own.errors).toMatch(/^model offline, /)
  expect(await baton(['sessions', 'list', ...store])).toMatchObject({ code: 0 })
  expect(await baton(['sessions', 'delete', 's', ...store])).toMatchObject({ code: 0 })
  server?.kill('SIGKILL')
  await server?.ended
  expect(existsSync(join(folder, 'shop.db.server'))).toBe(true)
  const alone = await baton(['chat', '--once', 'list the files', ...store])
  expect(alone).toMatchObject({ code: 0, output: expect.stringContaining('notes.md') as string })
  expect(existsSync(join(folder, 'shop.db.server'))).toBe(false)
})

test.runIf(hasTmux)('a chat with a running server runs its client tools and leaves its log there', async () => {
  const url = await serve()
  const refused = await baton(['chat', '--once', 'look', '--url', url])
  expect([refused.code, refused.errors]).toEqual([
    1,
    expect.stringMatching(/\nbaton: .*refused the connection; it may require a token/),
  ])
  await chat(`--url ${url} --session kitchen`, { variables: 'BATON_TOKEN=token-of-a-test' })
  type('look')
  await shows(/> look .*\nlook is yours to run:\n {2}where: "door"\nresult, or \/fail why: *$/)
  type('a red one')
  await shows(/✓ look .*\nIt was a red one\.\n\n› *$/)
  type('/log')
  await shows(/"baton log kitchen" there\n› *$/)
  const log = await baton(['log', 'kitchen', '--store', 'sqlite:shop.db'])
  expect(log.output).toMatch(/you: look\n[^]*> look [^]*✓ look [^]*It was a red one\./)
})
