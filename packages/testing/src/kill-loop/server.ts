// A real server that kills itself with SIGKILL at a chosen record, for the kill loop: real files, sockets and signals. Its
// model decides by what it is shown, so it answers the same in every life; its tools write their effects into a file.
import type { Message, Model, ModelAnswer, Store, Tool } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { createHost, createNodeEnvironment, openSqliteStore } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { KillPlan } from './plan.ts'

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
  const agent = defineAgent({ name: 'killed', model: createPlainModel(), tools: createTools(folder) })
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

/** The first answer asks for every tool at once, the second one says what came of them. */
function createPlainModel(): Model {
  return {
    id: 'plain',
    provider: 'plain',
    capabilities: { tools: 'native', images: false },
    run: async ({ messages, tools }, sink): Promise<ModelAnswer> => {
      const told = messages.at(-1)
      const said = told?.role === 'tool' ? `done: ${listOutcomes(told)}` : 'Let me see.'
      sink({ type: 'text-delta', text: said })
      const calls = told?.role === 'tool' ? [] : tools.filter(({ name }) => name !== 'result.read')
      return {
        parts: [
          { type: 'text', text: said },
          ...calls.map(({ name }) => ({ type: 'call' as const, name, arguments: '{}' })),
        ],
        finish: calls.length > 0 ? 'tool-calls' : 'end',
        usage: {},
        model: 'plain',
      }
    },
  }
}

function listOutcomes(message: Message): string {
  const results = message.parts.flatMap((part) => (part.type === 'result' ? [part] : []))
  return results.map(({ name, isError }) => `${name} ${isError ? 'failed' : 'ok'}`).join(', ')
}

const PAUSES_MS = { pure: 10, idempotent: 25, once: 40 } as const

function createTools(folder: string): readonly Tool[] {
  const effects = join(folder, EFFECTS_FILE)
  const server = (['pure', 'idempotent', 'once'] as const).map((effect) =>
    tool({
      name: `server.${effect}`,
      description: effect,
      input: { type: 'object' },
      effect,
      execute: async (_, { idempotencyKey }) => {
        // Results that come apart are records apart.
        await setTimeout(PAUSES_MS[effect])
        appendFileSync(effects, `server.${effect} ${idempotencyKey}\n`)
        return effect
      },
    }),
  )
  const client = (['pure', 'once'] as const).map((effect) =>
    tool({ name: `client.${effect}`, description: effect, input: { type: 'object' }, effect, timeoutMs: 5000 }),
  )
  return [...server, ...client]
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
