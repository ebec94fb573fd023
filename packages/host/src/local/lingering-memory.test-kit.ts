// A program that lets sessions linger over a SQLite file and prints the heap's bytes per session. It runs with --expose-gc; its arguments are the number of sessions, the messages of each, the UTF-16 units
// of each answer, and the store's path.
import { createHost, defineAgent, openSqliteStore } from '../index.ts'

const [sessions = 1, messages = 1, chars = 0] = process.argv.slice(-4, -1).map(Number)
const path = process.argv.at(-1) ?? ''

const MEASURES = 5

const agent = defineAgent({
  name: 'writer',
  model: {
    id: 'writer',
    provider: 'test',
    capabilities: { tools: 'native', images: false },
    async run(_request, sink) {
      const text = `${Math.random()}`.padEnd(chars, 'é€') // two bytes for each unit
      sink({ type: 'text-delta', text })
      return { parts: [{ type: 'text', text }], finish: 'end', usage: {}, model: 'writer' }
    },
  },
})

const store = await openSqliteStore(path)
const host = createHost({ agent, store, lingerMs: 3_600_000 })

async function talk(name: string): Promise<void> {
  for (let message = 0; message < messages; message++) {
    const session = await host.session(name)
    await session.send('Write').answer
    await session.close()
  }
}

/** Buffers of the store's thread are let go after a while, so the smallest of several measurements counts. */
async function measure(): Promise<number> {
  let least = Infinity
  for (let look = 0; look < MEASURES; look++) {
    await store.health()
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    least = Math.min(least, heapUsed + external)
  }
  return least
}

for (let warm = 0; warm < 20; warm++) await talk(`warm-${warm}`)
const before = await measure()
for (let session = 0; session < sessions; session++) await talk(`s${session}`)
const after = await measure()
process.stdout.write(JSON.stringify({ bytes: Math.round((after - before) / sessions) }))
await host.stop()
await store.close()
