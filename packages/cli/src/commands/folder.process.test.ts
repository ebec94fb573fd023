// An editor's agent, an exploration, a chat, a run and a server share one folder's store, in any starting order, and
// continue when the process that has the file open ends.
import { chooseRotating, chooseSample } from '@baton/testing/depth'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
const HOST = import.meta.resolve('@baton/host')

let folder = ''
let model: HeldModel
let commands: Started[] = []
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-folder-'))
  writeFileSync(
    join(folder, 'agent.ts'),
    `import { defineAgent } from ${JSON.stringify(HOST)}\nexport default defineAgent({ name: 'clerk' })\n`,
  )
  model = await startHeldModel()
  commands = []
})
afterEach(async () => {
  for (const command of commands) {
    command.kill('SIGKILL')
    await command.ended
  }
  await model.close()
  rmSync(folder, { recursive: true })
})

interface HeldModel {
  readonly url: string
  /** Resolves once the command with this name has asked. */
  untilAsked(name: string): Promise<void>
  /** Answers the command with this name, now and later. */
  release(name: string): void
  close(): Promise<void>
}

/** A local model that answers no one until released. Each command gets its own address. */
async function startHeldModel(): Promise<HeldModel> {
  const held = new Map<string, ServerResponse[]>()
  const released = new Set<string>()
  const server: Server = createServer((request, response) => {
    const [, name = ''] = (request.url ?? '').split('/')
    request.resume()
    if (request.method === 'GET') response.end('{"object":"list","data":[]}')
    else if (released.has(name)) answer(response)
    else held.set(name, [...(held.get(name) ?? []), response])
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server
  return {
    url: `http://127.0.0.1:${port}`,
    untilAsked: async (name) => await expect.poll(() => held.has(name), { timeout: 180_000 }).toBe(true),
    release: (name) => {
      released.add(name)
      for (const response of held.get(name) ?? []) answer(response)
      held.delete(name)
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

function answer(response: ServerResponse): void {
  response.setHeader('content-type', 'text/event-stream')
  const send = (delta: object, reason: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: reason }]
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`,
    )
  }
  send({ role: 'assistant', content: 'All is well.' }, null)
  send({}, 'stop')
  response.end('data: [DONE]\n\n')
}

type Started = ReturnType<typeof spawnBaton>

function baton(words: readonly string[]): Started {
  const command = spawnBaton(words)
  commands.push(command)
  return command
}

function spawnBaton(words: readonly string[]) {
  const child = spawn(process.execPath, [BATON, ...words], {
    cwd: folder,
    env: { HOME: folder, XDG_DATA_HOME: folder, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const texts = { output: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (texts.output += piece))
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (texts.errors += piece))
  child.stdin.on('error', () => {}) // the process was killed
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    pid: child.pid,
    ended,
    output: () => texts.output,
    errors: () => texts.errors,
    type: (text: string) => void child.stdin.write(text),
    end: () => void child.stdin.end(),
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
  }
}

const KINDS = ['acp', 'explore', 'chat', 'run'] as const
type Kind = (typeof KINDS)[number]

/** Starts the command and waits until it asks its model: by then it has opened the store and a session. */
async function begin(kind: Kind): Promise<Started> {
  const words = ['--model', 'openai-compatible/m', '--base-url', `${model.url}/${kind}/v1`]
  const command = baton(
    {
      acp: ['acp', 'agent.ts', ...words],
      explore: ['explore', ...words],
      chat: ['chat', '--once', 'How are you?', '--session', 'chat', ...words],
      run: ['run', 'agent.ts', 'How are you?', '--session', 'run', ...words],
    }[kind],
  )
  if (kind === 'acp') await prompt(command)
  else command.end()
  await Promise.race([model.untilAsked(kind), untilEnded(command)])
  return command
}

async function untilEnded(command: Started): Promise<never> {
  await command.ended
  throw new Error(`it has ended: ${command.output()}${command.errors()}`)
}

/** Acts as an editor that opens a session and sends a message. */
async function prompt(command: Started): Promise<void> {
  const ask = async (id: number, method: string, params: object): Promise<string> => {
    command.type(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    await expect.poll(() => command.output(), { timeout: 180_000 }).toContain(`"id":${id}`)
    return command.output()
  }
  await ask(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} })
  const opened = await ask(2, 'session/new', { cwd: folder, mcpServers: [] })
  const [, sessionId] = /"sessionId":"([^"]+)"/.exec(opened) ?? []
  const params = { sessionId, prompt: [{ type: 'text', text: 'How are you?' }] }
  command.type(`${JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'session/prompt', params })}\n`)
}

/** Lets the model answer, and expects the command to end normally. */
async function finish(kind: Kind, command: Started): Promise<void> {
  model.release(kind)
  const isEditor = kind === 'acp'
  const hasAnswered = (): boolean => !isEditor || command.output().includes('"stopReason":"end_turn"')
  await expect.poll(hasAnswered, { timeout: 180_000 }).toBe(true)
  if (isEditor) command.end()
  // `explore` exits with 3 because the model reported nothing.
  const code = kind === 'explore' ? 3 : 0
  expect([kind, await command.ended, command.errors()]).toEqual([kind, code, expect.any(String)])
  expect(`${command.output()}${command.errors()}`).toContain('All is well.')
}

function findHolder(): number {
  const data = join(folder, 'baton')
  const file = readdirSync(data).find((name) => name.endsWith('.processes')) ?? ''
  const { holder } = JSON.parse(readFileSync(join(data, file), 'utf8')) as { readonly holder: { readonly pid: number } }
  return holder.pid
}

function permute(kinds: readonly Kind[]): readonly (readonly Kind[])[] {
  if (kinds.length === 0) return [[]]
  return kinds.flatMap((first) => permute(kinds.filter((kind) => kind !== first)).map((rest) => [first, ...rest]))
}

const LIVES = permute(KINDS).flatMap((order) => [
  { order, names: order.join(', '), end: 'ends' },
  { order, names: order.join(', '), end: 'is killed' },
])
const PLAYED = chooseSample(chooseRotating(LIVES), 1)
const listLives = (end: string) => PLAYED.filter((life) => life.end === end)

test.each(listLives('ends'))('$names work at the same time, and the first one ends first', async ({ order }) => {
  const begun: (readonly [Kind, Started])[] = []
  for (const kind of order) begun.push([kind, await begin(kind)])
  expect(findHolder()).toBe(begun[0]?.[1].pid)
  for (const [kind, command] of begun) await finish(kind, command)
  // No helper file is left next to the store when all have ended.
  const beside = readdirSync(join(folder, 'baton')).filter((name) => /\.(?:socket|processes|server)/.test(name))
  expect(beside).toEqual([])
  const listed = baton(['sessions', 'list', '--json'])
  expect(await listed.ended).toBe(0)
  expect(listed.output().trim().split('\n')).toHaveLength(4)
})

test.each(listLives('is killed'))('$names: the first one is killed, and the others go on', async ({ order }) => {
  const [[, first], ...others] = [
    [order[0] as Kind, await begin(order[0] as Kind)] as const,
    ...(await Promise.all(order.slice(1).map(async (kind) => [kind, await begin(kind)] as const))),
  ] as const
  first.kill('SIGKILL')
  await first.ended
  for (const [kind, command] of others) await finish(kind, command)
})
