// Plays turns of the home agent over a real Temporal service, PostgreSQL and Redis: the worker is in this process, each
// gateway with its front is a separate process.
import { openPostgresStore } from '@baton/host/postgres'
import { SUBPROTOCOL } from '@baton/protocol'
import { bundleWorkflows, createTemporalHost, createTemporalWorker, sendTemporalLogs } from '@baton/temporal'
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startCuttingProxy } from '../v1-app/cutting-proxy.ts'
import { findFreePort } from '../components/free-port.ts'
import { createHomeAgent } from './home-agent.ts'
import type { Services } from '../components/services.ts'
import type { StartedCommand } from '../components/start-command.ts'
import { startCommand } from '../components/start-command.ts'
import { startBalancer } from '../two-processes/balancer.ts'
import type { GatewayWords } from './gateway.test-kit.ts'
import type { ClientProgram, PlayedTurn, TwoDevices } from './play-home.ts'
import { environment, playTwoDevices, readTurn, runClient } from './play-home.ts'

/** When and how a gateway ends mid-turn. Another one is started in its place. */
export interface Restart {
  readonly frame: number
  readonly signal: 'SIGKILL' | 'SIGTERM'
}

export interface TemporalHome {
  /**
   * A turn in its own session, whose connections are cut at these frames: the next one goes to the other of two
   * gateways.
   */
  playCut(program: ClientProgram, cutAt: readonly number[]): Promise<PlayedTurn>
  /** A turn through a separate gateway, which ends. */
  playRestarted(program: ClientProgram, restart: Restart): Promise<PlayedTurn & { readonly hasEnded: boolean }>
  /** A turn with two devices. When a device's connection breaks, it reconnects to the other of two gateways. */
  playTwoDevices(programs: readonly [ClientProgram, ClientProgram]): Promise<TwoDevices>
  close(): Promise<void>
}

/** Milliseconds within which a gateway must end. */
const END_MS = 20_000
const GATEWAY = fileURLToPath(new URL('gateway.test-kit.ts', import.meta.url))

export async function openTemporalHome({ temporal, postgres, redis }: Services): Promise<TemporalHome> {
  const log = { info: () => {}, warn: () => {} }
  sendTemporalLogs(log)
  const effects = new Map<string, Record<string, number>>()
  const count = (name: string, session: string): void => {
    const own = effects.get(session) ?? {}
    effects.set(session, { ...own, [name]: (own[name] ?? 0) + 1 })
  }
  const agent = createHomeAgent({ timers: environment.timers, onEffect: count })
  const url = postgres.createDatabase()
  const place = { address: temporal.address, taskQueue: `home-${randomUUID()}`, redis: redis.url }
  const logStore = await openPostgresStore(url)
  const shared = { ...place, logStore, agent, log }
  const worker = await createTemporalWorker({ ...shared, workflowBundle: await bundleWorkflows(), drainMs: 500 })
  const running = worker.run()
  const host = await createTemporalHost(shared)
  const startGateway = async (port: number): Promise<StartedCommand> => {
    const words: GatewayWords = { ...place, postgres: url, port }
    const started = startCommand(process.execPath, {
      words: ['--conditions=@baton/source', '--no-warnings', GATEWAY, JSON.stringify(words)],
    })
    await started.untilLine((line) => line === 'listening')
    return started
  }
  const play = async (
    program: ClientProgram,
    init: {
      readonly ports: readonly number[]
      readonly cutAt: readonly number[]
      readonly onFrame?: (frame: number) => void
    },
  ): Promise<PlayedTurn> => {
    const session = randomUUID()
    const balancer = await startBalancer(init.ports)
    const target = `ws://127.0.0.1:${balancer.port}/ws`
    const proxy = await startCuttingProxy({ ...init, target, protocol: SUBPROTOCOL })
    const client = await runClient(program, { url: proxy.url, session, count: (name) => count(name, session) })
    await proxy.close()
    await balancer.close()
    const view = await host.session(session)
    const past = await readTurn(view.events({ from: 'start' }))
    return { ...client, past, effects: effects.get(session) ?? {}, frames: proxy.frames(), cuts: proxy.cuts() }
  }
  const ports = [await findFreePort(), await findFreePort()]
  const gateways = await Promise.all(ports.map(startGateway))
  return {
    playTwoDevices: async (programs) => {
      const session = randomUUID()
      const balancer = await startBalancer(ports)
      const target = `ws://127.0.0.1:${balancer.port}/ws`
      const told = await playTwoDevices(programs, { target, session, count: (name) => count(name, session) })
      await balancer.close()
      const past = await readTurn((await host.session(session)).events({ from: 'start' }))
      return { ...told, past, effects: effects.get(session) ?? {} }
    },
    playCut: (program, cutAt) => play(program, { ports, cutAt }),
    playRestarted: async (program, { frame, signal }) => {
      const own = await findFreePort()
      const first = await startGateway(own)
      let next: Promise<StartedCommand> | undefined
      const onFrame = (at: number): void => {
        if (at !== frame) return
        first.kill(signal)
        next = untilEnded(first).then(() => startGateway(own))
        next.catch(() => {}) // awaited below
      }
      const played = await play(program, { ports: [own], cutAt: [], onFrame })
      await end((await next) ?? first)
      return { ...played, hasEnded: next !== undefined }
    },
    close: async () => {
      await Promise.all(gateways.map(end))
      await host.stop()
      worker.shutdown()
      await running
      await logStore.close()
    },
  }
}

/** @throws Error with its output, if it has not ended in time */
async function untilEnded(gateway: StartedCommand): Promise<void> {
  const late = setTimeout(END_MS, 'late', { ref: false })
  if ((await Promise.race([gateway.ended, late])) !== 'late') return
  gateway.kill('SIGKILL')
  throw new Error(`a gateway did not end in ${END_MS} ms; it said ${gateway.errors()}`)
}

async function end(gateway: StartedCommand): Promise<void> {
  gateway.kill('SIGKILL')
  await gateway.ended
}
