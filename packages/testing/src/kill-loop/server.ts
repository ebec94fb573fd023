// A real server that kills itself with SIGKILL at a chosen record, for the kill loop: real files, sockets and signals.
import { createHost, createNodeEnvironment, openSqliteStore } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHomeAgent, createHomeTree } from '../home-clients/home-agent.ts'
import { killingAt } from './killing-store.ts'
import type { KillPlan } from './plan.ts'
import { createPlainAgent } from './plain-agent.ts'

interface ServerWords {
  readonly folder: string
  readonly port: number
  /** `home` uses the agent of version 2 clients, `home-tree` has it two levels below, anything else is the plain one. */
  readonly kind: string
  readonly plan: KillPlan | undefined
}

/** File to which the server's tools write one line per effect: tool, key. */
export const EFFECTS_FILE = 'effects.txt'
export const STORE_FILE = 'sessions.db'

async function serve({ folder, port, kind, plan }: ServerWords): Promise<void> {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('this server needs no network')) })
  const store = await openSqliteStore(join(folder, STORE_FILE))
  const effectsFile = join(folder, EFFECTS_FILE)
  const { timers } = environment
  const onEffect = (name: string): void => appendFileSync(effectsFile, `${name}\n`, { flush: true })
  const createHome = kind === 'home-tree' ? createHomeTree : createHomeAgent
  const agent = kind.startsWith('home') ? createHome({ timers, onEffect }) : createPlainAgent(effectsFile)
  const host = createHost({ environment, agent, store: plan ? killingAt(store, plan) : store, snapshotRecords: 8 })
  const log = { info: () => {}, warn: (message: string, data?: object) => say('error', { message, ...data }) }
  const front = createWebSocketFront(host, { ...environment, log, port })
  const listening = await front.listen()
  await host.recover()
  say('output', { event: 'listening', ...listening })
  process.once('SIGTERM', () => {
    void front
      .drain({ withinMs: 5000 })
      .then(() => host.stop())
      .then(() => front.close())
      .then(() => store.close())
  })
}

function say(stream: 'output' | 'error', line: object): void {
  const to = stream === 'output' ? process.stdout : process.stderr
  to.write(`${JSON.stringify(line)}\n`)
}

const [folder = '', port = '0', kind = '', plan] = process.argv.slice(2)
await serve({ folder, port: Number(port), kind, plan: plan === undefined ? undefined : (JSON.parse(plan) as KillPlan) })
