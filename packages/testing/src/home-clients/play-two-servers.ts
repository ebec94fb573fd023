// Plays turns of the home agent over two real servers and one PostgreSQL store. Clients connect through a balancer: the
// first connection goes to the holder of the session, the next one to the other server.
import type { Host, Session } from '@baton/core'
import { isBatonError } from '@baton/core'
import { createHost, createNodeEnvironment } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import { SUBPROTOCOL } from '@baton/protocol'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startCuttingProxy } from '../v1-app/cutting-proxy.ts'
import { findFreePort } from '../components/free-port.ts'
import { createHomeAgent } from './home-agent.ts'
import type { KillPlan } from '../kill-loop/plan.ts'
import type { PostgresServer } from '../components/postgres.ts'
import type { StartedCommand } from '../components/start-command.ts'
import { startCommand } from '../components/start-command.ts'
import { startBalancer } from '../two-processes/balancer.ts'
import type { PeerServerWords } from '../two-processes/server.ts'
import type { ClientProgram, PlayedTurn } from './play-home.ts'
import { readTurn, runClient } from './play-home.ts'

/** A turn whose log has not been read yet. */
export interface MovedTurn extends Omit<PlayedTurn, 'past'> {
  readonly session: string
}

export interface TwoServers {
  /** Plays a turn in a new session, with connections cut at these frames. */
  play(program: ClientProgram, cutAt: readonly number[]): Promise<MovedTurn>
  /** Stops the servers, and reads the logs and effects of these turns. Call it once. */
  settle(turns: readonly MovedTurn[]): Promise<readonly PlayedTurn[]>
  /** Number of connections that one server has passed on to the other. */
  passedOn(): number
  /** Whether the holder has killed itself. */
  wasKilled(): boolean
  /** Kills whatever is still running and removes its files. */
  close(): Promise<void>
}

const SERVER = fileURLToPath(new URL('../two-processes/server.ts', import.meta.url))
const LEASE_MS = 2000

/** With a plan, the holder kills itself. */
export async function openTwoServers(postgres: PostgresServer, plan?: KillPlan): Promise<TwoServers> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-two-homes-'))
  const effectsFile = join(folder, 'effects.txt')
  const store = postgres.createDatabase()
  const ports = [await findFreePort(), await findFreePort()]
  const [other, holder] = await Promise.all(
    ports.map(async (port, index) => {
      const own = index === 1 && plan ? { plan } : {}
      const words: PeerServerWords = { store, port, effectsFile, aheadMs: 0, leaseMs: LEASE_MS, kind: 'home', ...own }
      const server = startCommand(process.execPath, {
        words: ['--conditions=@baton/source', '--no-warnings', SERVER, JSON.stringify(words)],
      })
      await server.untilLine((line) => line.includes('listening'))
      return server
    }),
  )
  if (!other || !holder) throw new Error('there must be two servers')
  let wasKilled = false
  holder.ended.then(
    ({ signal }) => (wasKilled = signal === 'SIGKILL'),
    () => {},
  )
  const servers = [other, holder]
  return {
    play: (program, cutAt) => playThrough(ports, program, cutAt),
    settle: async (turns) => {
      await end(servers, 'SIGTERM')
      return readTurns(store, effectsFile, turns)
    },
    passedOn: () =>
      servers.reduce((sum, server) => sum + server.output().split('a connection was passed on').length - 1, 0),
    wasKilled: () => wasKilled,
    close: async () => {
      await end(servers, 'SIGKILL')
      rmSync(folder, { recursive: true })
    },
  }
}

async function end(servers: readonly StartedCommand[], signal: NodeJS.Signals): Promise<void> {
  for (const server of servers) server.kill(signal)
  await Promise.all(servers.map(({ ended }) => ended))
}

async function playThrough(
  ports: readonly number[],
  program: ClientProgram,
  cutAt: readonly number[],
): Promise<MovedTurn> {
  const session = randomUUID()
  const effects: Record<string, number> = {}
  const balancer = await startBalancer(ports)
  const target = `ws://127.0.0.1:${balancer.port}/ws`
  const proxy = await startCuttingProxy({ target, protocol: SUBPROTOCOL, cutAt })
  const count = (name: string): void => void (effects[name] = (effects[name] ?? 0) + 1)
  const client = await runClient(program, { url: proxy.url, session, count })
  await proxy.close()
  await balancer.close()
  return { ...client, session, effects, frames: proxy.frames(), cuts: proxy.cuts() }
}

async function readTurns(
  url: string,
  effectsFile: string,
  turns: readonly MovedTurn[],
): Promise<readonly PlayedTurn[]> {
  const lines = existsSync(effectsFile) ? readFileSync(effectsFile, 'utf8').trim().split('\n') : []
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const store = await openPostgresStore(url)
  const agent = createHomeAgent({ timers: environment.timers, onEffect: () => {} })
  const host = createHost({ environment, agent, store })
  const read: PlayedTurn[] = []
  for (const turn of turns) {
    const effects: Record<string, number> = { ...turn.effects }
    for (const line of lines) {
      const [name = '', session] = line.split(' ')
      if (session === turn.session) effects[name] = (effects[name] ?? 0) + 1
    }
    const session = await openWhenFree(host, turn.session)
    read.push({ ...turn, effects, past: await readTurn(session.events({ from: 'start' })) })
  }
  await host.stop()
  await store.close()
  return read
}

/** A killed holder keeps its session until its lease has expired. */
async function openWhenFree(host: Host, id: string): Promise<Session> {
  const patientMs = performance.now() + 10 * LEASE_MS
  for (;;)
    try {
      return await host.session(id)
    } catch (cause) {
      if (!isBatonError(cause) || cause.code !== 'session_held' || performance.now() > patientMs) throw cause
      await wait(LEASE_MS / 10)
    }
}
