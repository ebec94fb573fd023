// A server that the test kills: a host over a SQLite file whose wall clock the test sets, and its HTTP front. Each line of
// its input is a command, and each is answered by a line.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment, openSqliteStore } from '@baton/host'
import { createHandler, createNodeListener } from '@baton/server/http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Numbered } from './killed-process.test-kit.ts'
import { serveCommands } from './killed-process.test-kit.ts'

export interface Command extends Numbered {
  readonly act: 'open' | 'remind' | 'step' | 'left' | 'stop'
  readonly session?: string
  readonly id?: string
  readonly dueMs?: number
  readonly aheadMs?: number
}

const OWNER = { id: 'ann' }
const [path = '', secret = '', ahead = '0'] = process.argv.slice(2)
let aheadMs = Number(ahead)

const platform = createNodeEnvironment()
const clock = {
  nowMs: () => platform.clock.nowMs() + aheadMs,
  monotonicMs: () => platform.clock.monotonicMs?.() ?? performance.now(),
}
const model = createScriptedModel({ steps: () => ({ text: 'noted' }) })
const agent = defineAgent({ name: 'outside', model, events: { 'order.paid': {} } })
const store = await openSqliteStore(path)
const host = createHost({ agent, store, environment: { ...platform, clock }, lingerMs: 0 })
const handler = createHandler(host, {
  authenticate: () => undefined,
  webhooks: { shop: { secret, principal: OWNER } },
  limits: { principalRequestsPerMinute: 1_000_000, addressRequestsPerMinute: 1_000_000 },
})
const server = createServer(createNodeListener(handler))
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
await host.recover()
serveCommands<Command>((server.address() as AddressInfo).port, perform)

async function perform({ act, session: name = '', id = '', dueMs = 0, ...more }: Command): Promise<unknown> {
  switch (act) {
    case 'open':
    case 'remind': {
      const session = await host.session(name, { principal: OWNER })
      if (act === 'remind') await session.at(dueMs, 'Look.', { id })
      await session.close()
      return true
    }
    case 'step':
      aheadMs = more.aheadMs ?? 0
      return true
    case 'left':
      return (await store.listDue()).length
    case 'stop':
      server.close()
      server.closeAllConnections()
      await host.stop({ drainMs: 20_000 })
      await store.close()
      process.stdin.destroy()
      return true
    default:
      return act satisfies never
  }
}
