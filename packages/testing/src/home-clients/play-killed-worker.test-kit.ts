// Plays a turn of the home agent over Temporal whose worker kills itself around a record or after an effect. Another
// worker is then started. If the gateway dies too, the client connects to another gateway.
import { openPostgresStore } from '@baton/host/postgres'
import { SUBPROTOCOL } from '@baton/protocol'
import { createWebSocketFront } from '@baton/server/websocket'
import { bundleWorkflows, createTemporalHost } from '@baton/temporal'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCuttingProxy } from '../v1-app/cutting-proxy.ts'
import { findFreePort } from '../components/free-port.ts'
import { createHomeAgent } from './home-agent.ts'
import type { KillPlan } from '../kill-loop/plan.ts'
import type { Services } from '../components/services.ts'
import type { StartedCommand } from '../components/start-command.ts'
import { startCommand } from '../components/start-command.ts'
import { untilLineWithin } from '../components/within.ts'
import type { GatewayWords } from './gateway.test-kit.ts'
import type { ClientProgram, KilledTurn } from './play-home.ts'
import { environment, MANY_FRAMES, readTurn, runClient } from './play-home.ts'
import type { WorkerWords } from './worker.test-kit.ts'

export interface WorkerKill {
  /** Around a record, or after a tool's effect. */
  readonly when: { readonly plan: KillPlan } | { readonly diesAfter: string }
  /** The client's gateway dies with the worker. */
  readonly withGateway: boolean
}

export interface KilledWorkers {
  /** A turn in a separate environment: worker, gateways and log. */
  play(program: ClientProgram, kill: WorkerKill): Promise<KilledTurn>
  close(): void
}

/** Milliseconds within which a process must start. */
const START_MS = 60_000
const SESSION = 'home'

export async function openKilledWorkers({ temporal, postgres, redis }: Services): Promise<KilledWorkers> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-home-workers-'))
  const workflows = join(folder, 'workflows.json')
  writeFileSync(workflows, JSON.stringify(await bundleWorkflows()))
  return {
    play: async (program, kill) => {
      const taskQueue = `home-${randomUUID()}`
      const effects = join(folder, taskQueue)
      const shared = { address: temporal.address, taskQueue, redis: redis.url, postgres: postgres.createDatabase() }
      return await playKilled(program, kill, { ...shared, effects, workflows })
    },
    close: () => rmSync(folder, { recursive: true }),
  }
}

/** Each play has its own session name, because all plays share the service's workflow ids. */
async function playKilled(program: ClientProgram, kill: WorkerKill, words: WorkerWords): Promise<KilledTurn> {
  const session = `${SESSION}-${words.taskQueue}`
  const workers = [await startProcess<WorkerWords>('worker', { ...words, ...kill.when }, 'working')]
  const gateway = await openGateway(words)
  const first = kill.withGateway ? await startGateway(words) : undefined
  const proxy = await startCuttingProxy({ target: first?.url ?? gateway.url, protocol: SUBPROTOCOL, cutAt: [] })
  let isOver = false
  let wasKilled = false
  const goOn = workers[0]?.ended.then(async () => {
    if (isOver) return
    wasKilled = true
    proxy.lead(gateway.url)
    first?.command.kill('SIGKILL')
    workers.push(await startProcess<WorkerWords>('worker', words, 'working'))
  })
  goOn?.catch(() => {}) // awaited below
  try {
    const count = (name: string): void => void (effects[name] = (effects[name] ?? 0) + 1)
    const effects: Record<string, number> = {}
    const client = await runClient(program, { url: proxy.url, session, count })
    isOver = true
    if (wasKilled) await goOn
    for (const name of readLines(words.effects)) count(name)
    const past = await gateway.readPast(session)
    return { ...client, past, effects, frames: proxy.frames(), cuts: 0, wasKilled }
  } finally {
    isOver = true
    await proxy.close()
    await gateway.close()
    for (const command of [...workers, ...(first ? [first.command] : [])]) {
      command.kill('SIGKILL')
      await command.ended
    }
  }
}

/** A gateway in this process, which stays alive. */
async function openGateway({ address, taskQueue, redis, postgres }: WorkerWords) {
  const logStore = await openPostgresStore(postgres)
  const agent = createHomeAgent({ timers: environment.timers, onEffect: () => {} })
  const host = await createTemporalHost({ address, taskQueue, redis, logStore, agent })
  const front = createWebSocketFront(host, { ...environment, port: 0, limits: MANY_FRAMES })
  const { url } = await front.listen()
  return {
    url,
    readPast: async (session: string) => {
      const view = await host.session(session)
      return await readTurn(view.events({ from: 'start' }))
    },
    close: async () => {
      await front.close()
      await host.stop()
      await logStore.close()
    },
  }
}

async function startGateway({ address, taskQueue, redis, postgres }: WorkerWords) {
  const port = await findFreePort()
  const words = { address, taskQueue, redis, postgres, port }
  const command = await startProcess<GatewayWords>('gateway', words, 'listening')
  return { command, url: `ws://127.0.0.1:${port}/ws` }
}

async function startProcess<Words>(kit: string, words: Words, line: string): Promise<StartedCommand> {
  const program = join(import.meta.dirname, `${kit}.test-kit.ts`)
  const command = startCommand(process.execPath, {
    words: ['--conditions=@baton/source', '--no-warnings', program, JSON.stringify(words)],
  })
  await untilLineWithin(START_MS, command, line)
  return command
}

function readLines(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}
