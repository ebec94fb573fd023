// Measures a page of 50 messages of sessions with 100, 1,000 and 10,000 exchanges: the newest page of an open session, a
// page from its middle, and the first page after a restart, on both stores.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Model } from '@baton/core'
import { defineAgent } from '@baton/core'
import type { Store } from '@baton/host'
import { createHost, createMemoryStore, openSqliteStore } from '@baton/host'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'

const EXCHANGES = [100, 1000, 10_000] as const
const PAGES = 50
const SESSION = 'long'
const ANSWER = 'The quick brown fox jumps over the lazy dog. '.repeat(10)

const TALKER: Model = {
  id: 'bench/talker',
  provider: 'bench',
  capabilities: { tools: 'native', images: false },
  run: async () => ({ parts: [{ type: 'text', text: ANSWER }], finish: 'end', usage: {}, model: 'talker' }),
}

interface Long {
  readonly name: string
  readonly exchanges: number
  open(): Promise<Store>
}

/** Milliseconds a page; each row is compared with that of 100 exchanges of its store. */
export async function measurePages(_origin: string, rounds: number): Promise<readonly Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  const memory = EXCHANGES.map(() => createMemoryStore())
  const longs: readonly Long[] = EXCHANGES.flatMap((exchanges, index) => [
    { name: `SQLite, ${exchanges}`, exchanges, open: () => openSqliteStore(join(folder, `${exchanges}.db`)) },
    { name: `memory, ${exchanges}`, exchanges, open: async () => memory[index] ?? createMemoryStore() },
  ])
  const values = new Map<string, number[]>()
  const note = (name: string, ms: number): void => void values.set(name, [...(values.get(name) ?? []), ms])
  try {
    for (const { open, exchanges } of longs) await fill(open, exchanges)
    for (let round = 0; round < rounds; round++)
      for (const { name, open, exchanges } of longs) {
        const times = await readPages(open, exchanges)
        note(`newest: ${name}`, times.newestMs)
        note(`middle: ${name}`, times.middleMs)
        note(`after a restart: ${name}`, times.firstMs)
      }
    return compared(values, `newest: SQLite, ${EXCHANGES[0]}`)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function fill(open: Long['open'], exchanges: number): Promise<void> {
  const store = await open()
  const host = createHost({ store, agent: defineAgent({ name: 'bench', model: TALKER }) })
  const session = await host.session(SESSION)
  for (let index = 0; index < exchanges; index++)
    await session.send('What does the fox do?', { inputId: `m${index}` }).answer
  await session.messages({ limit: 1 })
  await host.stop()
  if (store.leaseMs !== Infinity) await store.close()
}

async function readPages(open: Long['open'], exchanges: number) {
  const store = await open()
  const host = createHost({ store, agent: defineAgent({ name: 'bench', model: TALKER }) })
  const session = await host.session(SESSION)
  const time = async (count: number, before?: string): Promise<number> => {
    const startMs = performance.now()
    for (let page = 0; page < count; page++) {
      const { messages } = await session.messages({ limit: 50, ...(before !== undefined && { before }) })
      if (messages.length !== 50) throw new Error(`a page has ${messages.length} messages instead of 50`)
    }
    return (performance.now() - startMs) / count
  }
  const firstMs = await time(1)
  const newestMs = await time(PAGES)
  const middleMs = await time(PAGES, `m${exchanges / 2}`)
  await host.stop()
  if (store.leaseMs !== Infinity) await store.close()
  return { firstMs, newestMs, middleMs }
}
