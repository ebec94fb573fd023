// A program that prints the bytes a host retains, as JSON: for each open or lingering session with one exchange, for each
// further exchange of an open session, and for each delegated call that has ended. Runs with --expose-gc; its argument is the path of a SQLite file, or
// `memory`.
import type { Model } from '@baton/core'
import type { Session } from '@baton/host'
import { createHost, createMemoryStore, defineAgent, delegate, openSqliteStore } from '@baton/host'

export interface Retained {
  readonly open: number
  readonly lingering: number
  readonly exchange: number
  readonly child: number
}

const SESSIONS = 300
const EXCHANGES = 500
const CHILDREN = 1000
/** More than their caller's window and remembered input ids hold. */
const FIRST_CHILDREN = 300
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
const helper = defineAgent({ name: 'helper', model: TALKER })
/** Asks the other agent once, and repeats its answer. */
const ASKING: Model = {
  ...TALKER,
  run: async (request, ...given) => {
    if (request.messages.at(-1)?.role === 'tool') return await TALKER.run(request, ...given)
    const task = JSON.stringify({ task: `Task ${(answers += 1)}.` })
    const parts = [{ type: 'call', name: 'helper', arguments: task }] as const
    return { parts, finish: 'tool-calls', usage: {}, model: 'talker' }
  },
}
const asking = defineAgent({
  name: 'asking',
  model: ASKING,
  tools: [delegate({ agent: helper, description: 'Helps' })],
  window: { exchanges: 20 },
})
const host = createHost({ store, agents: [asking], agent, lingerMs: 3_600_000 })

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
const caller = await host.session('caller', { agent: asking })
for (let child = 0; child < FIRST_CHILDREN; child++) await caller.send('Ask.').answer
const withoutChildren = await measure()
for (let child = 0; child < CHILDREN; child++) await caller.send('Ask.').answer
const withChildren = await measure()
const retained: Retained = {
  open: (whileOpen - atFirst) / SESSIONS,
  lingering: (whileLingering - atFirst) / SESSIONS,
  exchange: (after - before) / EXCHANGES,
  child: (withChildren - withoutChildren) / CHILDREN,
}
process.stdout.write(JSON.stringify(retained))
await host.stop()
await store.close()
