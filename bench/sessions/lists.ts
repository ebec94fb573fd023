// Measures a page of `host.sessions` and of `host.approvals` over 100, 1,000 and 10,000 sessions, half of which
// belong to one person and half of which wait for a manager, so that each page is full: in a host that has listed before, and
// as the first list of a new one. BATON_BENCH_POSTGRES names an empty database; its rows are left out otherwise.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Model, Store } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { LocalHost } from '@baton/host'
import { createHost, openSqliteStore } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'

const COUNTS = [100, 1000, 10_000] as const
/** Sessions made at once. */
const AT_ONCE = 50
const QUERIES = 40

const pay = tool({
  name: 'pay',
  description: 'pays',
  input: { type: 'object', properties: { amount: { type: 'number' } } },
  approval: true,
  deciders: { roles: ['manager'] },
  execute: () => 'paid',
})
const payer: Model = {
  id: 'bench/payer',
  provider: 'bench',
  capabilities: { tools: 'native', images: false },
  run: async () => ({
    parts: [{ type: 'call', name: 'pay', arguments: '{"amount":90}' }],
    finish: 'tool-calls',
    usage: {},
    model: 'payer',
  }),
}
const ANN = { id: 'ann' }
const AGENT = defineAgent({ name: 'shop', model: payer, tools: [pay], limits: { approvalMs: 86_400_000 } })

const QUERIES_BY_NAME: Readonly<Record<string, (host: LocalHost) => Promise<unknown>>> = {
  'a principal’s': (host) => host.sessions({ principal: ANN }),
  'waiting ones': (host) => host.sessions({ activity: 'waiting' }),
  'a manager’s inbox': (host) => host.approvals({ decider: { id: 'mia', roles: ['manager'] } }),
}

interface Place {
  readonly name: string
  open(count: number): Promise<Store>
}

/** Milliseconds of processor time a page; the store's thread included. */
export async function measureLists(_origin: string, rounds: number): Promise<readonly Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  const url = process.env['BATON_BENCH_POSTGRES'] ?? ''
  const places: readonly Place[] = [
    { name: 'SQLite', open: (count) => openSqliteStore(join(folder, `lists-${count}.db`)) },
    ...(url === ''
      ? []
      : [{ name: 'PostgreSQL', open: (count: number) => openPostgresStore(url, { schema: `baton_lists_${count}` }) }]),
  ]
  const all: Measured[] = []
  try {
    for (const place of places) all.push(...(await measurePlace(place, rounds)))
    return all
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function measurePlace({ name: where, open }: Place, rounds: number): Promise<readonly Measured[]> {
  for (const count of COUNTS) {
    const store = await open(count)
    await fill(store, count)
    await store.close()
  }
  const values = new Map<string, number[]>()
  const note = (name: string, count: number, ms: number): void => {
    const row = `${name}, ${count.toLocaleString('en')} sessions, ${where}`
    values.set(row, [...(values.get(row) ?? []), ms])
  }
  for (let round = 0; round < rounds; round++)
    for (const count of COUNTS) {
      const store = await open(count)
      const host = createHost({ agent: AGENT, store })
      note('the first of a new host', count, await time(1, () => host.sessions({ principal: ANN })))
      for (const [name, query] of Object.entries(QUERIES_BY_NAME))
        note(name, count, await time(QUERIES, () => query(host)))
      await host.stop()
      await store.close()
    }
  const rows = [...new Set([...values.keys()].map((row) => row.slice(0, row.indexOf(','))))]
  return rows.flatMap((name) => {
    const own = new Map([...values].filter(([row]) => row.startsWith(`${name},`)))
    return compared(own, `${name}, 100 sessions, ${where}`)
  })
}

/** Makes the sessions once; a database may have them from an earlier run. */
async function fill(store: Store, count: number): Promise<void> {
  for await (const _ of store.list()) return
  const host = createHost({ agent: AGENT, store, lingerMs: 0 })
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, at) => {
        const index = from + at
        const session = await host.session(`s${index}`, { principal: index % 2 === 0 ? ANN : { id: `p${index}` } })
        if (index % 4 < 2) session.send('Pay the invoice.').answer.catch(() => {})
        await session.close()
      }),
    )
  await host.stop()
}

/** Milliseconds of processor time of one. */
async function time(count: number, act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < count; index++) await act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / count
}
