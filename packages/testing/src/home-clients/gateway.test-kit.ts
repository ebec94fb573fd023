// A gateway over Temporal with a WebSocket front, as a separate process, for tests that kill it.
import { createNodeEnvironment } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import { createWebSocketFront } from '@baton/server/websocket'
import { createTemporalHost } from '@baton/temporal'
import { createHomeAgent } from './home-agent.ts'
import { MANY_FRAMES } from './play-home.ts'

export interface GatewayWords {
  readonly address: string
  readonly taskQueue: string
  readonly postgres: string
  readonly redis: string
  readonly port: number
}

const { address, taskQueue, postgres, redis, port } = JSON.parse(process.argv[2] ?? '') as GatewayWords // from the test
const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
const log = {
  info: () => {},
  warn: (message: string, data?: object) => process.stderr.write(`${JSON.stringify({ message, ...data })}\n`),
}
const logStore = await openPostgresStore(postgres)
// Its tools run in the worker.
const agent = createHomeAgent({ timers: environment.timers, onEffect: () => {} })
const host = await createTemporalHost({ address, taskQueue, logStore, redis, agent, log })
const front = createWebSocketFront(host, { ...environment, log, port, limits: MANY_FRAMES })
await front.listen()
process.stdout.write('listening\n')
process.once('SIGTERM', () => {
  void front
    .drain({ withinMs: 5000 })
    .then(() => host.stop())
    .then(() => front.close())
    .then(() => logStore.close())
    .then(() => process.exit(0))
})
