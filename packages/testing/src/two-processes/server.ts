// One of several real servers over one PostgreSQL store, for tests that kill them: its wall clock may be wrong, and it is
// told by its words where the store, its port and the file of its effects are.
import { createHost, createNodeEnvironment } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import { createWebSocketFront } from '@baton/server/websocket'
import { createPlainAgent } from '../kill-loop/plain-agent.ts'

export interface PeerServerWords {
  readonly store: string
  readonly port: number
  readonly effectsFile: string
  /** Milliseconds by which its wall clock is ahead. */
  readonly aheadMs: number
  readonly leaseMs: number
}

/** The apps of the tests talk without a pause. */
const BUSY = {
  addressFramesPerMinute: 1e6,
  addressSessionsPerMinute: 1e6,
  addressBytesPerMinute: 1e9,
  sessionFramesPerMinute: 1e6,
  sessionTranscriptsPerMinute: 1e6,
}

async function serve({ store: url, port, effectsFile, aheadMs, leaseMs }: PeerServerWords): Promise<void> {
  const real = createNodeEnvironment({ post: () => Promise.reject(new Error('this server needs no network')) })
  const environment = { ...real, clock: { ...real.clock, nowMs: () => Date.now() + aheadMs } }
  const peers = { address: `ws://127.0.0.1:${port}`, secret: 'a secret of the peers'.replaceAll(' ', '-') }
  const store = await openPostgresStore(url, { leaseMs })
  const agent = createPlainAgent(effectsFile)
  const log = { info: () => {}, warn: (message: string, data?: object) => say('error', { message, ...data }) }
  const host = createHost({ environment, agent, store, address: peers.address, snapshotRecords: 8, log })
  const front = createWebSocketFront({
    ...environment,
    host,
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
