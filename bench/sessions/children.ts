// Compares a turn that asks eight other agents at once (`delegate`) with eight sessions that do the same work, with and
// without a caller's turn of eight ordinary tools; and that turn with the same one of an agent that could ask others. Each agent
// below calls one tool and answers.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent, Model, Session, Store } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import { createHost, createMemoryStore, openSqliteStore } from '@baton/host'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'

const AT_ONCE = 8
const WARM_TURNS = 60
const TURNS = 30
const ANSWER = 'The quick brown fox jumps over the lazy dog. '.repeat(10)
const TASK = { type: 'object', properties: { task: { type: 'string' } } } as const

/** Calls a tool this many times at once, and answers when it has read the results. */
function createCaller(name: string, count: number): Model {
  // A note would ask about equal calls.
  const inputs = Array.from({ length: count }, (_, at) => JSON.stringify({ task: `Look at ${at}.` }))
  const calls = inputs.map((given) => ({ type: 'call', name, arguments: given }) as const)
  const run: Model['run'] = async ({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? { parts: [{ type: 'text', text: ANSWER }], finish: 'end', usage: {}, model: 'caller' }
      : { parts: calls, finish: 'tool-calls', usage: {}, model: 'caller' }
  return { id: 'bench/caller', provider: 'bench', capabilities: { tools: 'native', images: false }, run }
}

const look = tool({ name: 'look', description: 'looks', input: TASK, effect: 'pure', execute: () => 'seen' })
const createAgent = (name: string, model: Model, tools: readonly (typeof look)[]) =>
  defineAgent({ name, model, tools, window: { exchanges: 1, summarise: false } })

const WORKER = createAgent('worker', createCaller('look', 1), [look])
const ask = delegate({ agent: WORKER as Agent, description: 'Looks' })
const ASKING = defineAgent({
  name: 'asking',
  model: createCaller('worker', AT_ONCE),
  tools: [ask],
  window: { exchanges: 1, summarise: false },
})
const LOOKING = createAgent('looking', createCaller('look', AT_ONCE), [look])
const ABLE = defineAgent({
  name: 'able',
  model: createCaller('look', AT_ONCE),
  tools: [look, ask],
  window: { exchanges: 1, summarise: false },
})

/** Name of the row that a row is compared with. */
const BASE = { sessions: 'eight sessions', tools: 'a turn with eight tools' } as const

interface Way {
  readonly name: string
  readonly base: keyof typeof BASE
  turn(): Promise<void>
}

function createWays(store: Store): { readonly ways: readonly Way[]; readonly stop: () => Promise<void> } {
  const host = createHost({ store, agents: [ASKING, WORKER, LOOKING, ABLE], lingerMs: 0 })
  // Like a child, a session is new for each task, and closed after it.
  const work = async (): Promise<void> => {
    const session = await host.session(undefined, { agent: WORKER })
    await session.send('Look.').answer
    await session.close()
  }
  const sessions = async (): Promise<void> => void (await Promise.all(Array.from({ length: AT_ONCE }, work)))
  const callers = new Map<Agent, Promise<Session>>()
  const turnOf = async (agent: Agent): Promise<void> => {
    const opened = callers.get(agent) ?? host.session(undefined, { agent })
    callers.set(agent, opened)
    await (await opened).send('Go.').answer
  }
  const ways = [
    { name: BASE.sessions, base: 'sessions', turn: sessions },
    {
      name: 'eight sessions, and a turn with eight tools',
      base: 'sessions',
      turn: async () => {
        await sessions()
        await turnOf(LOOKING as Agent)
      },
    },
    { name: 'a turn with eight children', base: 'sessions', turn: () => turnOf(ASKING as Agent) },
    { name: BASE.tools, base: 'tools', turn: () => turnOf(LOOKING as Agent) },
    { name: 'the same, of an agent that could ask another', base: 'tools', turn: () => turnOf(ABLE as Agent) },
  ] as const
  return { ways, stop: host.stop }
}

/** Milliseconds of processor time for eight tasks; the store's thread included. */
export async function measureChildren(_origin: string, rounds: number): Promise<readonly Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  const sqlite = await openSqliteStore(join(folder, 'children.db'))
  const stores = [
    { name: 'memory', store: createMemoryStore() },
    { name: 'SQLite', store: sqlite },
  ]
  const all: Measured[] = []
  try {
    for (const { name: where, store } of stores) {
      const { ways, stop } = createWays(store)
      const values = new Map<string, number[]>(ways.map(({ name }) => [`${name}, ${where}`, []]))
      for (const { turn } of ways) for (let warm = 0; warm < WARM_TURNS; warm++) await turn()
      for (let round = 0; round < rounds; round++)
        for (const { name, turn } of ways) {
          const start = process.cpuUsage()
          for (let done = 0; done < TURNS; done++) await turn()
          const { user, system } = process.cpuUsage(start)
          values.get(`${name}, ${where}`)?.push((user + system) / 1000 / TURNS)
        }
      await stop()
      for (const base of ['sessions', 'tools'] as const) {
        const names = new Set(ways.filter((way) => way.base === base).map(({ name }) => `${name}, ${where}`))
        const chosen = new Map([...values].filter(([name]) => names.has(name)))
        all.push(...compared(chosen, `${BASE[base]}, ${where}`))
      }
    }
    return all
  } finally {
    await sqlite.close()
    await rm(folder, { recursive: true })
  }
}
