// A program that prints the bytes a host retains, as JSON: for each open or lingering session with one exchange, and
// for each further exchange of an open session. Runs with --expose-gc; its argument is the path of a SQLite file, or
// `memory`.
import type { Model } from '@baton/core'
import type { Session } from '@baton/host'
import { createHost, createMemoryStore, defineAgent, openSqliteStore } from '@baton/host'

export interface Retained {
  readonly open: number
  readonly lingering: number
  readonly exchange: number
}

const SESSIONS = 300
const EXCHANGES = 500
/** More than the window and the remembered input ids hold, so that each further exchange replaces one. */
const FIRST = 600
const LOOKS = 5
const ANSWER_CHARS = 100

const path = process.argv.at(-1) ?? ''

let answers = 0
const TALKER: Model = {
  id: 'bench/talker',
  provider: 'bench',
  capabilities: { tools: 'native', images: false },
  run: async () => {
    const text = String((answers += 1)).padEnd(ANSWER_CHARS, 'x')
    return { parts: [{ type: 'text', text }], finish: 'end', usage: {}, model: 'talker' }
  },
}

const store = path === 'memory' ? createMemoryStore() : await openSqliteStore(path)
const agent = defineAgent({ name: 'bench', model: TALKER, window: { exchanges: 20 } })
const host = createHost({ store, agent, lingerMs: 3_600_000 })

/** Buffers of the store's thread are freed later, so the smallest of several measurements counts. */
async function measure(): Promise<number> {
  let least = Infinity
  for (let look = 0; look < LOOKS; look++) {
    await store.health?.()
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    least = Math.min(least, heapUsed + external)
  }
  return least
}

async function talk(name: string): Promise<Session> {
  const session = await host.session(name)
  await session.send('How are you?').answer
  return session
}

for (let warm = 0; warm < 20; warm++) await (await talk(`warm-${warm}`)).close()
const atFirst = await measure()
const open: Session[] = []
for (let index = 0; index < SESSIONS; index++) open.push(await talk(`s${index}`))
const whileOpen = await measure()
for (const session of open.splice(0)) await session.close()
const whileLingering = await measure()
const long = await talk('long')
for (let exchange = 1; exchange < FIRST; exchange++) await long.send('How are you?').answer
const before = await measure()
for (let exchange = 0; exchange < EXCHANGES; exchange++) await long.send('How are you?').answer
const after = await measure()
const retained: Retained = {
  open: (whileOpen - atFirst) / SESSIONS,
  lingering: (whileLingering - atFirst) / SESSIONS,
  exchange: (after - before) / EXCHANGES,
}
process.stdout.write(JSON.stringify(retained))
await host.stop()
await store.close()
