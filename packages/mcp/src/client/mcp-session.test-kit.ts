// A session whose scripted model calls the tools of MCP servers, with the outcome of each call.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ApprovalPolicy, JsonObject, JsonValue, Timers } from '@baton/core/internal'
import type { Session } from '@baton/host'
import { createHost, createNodeEnvironment, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import type { McpServerConfig, McpServers, McpServersOptions } from './index.ts'
import { createMcpServers } from './index.ts'

export const ODD_SERVER = fileURLToPath(new URL('odd-server.test-kit.ts', import.meta.url))

export type Step = readonly [name: string, input: JsonObject]

/** Configures a server that misbehaves in this way and counts its starts. */
export function describeOddServer(mode: string, config: Partial<McpServerConfig> = {}): McpServerConfig {
  const count = join(mkdtempSync(join(tmpdir(), 'baton-mcp-')), 'starts')
  return { ...config, command: process.execPath, args: ['--no-warnings', ODD_SERVER, mode, count] }
}

/** The same over HTTP. The server ends with `stop` or with this process, and counts handshakes as starts. */
export async function startOddServer(mode: string): Promise<{ readonly url: string; readonly stop: () => void }> {
  const count = join(mkdtempSync(join(tmpdir(), 'baton-mcp-')), 'starts')
  const words = ['--no-warnings', ODD_SERVER, mode, count, 'http']
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'ignore'] })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return { url: `http://127.0.0.1:${port.toString().trim()}/mcp`, stop: () => void child.kill('SIGKILL') }
}

export type AnswerQuestion = (message: string) => JsonValue | Promise<JsonValue>

export interface Results {
  /** `<name> <type> <code>: <text>` of each call. */
  readonly calls: readonly string[]
  readonly asked: readonly string[]
  readonly notes: number
}

/** Runs one turn that calls one tool after another. `onQuestion` answers questions; without it they are declined. */
export async function callTools(
  servers: McpServers,
  steps: readonly Step[],
  { id = 'one', onQuestion }: { readonly id?: string; readonly onQuestion?: AnswerQuestion } = {},
): Promise<Results> {
  const host = createMcpHost(servers, steps)
  try {
    return await play(await host.session(id), onQuestion)
  } finally {
    await host.stop()
  }
}

export function createMcpHost(
  servers: McpServers,
  steps: readonly Step[],
  approvalPolicy?: ApprovalPolicy,
): ReturnType<typeof createHost> {
  const script = [...steps.map(([name, input]) => ({ calls: [{ name, arguments: input }] })), { text: 'Done.' }]
  const model = createScriptedModel({ steps: script })
  const policy = approvalPolicy && { approvalPolicy }
  const environment = createNodeEnvironment()
  const { timers } = environment
  return createHost({
    // A busy machine may take long to start a server, which a session waits for at most 10 seconds.
    environment: { ...environment, timers: { ...timers, start: (ms, callback) => timers.start(20 * ms, callback) } },
    agent: defineAgent({ name: 'tester', model, sources: servers.sources, collisions: 'prefix', ...policy }),
  })
}

export async function play(session: Session, onQuestion?: AnswerQuestion): Promise<Results> {
  const calls: string[] = []
  const asked: string[] = []
  let notes = 0
  for await (const event of session.send('Go.')) {
    if (event.type === 'call-progress') notes += 1
    if (event.type === 'question-asked') {
      asked.push(event.message)
      const { questionId } = event
      if (onQuestion)
        void Promise.resolve(onQuestion(event.message)).then((value) => session.answer({ questionId, value }))
      else void session.answer({ questionId, decline: true })
    }
    if (event.type !== 'call' || !event.call.result) continue
    const { result, name } = event.call
    const text = 'content' in result ? JSON.stringify(result.content) : 'message' in result ? result.message : ''
    calls.push([name, result.type, ...('code' in result ? [result.code] : [])].join(' ') + `: ${text}`)
  }
  return { calls, asked, notes }
}

/** Servers whose timers run when the test says so. */
export function createWaitingServers(
  configs: Readonly<Record<string, McpServerConfig>>,
  options: McpServersOptions = {},
): { readonly servers: McpServers; readonly pass: (ms: number) => void; readonly warnings: string[] } {
  const waits = new Map<symbol, { readonly atMs: number; readonly callback: () => void }>()
  let nowMs = 0
  const timers: Timers = {
    start: (delayMs, callback) => {
      const key = Symbol('wait')
      waits.set(key, { atMs: nowMs + delayMs, callback })
      return () => void waits.delete(key)
    },
  }
  const warnings: string[] = []
  const log = {
    info: () => {},
    warn: (message: string, data?: JsonObject) => void warnings.push(`${message} ${JSON.stringify(data)}`),
  }
  const pass = (ms: number): void => {
    nowMs += ms
    for (const [key, { atMs, callback }] of waits)
      if (atMs <= nowMs) {
        waits.delete(key)
        callback()
      }
  }
  return { servers: createMcpServers(configs, { timers, log, ...options }), pass, warnings }
}
