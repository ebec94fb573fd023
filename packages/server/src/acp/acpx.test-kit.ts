// acpx, an unmodified client of the protocol, with an agent of `baton acp`: each run returns the connection's messages,
// checked against the SDK's JSON Schemas.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AnyMessage } from '@agentclientprotocol/sdk'
import { createSchemaChecks } from './schema-checks.test-kit.ts'

const BATON = fileURLToPath(new URL('../../../cli/bin/baton.mjs', import.meta.url))
const ACPX = join(dirname(createRequire(import.meta.url).resolve('acpx/package.json')), 'dist/cli.js')

export interface AcpxRun {
  readonly code: number | null
  readonly messages: readonly AnyMessage[]
  readonly updates: readonly Readonly<Record<string, unknown>>[]
  /** The answer's text. */
  readonly text: string
  readonly stop: string | undefined
  readonly errors: string
}

export interface AcpxWorld {
  readonly folder: string
  /** Options before the command, such as `--approve-all`, then the command. */
  run(words: readonly string[], more?: { readonly acp?: readonly string[]; readonly input?: string }): Promise<AcpxRun>
  count(): number
  stop(): void
}

export function createAcpxWorld(agent: string): AcpxWorld {
  const base = mkdtempSync(join(tmpdir(), 'baton-acpx-'))
  const [folder, home] = [join(base, 'project'), join(base, 'home')]
  mkdirSync(join(folder, '.git'), { recursive: true })
  mkdirSync(home)
  writeFileSync(join(base, 'agent.ts'), agent)
  let count = 0
  return {
    folder,
    run: async (words, { acp = [], input } = {}) => {
      const command = ['node', BATON, 'acp', join(base, 'agent.ts'), '--store', `sqlite:${join(base, 's.db')}`, ...acp]
      const said = await start({
        words: [ACPX, '--agent', command.join(' '), '--cwd', folder, '--format', 'json', '--ttl', '2', ...words],
        home,
        folder,
        ...(input !== undefined && { input }),
      })
      const run = readRun(said)
      count += run.messages.length
      return run
    },
    count: () => count,
    stop: () => rmSync(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  }
}

interface Said {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

function start(init: {
  readonly words: readonly string[]
  readonly home: string
  readonly folder: string
  readonly input?: string
}): Promise<Said> {
  const { words, home, folder, input } = init
  const child = spawn(process.execPath, [...words], {
    cwd: folder,
    env: { HOME: home, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(input ?? '')
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece))
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (errors += piece))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output, errors }))
  })
}

function readRun({ code, output, errors }: Said): AcpxRun {
  const lines = output.split('\n').filter((line) => line.startsWith('{'))
  const messages = lines
    .map((line) => JSON.parse(line) as AnyMessage) // printed by acpx
    .filter((message) => 'jsonrpc' in message)
  const checks = createSchemaChecks(1)
  // Both ends count their requests from 0, and acpx prints messages of both.
  const asked = new Map<string, string[]>()
  for (const message of messages)
    if ('method' in message) {
      checks.check('agent', message)
      if ('id' in message) asked.set(String(message.id), [...(asked.get(String(message.id)) ?? []), message.method])
    } else if ('result' in message) checks.checkAnswer(asked.get(String(message.id)) ?? [], message.result)
  checks.expectValid()
  const updates = messages.flatMap((message) =>
    'method' in message && message.method === 'session/update'
      ? [(message.params as { readonly update: Readonly<Record<string, unknown>> }).update] // already checked
      : [],
  )
  const chunks = updates.filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
  const results = messages.flatMap((message) =>
    'result' in message ? [message.result as { readonly stopReason?: string }] : [],
  )
  return {
    code,
    messages,
    updates,
    errors,
    text: chunks.map(({ content }) => (content as { readonly text?: string }).text ?? '').join(''),
    stop: results.findLast((result) => typeof result === 'object' && result !== null && 'stopReason' in result)
      ?.stopReason,
  }
}
