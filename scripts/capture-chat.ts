// Plays a chat in a real terminal (tmux) against aimock, an independent local OpenAI-compatible server, and writes the
// screen contents to docs/chat-session.txt and docs/cli.md: `npm run capture`. It requires tmux.
import { LLMock } from '@copilotkit/aimock'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { withCapture } from './generated-part.ts'
import { REPOSITORY } from './source-files.ts'

const BATON = join(REPOSITORY, 'packages/cli/bin/baton.mjs')
const CAPTURE = join(REPOSITORY, 'docs/chat-session.txt')
const PAGE = join(REPOSITORY, 'docs/cli.md')
/** In cells; a file in the docs should not be wider. */
const SIZE = { columns: 88, rows: 60 }
/** How many milliseconds the screen may take to show the expected text. */
const SHOWN_MS = 20_000
const LOOK_MS = 50

const place = mkdtempSync(join(tmpdir(), 'baton-capture-'))
const folder = join(place, 'shop')
const socket = join(place, 'tmux')
const mock = createMock()
try {
  await mock.start()
  mkdirSync(folder)
  writeFileSync(join(folder, 'shop.ts'), 'export const open = (hour: number) => hour >= 9 && hour < 18\n')
  writeFileSync(join(folder, 'README.md'), '# Shop\n\nOpening hours stand in shop.ts.\n')
  const session = await playSession()
  writeFileSync(CAPTURE, session)
  writeFileSync(PAGE, withCapture(readFileSync(PAGE, 'utf8'), 'docs/chat-session.txt', session))
  console.log('capture: docs/chat-session.txt, docs/cli.md')
} finally {
  tmux('kill-server')
  await mock.stop()
  rmSync(place, { recursive: true, force: true })
}

/** The model's answer to each message from the person, streamed as a server would. */
function createMock(): LLMock {
  const server = new LLMock({ port: 0 })
  const paced = { streamingProfile: { ttft: 200, tps: 25, jitter: 0 } }
  const calls = [
    { name: 'code.grep', arguments: '{"pattern":"open"}' },
    { name: 'fs.list_dir', arguments: '{}' },
  ]
  server.on(
    { userMessage: 'when', hasToolResult: false },
    ({ tools = [] }) => ({
      content: 'I look at the code and at the folder.',
      // The sender chooses the names on the wire: each tool is called as it was offered.
      toolCalls: calls.map((call) => ({ ...call, name: offered(tools, call.name) })),
    }),
    paced,
  )
  server.on(
    { userMessage: 'when', hasToolResult: true },
    { content: 'The shop opens at 9 and closes at 18; `open` in shop.ts says so, and README.md points there.' },
    paced,
  )
  const story = Array.from({ length: 200 }, (_, index) => `sentence ${index + 1} of a long story,`).join(' ')
  server.on({ userMessage: 'story' }, { content: story }, paced)
  server.on({ userMessage: 'still' }, { content: 'Yes. You asked when the shop is open.' }, paced)
  return server
}

interface Offered {
  readonly function: { readonly name: string }
}

function offered(tools: readonly Offered[], name: string): string {
  const last = name.split('.').at(-1) ?? name
  return tools.find((tool) => tool.function.name.includes(last))?.function.name ?? name
}

async function playSession(): Promise<string> {
  const { columns, rows } = SIZE
  const command = `baton chat --session shop --model openai-compatible/small-model --base-url ${mock.url}/v1`
  const shell = `cd ${folder} && exec env -i PATH="$PATH" TERM=screen HOME=${place} PS1='$ ' sh -i`
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), '-s', 'chat', shell)
  tmux('set-option', '-g', 'history-limit', '5000')
  type(`baton() { "${process.execPath}" "${BATON}" "$@"; }; clear`)
  type(command)
  await shown(/Ctrl\+D exits/)
  await shown(/^› *$/m)
  type('when is the shop open?')
  await shown(/there\.\n[^\n]*\n\n› *$/)
  type('/show 1')
  await shown(/\}\n› *$/)
  type('tell me a long story')
  await shown(/sentence 3 of/)
  tmux('send-keys', '-t', 'chat', 'C-c')
  await shown(/was interrupted\n\n› *$/)
  type('/model openai-compatible/large-model')
  await shown(/switched to model \S+large-model\n› *$/)
  type('do you still know what I asked?')
  await shown(/open\.\n[^\n]*\n\n› *$/)
  type('/log')
  await shown(/turn 3 was answered.*\n› *$/)
  type('/quit')
  await shown(/\$ *$/)
  return `${readable(screen())}\n`
}

function type(text: string): void {
  tmux('send-keys', '-t', 'chat', '-l', text)
  tmux('send-keys', '-t', 'chat', 'Enter')
}

/** @throws Error with the screen contents if the expected text does not appear in time */
async function shown(wanted: RegExp): Promise<void> {
  for (let waitedMs = 0; waitedMs < SHOWN_MS; waitedMs += LOOK_MS) {
    if (wanted.test(screen())) return
    await wait(LOOK_MS)
  }
  throw new Error(`the terminal never showed ${wanted}; it shows:\n${screen()}`)
}

function screen(): string {
  return tmux('capture-pane', '-p', '-t', 'chat', '-S', '-').trimEnd()
}

/** Removes what is specific to this run: the folder's name, the port and the trailing prompt. */
function readable(text: string): string {
  const from = text.indexOf('$ baton chat')
  return text
    .slice(Math.max(0, from))
    .replace(/\n\$ *$/, '')
    .replaceAll(place, '/home/me')
    .replaceAll(new URL(mock.url).port, '8000')
}

function tmux(...words: readonly string[]): string {
  const { stdout, error } = spawnSync('tmux', ['-S', socket, ...words], { encoding: 'utf8' })
  if (error) throw new Error('tmux is needed for this; install it', { cause: error })
  return stdout
}
