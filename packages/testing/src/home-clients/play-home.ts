// Plays the home agent's turn with a client that is a separate program, and reports what it received and what happened.
// The program gets the server's address, a session and a message; it prints a JSON line for each event, for each effect
// of its tools, and for the answer.
import type { EventStream, SessionEvent } from '@baton/core'
import { createHost, createMemoryStore, createNodeEnvironment, openSqliteStore } from '@baton/host'
import { SUBPROTOCOL } from '@baton/protocol'
import { createWebSocketFront } from '@baton/server/websocket'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startCuttingProxy } from '../v1-app/cutting-proxy.ts'
import { findFreePort } from '../components/free-port.ts'
import { createHomeAgent } from './home-agent.ts'
import type { KillPlan } from '../kill-loop/plan.ts'
import { startCommand } from '../components/start-command.ts'

/** The command and its arguments before the address. */
export type ClientProgram = readonly [command: string, ...words: readonly string[]]

export interface PlayedTurn {
  readonly effects: Readonly<Record<string, number>>
  /** Events of the client, without `live`. */
  readonly events: readonly SessionEvent[]
  /** Events of the log. */
  readonly past: readonly SessionEvent[]
  readonly said: string
  /** The client's standard error. */
  readonly errors: string
  /** Frames that passed the proxy, and connections that it cut. */
  readonly frames: number
  readonly cuts: number
}

const MANY = 1_000_000
/** Server limits for clients that send without a pause. */
export const MANY_FRAMES = {
  sessionFramesPerMinute: MANY,
  addressFramesPerMinute: MANY,
  addressSessionsPerMinute: MANY,
}
/** Milliseconds a client has for its turn. */
const CLIENT_MS = 120_000
const SESSION = 's'

export const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })

/** Events of one client. */
export type ToldClient = Pick<PlayedTurn, 'events' | 'said' | 'errors'>

export interface TwoDevices extends PlayedTurn {
  /** Events of the other, silent device. */
  readonly other: ToldClient
}

/** The answer to a client that opens a session. */
const OPENED_FRAME = 2

/** A turn with two devices, each losing four frames with its connections. */
export async function playTwoDevices(
  [speaker, listener]: readonly [ClientProgram, ClientProgram],
  { target, session, count }: { readonly target: string } & Pick<ClientRun, 'session' | 'count'>,
) {
  const cutAt = [5, 9, 14, 20]
  const isThere = Promise.withResolvers<void>()
  const proxies = [
    await startCuttingProxy({ target, protocol: SUBPROTOCOL, cutAt }),
    await startCuttingProxy({
      target,
      protocol: SUBPROTOCOL,
      cutAt,
      onFrame: (frame) => frame === OPENED_FRAME && isThere.resolve(),
    }),
  ]
  const [first, second] = proxies.map(({ url }) => ({ url, session, count }))
  if (!first || !second) throw new Error('there must be two proxies')
  const told = runClient(listener, { ...second, text: '' })
  // A client that joins during a turn receives only the rest of it.
  await Promise.race([isThere.promise, told])
  const [client, other] = await Promise.all([runClient(speaker, first), told])
  await Promise.all(proxies.map((proxy) => proxy.close()))
  const sum = (counts: readonly number[]): number => counts.reduce((total, one) => total + one, 0)
  return {
    ...client,
    other,
    frames: sum(proxies.map(({ frames }) => frames())),
    cuts: sum(proxies.map(({ cuts }) => cuts())),
  }
}

/** Runs `playTwoDevices` on a host in this process. */
export async function playTwoLocalDevices(programs: readonly [ClientProgram, ClientProgram]): Promise<TwoDevices> {
  const served = await serveHome()
  const told = await playTwoDevices(programs, { ...served, session: SESSION })
  return { ...told, ...(await served.end()) }
}

/** Cuts the connection at each of these frames, losing the frame. */
export async function playCut(program: ClientProgram, cutAt: readonly number[]): Promise<PlayedTurn> {
  const { target, count, end } = await serveHome()
  const proxy = await startCuttingProxy({ target, protocol: SUBPROTOCOL, cutAt })
  const client = await runClient(program, { url: proxy.url, session: SESSION, count })
  await proxy.close()
  return { ...client, ...(await end()), frames: proxy.frames(), cuts: proxy.cuts() }
}

/** `end`: returns the log's events and how often each effect happened. */
async function serveHome() {
  const effects = new Map<string, number>()
  const count = (name: string): void => void effects.set(name, (effects.get(name) ?? 0) + 1)
  const agent = createHomeAgent({ timers: environment.timers, onEffect: count })
  const host = createHost({ environment, agent, store: createMemoryStore() })
  const front = createWebSocketFront(host, { ...environment, port: 0, limits: MANY_FRAMES })
  const { url: target } = await front.listen()
  const end = async (): Promise<Pick<PlayedTurn, 'past' | 'effects'>> => {
    const session = await host.session(SESSION)
    const past = await readTurn(session.events({ from: 'start' }))
    await front.close()
    await host.stop()
    return { past, effects: Object.fromEntries(effects) }
  }
  return { target, count, end }
}

const SERVER = fileURLToPath(new URL('../kill-loop/server.ts', import.meta.url))

export interface KilledTurn extends PlayedTurn {
  /** Whether the server was killed; false if its turn ended before that. */
  readonly wasKilled: boolean
}

/** A server over SQLite kills itself with SIGKILL around a record; another one continues with its store. */
export async function playKilled(program: ClientProgram, plan: KillPlan): Promise<KilledTurn> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-home-'))
  const effects = new Map<string, number>()
  const count = (name: string): void => void effects.set(name, (effects.get(name) ?? 0) + 1)
  const port = await findFreePort()
  const start = async (plans: readonly KillPlan[]) => {
    const words = ['--conditions=@baton/source', '--no-warnings', SERVER, folder, String(port), 'home']
    const server = startCommand(process.execPath, { words: [...words, ...plans.map((one) => JSON.stringify(one))] })
    await server.untilLine((line) => line.includes('listening'))
    return server
  }
  try {
    let server = await start([plan])
    let isOver = false
    let wasKilled = false
    const goOn = server.ended.then(async () => {
      if (isOver) return
      wasKilled = true
      server = await start([])
    })
    const client = await runClient(program, { url: `ws://127.0.0.1:${port}/ws`, session: SESSION, count })
    isOver = true
    if (wasKilled) await goOn
    server.kill('SIGKILL')
    await server.ended
    const effectsFile = join(folder, 'effects.txt')
    for (const line of existsSync(effectsFile) ? readFileSync(effectsFile, 'utf8').trim().split('\n') : [])
      count(line.split(' ')[0] ?? '')
    const past = await readStore(join(folder, 'sessions.db'))
    return { ...client, past, effects: Object.fromEntries(effects), frames: 0, cuts: 0, wasKilled }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function readStore(file: string): Promise<readonly SessionEvent[]> {
  const store = await openSqliteStore(file)
  const agent = createHomeAgent({ timers: environment.timers, onEffect: () => {} })
  const host = createHost({ environment, agent, store })
  const session = await host.session(SESSION)
  const past = await readTurn(session.events({ from: 'start' }))
  await host.stop()
  await store.close()
  return past
}

/** Reads a log's events until its first turn has ended, or up to now. */
export async function readTurn(events: EventStream): Promise<readonly SessionEvent[]> {
  const past: SessionEvent[] = []
  for await (const event of events) {
    past.push(event)
    if (event.type === 'turn-finished' || event.type === 'live') break
  }
  return past
}

interface Line {
  readonly effect?: string
  readonly event?: SessionEvent
  readonly said?: string
}

export interface ClientRun {
  readonly url: string
  readonly session: string
  /** Called when its tool has acted. */
  readonly count: (name: string) => void
  /** Its message. If empty, it stays connected until the turn has ended. */
  readonly text?: string
}

/** Runs the program until it exits. */
export async function runClient(
  [command, ...own]: ClientProgram,
  { url, session, count, text: words = 'A picture, please' }: ClientRun,
): Promise<ToldClient> {
  const program = spawn(command, [...own, url, session, words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: CLIENT_MS,
  })
  let errors = ''
  program.stderr.on('data', (text: Buffer) => void (errors += text.toString()))
  const events: SessionEvent[] = []
  let said = ''
  for await (const text of createInterface(program.stdout)) {
    const line = JSON.parse(text) as Line // as printed by the programs
    if (line.effect !== undefined) count(line.effect)
    if (line.event && line.event.type !== 'live') events.push(line.event)
    said = line.said ?? said
  }
  if (program.exitCode === null && program.signalCode === null) await once(program, 'exit')
  if (program.signalCode !== null)
    errors += `the client did not end within ${CLIENT_MS} ms after ${JSON.stringify(events.at(-1))}`
  return { events, said, errors }
}
