// Shared by the tests of trees: agents that keep nothing between their answers, as after a restart, and hosts that die and
// are started again over one store.
import type { Agent, AgentOptions, Session, Store, ToolContext } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import type { Fact, FactOf, FactType, SessionRecord } from '@baton/core/machine'
import type { ScriptedModel, ScriptedModelOptions, ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStore } from '../stores/memory-store.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import type { LocalHost } from './create-host.ts'
import { createHost } from './create-host.ts'
import type { HostOptions } from './host-options.ts'
import type { ManualTime } from './test-world.test-kit.ts'
import { createManualTime, never } from './test-world.test-kit.ts'

export const EMPTY = { type: 'object', properties: {} } as const

type Steps = ScriptedModelOptions['steps']
type Tools = NonNullable<AgentOptions['tools']>

export const calls = (name: string, args: object = {}): ScriptedStep => ({ calls: [{ name, arguments: args }] })
export const asks = (name: string, task = 'Do it.'): ScriptedStep => calls(name, { task })

/** A model that makes these calls once, and answers when it has their results. */
export function afterwards(first: ScriptedStep, text: string): Steps {
  return ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text } : first)
}

export const acting = (name: string, execute: (input: unknown, context: ToolContext) => unknown, more: object = {}) =>
  tool({ name, description: name, input: EMPTY, effect: 'once', execute: execute as () => string, ...more })

export interface Part {
  readonly steps: Steps
  readonly tools?: Tools
  readonly more?: Partial<AgentOptions>
}

export interface Tree {
  readonly agent: Agent
  readonly boss: ScriptedModel
  readonly helper: ScriptedModel
}

/** A boss with a helper. The boss asks it once, and then answers "Done.", unless it has other steps. */
export function createAgents(
  time: ManualTime,
  below: Part,
  above: Partial<Part> & { readonly rules?: object } = {},
): Tree {
  const { timers } = time.environment
  const helper = createScriptedModel({ steps: below.steps, timers })
  const { tools = [], more } = below
  const helping = defineAgent({ name: 'helper', model: helper, tools, ...more }) as Agent
  const boss = createScriptedModel({ steps: above.steps ?? afterwards(asks('helper'), 'Done.'), timers })
  const ask = delegate({ agent: helping, description: 'Helps', ...above.rules })
  const agent = defineAgent({ name: 'boss', model: boss, tools: [ask, ...(above.tools ?? [])], ...above.more }) as Agent
  return { agent, boss, helper }
}

/** A host that runs until its process dies: its store answers nothing after that, and its timers do not fire. */
export interface Process {
  readonly host: LocalHost
  readonly warnings: readonly string[]
  isDead(): boolean
  die(): void
}

/** Whether the process dies at this write, and on which side of it. */
export type Fate = (session: string, facts: readonly Fact[]) => 'before' | 'after' | undefined

export interface ProcessOptions extends Partial<HostOptions> {
  readonly agent: Agent
  readonly fate?: Fate
}

export function startProcess(time: ManualTime, disk: Store, { fate, ...options }: ProcessOptions): Process {
  let isDead = false
  const warnings: string[] = []
  const guard =
    <Given extends readonly unknown[], Value>(act: (...given: Given) => Promise<Value>) =>
    async (...given: Given): Promise<Value> => {
      if (isDead) return await never()
      const value = await act(...given)
      return isDead ? await never() : value
    }
  const append: Store['append'] = async (session, epoch, afterPos, records) => {
    if (isDead) return await never()
    const when = fate?.(
      session,
      records.flatMap(({ facts }) => facts),
    )
    if (when !== 'before') {
      const pos = await disk.append(session, epoch, afterPos, records)
      if (!when) return isDead ? await never() : pos
    }
    isDead = true
    return await never()
  }
  const store: Store = {
    ...disk,
    append,
    acquire: guard(disk.acquire.bind(disk)),
    release: guard(disk.release.bind(disk)),
    renew: guard(disk.renew.bind(disk)),
    blobs: { ...disk.blobs, put: guard(disk.blobs.put.bind(disk.blobs)) },
    snapshots: { ...disk.snapshots, put: guard(disk.snapshots.put.bind(disk.snapshots)) },
  }
  const { timers } = time.environment
  const start: typeof timers.start = (delayMs, callback) => timers.start(delayMs, () => !isDead && callback())
  const environment = { ...time.environment, timers: { start } }
  const log = {
    info: () => {},
    warn: (message: string, data?: unknown) => void warnings.push(`${message} ${JSON.stringify(data)}`),
  }
  const host = createHost({ environment, store, log, lingerMs: 0, ...options })
  return { host, warnings, isDead: () => isDead, die: () => void (isDead = true) }
}

/** A store that outlives the processes over it. */
export interface Disk {
  readonly store: Store
  /** Lets another process have what a dead one held. */
  free(): void
  /** Number of acts that the store has not answered. */
  pending(): number
}

/** Counts the acts of a store that works in a thread, so that time stands while it works. */
function createCounted(store: Store): { readonly store: Store; readonly pending: () => number } {
  let pending = 0
  const wait = async <Value>(act: Promise<Value>): Promise<Value> => {
    pending += 1
    try {
      return await act
    } finally {
      pending -= 1
    }
  }
  async function* waitForAll(rows: AsyncIterable<unknown>): AsyncGenerator<unknown, void> {
    yield* await wait(readAll(rows))
  }
  const count = <Acts extends object>(acts: Acts): Acts =>
    new Proxy(acts, {
      get: (_, name) => {
        const member: unknown = Reflect.get(acts, name)
        if (typeof member === 'object' && member !== null) return count(member)
        if (typeof member !== 'function') return member
        return (...given: unknown[]): unknown => {
          const result: unknown = Reflect.apply(member, acts, given)
          if (result instanceof Promise) return wait(result)
          return typeof result === 'object' && result !== null && Symbol.asyncIterator in result
            ? waitForAll(result as AsyncIterable<unknown>) // it has the method
            : result
        }
      },
    })
  return { store: count(store), pending: () => pending }
}

async function readAll(rows: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const all: unknown[] = []
  for await (const row of rows) all.push(row)
  return all
}

export function openMemory(): Disk {
  const store = createMemoryStore()
  return { store, free: () => store.expireLeases(), pending: () => 0 }
}

export const DISKS: readonly (readonly [string, (time: ManualTime) => Promise<Disk>])[] = [
  ['memory', async () => openMemory()],
  [
    'SQLite',
    async (time) => {
      const path = join(mkdtempSync(join(tmpdir(), 'baton-tree-')), 's.db')
      const counted = createCounted(await openSqliteStore(path, { leaseMs: 10_000, clock: time.environment.clock }))
      return { ...counted, free: () => time.setWall(60_000) }
    },
  ],
]

/** Turns the event loop until the session waits for people and timers. A store in a thread needs more turns than one in memory. */
export async function rest(time: ManualTime, turns = 30): Promise<void> {
  for (let left = turns; left > 0; left -= 1) await time.settle()
}

/** Lets time pass until `is` holds, in steps of 250 ms; it stands while the store works. */
export async function passUntil(
  time: ManualTime,
  is: () => Promise<boolean> | boolean,
  disk?: Pick<Disk, 'pending'>,
): Promise<void> {
  for (let left = 2400; left > 0; left -= 1) {
    for (let idle = 0; idle < 5; idle = disk && disk.pending() > 0 ? 0 : idle + 1) await time.settle()
    if (await is()) return
    await time.pass(250)
  }
  throw new Error('it did not happen within ten minutes')
}

/** Approves whatever is asked until the work has ended. */
export async function approveUntil<Value>(
  session: Session,
  work: Promise<Value>,
  { time, disk }: { readonly time: ManualTime; readonly disk?: Pick<Disk, 'pending'> },
): Promise<Value> {
  let isOver = false
  work.finally(() => (isOver = true)).catch(() => {})
  const isDone = async (): Promise<boolean> => {
    for (const { approvalId } of await session.approvals().catch(() => []))
      void session.decide({ approvalId, decision: 'approve' }).catch(() => {})
    return isOver
  }
  await passUntil(time, isDone, disk)
  return await work
}

export async function childrenOf(store: Store, root = 's'): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { session } of store.children(root)) names.push(session)
  return names
}

export async function recordsOf(store: Store, session: string): Promise<readonly SessionRecord[]> {
  const all: SessionRecord[] = []
  for await (const record of store.read(session, 0)) all.push(record)
  return all
}

export async function factsOf<Type extends FactType>(store: Store, session: string, type: Type) {
  const isAmong = (fact: Fact): fact is FactOf<Type> => fact.type === type
  return (await recordsOf(store, session)).flatMap(({ facts }) => facts).filter(isAmong)
}

/** Facts of this type in the log of the only child. */
export async function factsBelow<Type extends FactType>(store: Store, type: Type) {
  const [child = ''] = await childrenOf(store)
  return await factsOf(store, child, type)
}

/** Results that the model read last, as JSON. */
export function toldTo(model: ScriptedModel): string {
  const last = model.requests.at(-1)?.messages.at(-1)
  return JSON.stringify(last?.role === 'tool' ? last.parts.map(({ content }) => content) : last)
}

export type Time = ManualTime
export { createManualTime }
