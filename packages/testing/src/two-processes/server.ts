// One of several real servers over one PostgreSQL store, for tests that kill them. Its wall clock may be wrong, and its
// arguments name the store, its port and its effects file.
import { createHost, createNodeEnvironment } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import { createWebSocketFront } from '@baton/server/websocket'
import { appendFileSync } from 'node:fs'
import { createHomeAgent, createHomeTree } from '../home-clients/home-agent.ts'
import { killingAt } from '../kill-loop/killing-store.ts'
import { createPlainAgent } from '../kill-loop/plain-agent.ts'
import type { KillPlan } from '../kill-loop/plan.ts'

export interface PeerServerWords {
  readonly store: string
  readonly port: number
  readonly effectsFile: string
  /** Its wall clock is ahead by this many milliseconds. */
  readonly aheadMs: number
  readonly leaseMs: number
  /** The agent of version 2 clients, whose effects are lines of tool and session; otherwise the plain one. */
  readonly kind?: 'home' | 'home-tree'
  /** When it kills itself; never if absent. */
  readonly plan?: KillPlan
}

/** Line printed for each connection passed on to its peer. */
const PASSED_ON = 'a connection was passed on'

/** The test apps send without a pause. */
const BUSY = {
  addressFramesPerMinute: 1e6,
  addressSessionsPerMinute: 1e6,
  addressBytesPerMinute: 1e9,
  sessionFramesPerMinute: 1e6,
  sessionTranscriptsPerMinute: 1e6,
}

async function serve(words: PeerServerWords): Promise<void> {
  const { store: url, port, effectsFile, aheadMs, leaseMs, kind, plan } = words
  const real = createNodeEnvironment({ post: () => Promise.reject(new Error('this server needs no network')) })
  const environment = { ...real, clock: { ...real.clock, nowMs: () => Date.now() + aheadMs } }
  const peers = { address: `ws://127.0.0.1:${port}`, secret: 'a secret of the peers'.replaceAll(' ', '-') }
  const store = await openPostgresStore(url, { leaseMs })
  const onEffect = (...effect: readonly string[]): void =>
    appendFileSync(effectsFile, `${effect.join(' ')}\n`, { flush: true })
  const createHome = kind === 'home-tree' ? createHomeTree : createHomeAgent
  const agent = kind ? createHome({ timers: environment.timers, onEffect }) : createPlainAgent(effectsFile)
  const log = {
    info: (message: string) => message.startsWith(PASSED_ON) && say('output', { event: PASSED_ON }),
    warn: (message: string, data?: object) => say('error', { message, ...data }),
  }
  const sessions = plan ? killingAt(store, plan) : store
  const host = createHost({ environment, agent, store: sessions, address: peers.address, snapshotRecords: 8, log })
  const front = createWebSocketFront(host, {
    ...environment,
    log,
    port,
    peers,
    limits: BUSY,
  })
  await front.listen()
  await host.recover({ everyMs: leaseMs / 2 })
  say('output', { event: 'listening' })
  process.once('SIGTERM', () => {
    void front
      .drain({ withinMs: 10_000 })
      .then(() => host.stop({ drainMs: 10_000 }))
      .then(() => front.close())
      .then(() => store.close())
  })
}

function say(stream: 'output' | 'error', line: object): void {
  const to = stream === 'output' ? process.stdout : process.stderr
  to.write(`${JSON.stringify(line)}\n`)
}

await serve(JSON.parse(process.argv[2] ?? '') as PeerServerWords)
