// A gateway of the load test, or a local host over the same database: its sessions speak at staggered times, and it
// reports how long they waited.
import type { Host, Session } from '@baton/core'
import { createHost } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalHost } from '@baton/temporal'
import { setTimeout as wait } from 'node:timers/promises'
import { createLoadAgent } from './load-agent.ts'
import type { GatewayLoad, GatewayReport } from './load-process.ts'
import { readWord } from './load-process.ts'

const load = readWord<GatewayLoad>()
const store = await openPostgresStore(load.postgres, { connections: 10 })
const agent = createLoadAgent()
const host: Host =
  load.kind === 'local'
    ? createHost({ agent, store })
    : await createTemporalHost({
        address: load.address,
        taskQueue: load.taskQueue,
        redis: load.redis,
        logStore: store,
        agent,
      })
const sessions = await openSessions(load.sessions)
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
const report: { firstMs: number[]; wholeMs: number[]; errors: string[] } = { firstMs: [], wholeMs: [], errors: [] }
const startMs = performance.now()
await Promise.all(sessions.map((session, index) => talk(session, ((index + load.offset) / load.of) * load.paceMs)))
const told: GatewayReport = { ...report, tookMs: performance.now() - startMs }
process.stdout.write(`${JSON.stringify(told)}\n`)
await host.stop()
process.exit(0)

/** Opens a few sessions at a time; each of them speaks once before the measurement. */
async function openSessions(names: readonly string[]): Promise<readonly Session[]> {
  const opened: Session[] = []
  const left = [...names]
  const openSome = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const session = await host.session(name)
      await session.send('begin').answer
      opened.push(session)
    }
  }
  await Promise.all(Array.from({ length: 5 }, openSome))
  return opened
}

/**
 * Each session speaks on its own schedule: a turn that takes longer than the pace delays only that session's next one.
 */
async function talk(session: Session, offsetMs: number): Promise<void> {
  for (let turn = 0; turn < load.turns; turn++) {
    await wait(Math.max(0, startMs + offsetMs + turn * load.paceMs - performance.now()))
    const sentMs = performance.now()
    let firstMs: number | undefined
    try {
      for await (const event of session.send(`question ${turn}`))
        if (event.type === 'text') firstMs ??= performance.now() - sentMs
      report.wholeMs.push(performance.now() - sentMs)
      report.firstMs.push(firstMs ?? performance.now() - sentMs)
    } catch (cause) {
      report.errors.push(String(cause).slice(0, 200))
    }
  }
}
