// A real server that kills itself with SIGKILL at a chosen record, for the kill loop: real files, sockets and signals.
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { createHost, createNodeEnvironment, openSqliteStore } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { KillPlan } from './plan.ts'
import { createPlainAgent } from './plain-agent.ts'

interface ServerWords {
  readonly folder: string
  readonly port: number
  readonly plan: KillPlan | undefined
}

/** Where the tools of the server write, one line for each effect: tool, key. */
export const EFFECTS_FILE = 'effects.txt'
export const STORE_FILE = 'sessions.db'

async function serve({ folder, port, plan }: ServerWords): Promise<void> {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('this server needs no network')) })
  const store = await openSqliteStore(join(folder, STORE_FILE))
  const agent = createPlainAgent(join(folder, EFFECTS_FILE))
  const host = createHost({ environment, agent, store: plan ? killingAt(store, plan) : store, snapshotRecords: 8 })
  const log = { info: () => {}, warn: (message: string, data?: object) => say('error', { message, ...data }) }
  const front = createWebSocketFront({ ...environment, host, log, port })
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

/** Dies around the append that holds the chosen record: what it holds is then lost, or stored and not known to anybody. */
function killingAt(store: Store, plan: KillPlan): Store {
  return {
    ...store,
    append: async (session, epoch, afterPos, records) => {
      const isIt = records.some((record) => fits(record, plan))
      if (isIt && plan.moment === 'before') die()
      const pos = await store.append(session, epoch, afterPos, records)
      if (isIt && plan.moment === 'after') die()
      // The host performs what this record decided, and dies before the next record.
      if (isIt && plan.moment === 'later') void setTimeout(plan.laterMs).then(die)
      return pos
    },
  }
}

function fits({ pos, input }: SessionRecord, { at }: KillPlan): boolean {
  return typeof at === 'number' ? pos === at : input.type === at
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal ends the thread before this loop does.
  for (;;);
}

const [folder = '', port = '0', plan] = process.argv.slice(2)
await serve({ folder, port: Number(port), plan: plan === undefined ? undefined : (JSON.parse(plan) as KillPlan) })
