// Trees of sessions whose process dies at any write: a call that another agent does settles once, its tools run once, and what
// a person decided counts.
import type { Agent, Session, Store } from '@baton/core'
import { BatonError, defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createHost } from './create-host.ts'
import type { ManualTime } from './test-world.test-kit.ts'
import { createManualTime, never, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

const empty = { type: 'object', properties: {} } as const

interface World {
  readonly disk: ReturnType<typeof createMemoryStore>
  readonly time: ManualTime
  /** Starts of the tool `pay` in the world. */
  readonly paid: string[]
}

interface Death {
  /** Number of the append at which the process dies. */
  readonly at: number
  readonly when: 'before' | 'after'
}

/** A store whose process dies at one of its writes: the store answers nothing after that. */
function createDyingStore(disk: Store, { at, when }: Death): { readonly store: Store; readonly isDead: () => boolean } {
  let appends = 0
  let isDead = false
  const guard =
    <Given extends readonly unknown[], Value>(act: (...given: Given) => Promise<Value>) =>
    async (...given: Given): Promise<Value> =>
      isDead ? await never() : await act(...given)
  const append: Store['append'] = guard(async (...given) => {
    appends += 1
    if (appends !== at) return await disk.append(...given)
    if (when === 'after') await disk.append(...given)
    isDead = true
    return await never()
  })
  const store: Store = {
    ...disk,
    append,
    acquire: guard(disk.acquire.bind(disk)),
    release: guard(disk.release.bind(disk)),
    renew: guard(disk.renew.bind(disk)),
    blobs: { ...disk.blobs, put: guard(disk.blobs.put.bind(disk.blobs)) },
  }
  return { store, isDead: () => isDead }
}

/** boss → clerk → payer, whose tool needs an approval and acts once. */
function createAgents({ paid }: World, levels: number) {
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: empty,
    effect: 'once',
    approval: true,
    execute: (_, { idempotencyKey }) => {
      paid.push(idempotencyKey)
      return 'paid'
    },
  })
  const payer = defineAgent({
    name: 'payer',
    model: createScriptedModel({ steps: answering([{ name: 'pay', arguments: {} }], 'It is paid.') }),
    tools: [pay],
  })
  let agent: Agent = payer
  for (let level = 2; level < levels; level += 1) agent = caller(`clerk${level}`, agent)
  return caller('boss', agent)
}

function caller(name: string, below: Agent) {
  const calls = [{ name: below.name, arguments: { task: `Pay the bill for ${name}.` } }]
  return defineAgent({
    name,
    model: createScriptedModel({ steps: answering(calls, `${name} is done.`) }),
    tools: [delegate({ agent: below, description: 'Pays' })],
  })
}

/** A model that calls its tool, and answers with its result. It keeps nothing, as after a restart. */
function answering(calls: readonly { readonly name: string; readonly arguments: object }[], text: string) {
  return ({
    messages,
  }: {
    readonly messages: readonly { readonly role: string; readonly parts: readonly object[] }[]
  }) => {
    const last = messages.at(-1)
    return last?.role === 'tool' ? { text: `${text} ${JSON.stringify(last.parts)}` } : { calls }
  }
}

/** Approves what waits until the turn has ended. */
async function approveAll(session: Session, isOver: () => boolean, time: ManualTime): Promise<void> {
  while (!isOver()) {
    for (const { approvalId } of await session.approvals())
      await session.decide({ approvalId, decision: 'approve' }).catch(() => {})
    await time.settle()
  }
}

async function run(world: World, levels: number, death: Death | undefined): Promise<{ readonly died: boolean }> {
  const { disk, time } = world
  const dying = death && createDyingStore(disk, death)
  const open = (store: Store) =>
    createHost({ environment: time.environment, store, agent: createAgents(world, levels), lingerMs: 0 })
  const first = open(dying?.store ?? disk)
  const isOver = { first: false, second: false }
  const begun = await Promise.race([
    (async () => {
      const session = await first.session('s')
      const answer = session.send('Pay it.', { inputId: 'm1' }).answer
      const deciding = approveAll(session, () => isOver.first || dying?.isDead() === true, time)
      await answer
      isOver.first = true
      await deciding
      return 'whole' as const
    })().catch(() => 'dead' as const),
    (async () => {
      while (dying?.isDead() !== true) {
        if (isOver.first) return 'whole' as const
        await time.settle()
      }
      await time.settle()
      return 'dead' as const
    })(),
  ])
  if (begun === 'whole') {
    await first.stop()
    return { died: false }
  }
  disk.expireLeases()
  const second = open(disk)
  const session = await second.session('s')
  const turn = session.send('Pay it.', { inputId: 'm1' })
  const deciding = approveAll(session, () => isOver.second, time)
  await time.until(turn.answer)
  isOver.second = true
  await deciding
  await second.stop()
  return { died: true }
}

/** Facts of each log of the tree, in its order. */
async function readTree(disk: Store): Promise<readonly (readonly string[])[]> {
  const names = ['s']
  for await (const { session } of disk.children('s')) names.push(session)
  return await Promise.all(
    names.map(async (name) => {
      const facts: string[] = []
      for await (const record of disk.read(name, 0)) facts.push(...record.facts.map(({ type }) => type))
      return facts
    }),
  )
}

const count = (facts: readonly string[] | undefined, type: string): number =>
  facts?.filter((one) => one === type).length ?? 0

/** Faults that no death of the process may cause. */
function findFaults(world: World, levels: number, [root, ...below]: readonly (readonly string[])[]): readonly string[] {
  const checks: readonly (readonly [string, boolean])[] = [
    ['the tool ran twice', world.paid.length <= 1],
    [`there are ${below.length} children`, below.length === levels - 1],
    ['the turn did not end once', count(root, 'turn-finished') === 1],
    ['the call did not begin once', count(root, 'child-begun') === 1],
    ['the call did not end once', count(root, 'child-closed') === 1],
    ['a child did not begin once', below.every((facts) => count(facts, 'child-opened') === 1)],
    ['a child did not end once', below.every((facts) => count(facts, 'turn-finished') === 1)],
  ]
  return checks.flatMap(([fault, isRight]) => (isRight ? [] : fault))
}

test.each([2, 3])('%d levels: a process dies before and after each of its writes', async (levels) => {
  const faults: string[] = []
  const lived: number[] = []
  let deaths = 0
  for (const when of ['before', 'after'] as const)
    for (let at = 1; ; at += 1) {
      const world: World = { disk: createMemoryStore(), time: createManualTime(), paid: [] }
      const { died } = await run(world, levels, { at, when })
      const found = findFaults(world, levels, await readTree(world.disk))
      faults.push(...found.map((fault) => `death ${when} append ${at}: ${fault}`))
      if (!died) {
        lived.push(world.paid.length)
        break
      }
      deaths += 1
    }
  expect(faults).toEqual([])
  expect(lived, 'payments of the runs that nothing interrupted').toEqual([1, 1])
  expect(deaths).toBeGreaterThan(10)
})

/** Fails this many appends and acquisitions of the sessions that match, from the opening of the first child on. */
function createFailingStore(disk: Store, left: { count: number }, isHit: (session: string) => boolean): Store {
  let isArmed = false
  const fail = (session: string): void => {
    isArmed ||= session !== 's'
    if (!isArmed || !isHit(session) || left.count === 0) return
    left.count -= 1
    throw new Error('the disk is full')
  }
  return {
    ...disk,
    append: async (session, ...given) => {
      fail(session)
      return await disk.append(session, ...given)
    },
    acquire: async (session, ...given) => {
      fail(session)
      return await disk.acquire(session, ...given)
    },
  }
}

test.each([
  ['of the child', (session: string) => session !== 's', 20],
  ['of its caller', (session: string) => session === 's', 4],
  ['of both', () => true, 6],
])(
  'a store that fails for a while with the log %s: the call is followed again, and nothing happens twice',
  async (_, isHit, times) => {
    const world: World = { disk: createMemoryStore(), time: createManualTime(), paid: [] }
    const left = { count: times }
    const store = createFailingStore(world.disk, left, isHit)
    const host = createHost({ environment: world.time.environment, store, agent: createAgents(world, 2) })
    const session = await host.session('s')
    const isOver = { now: false }
    const turn = session.send('Pay it.', { inputId: 'm1' })
    turn.answer.catch(() => {})
    const passing = (async () => {
      while (!isOver.now) {
        for (const { approvalId } of await session.approvals().catch(() => []))
          await session.decide({ approvalId, decision: 'approve' }).catch(() => {})
        await world.time.pass(500)
      }
    })()
    await expect.poll(async () => (await listEnds(world.disk)).length, { interval: 1 }).toBe(1)
    isOver.now = true
    await passing
    await host.stop()
    const [root, ...below] = await readTree(world.disk)
    expect(left.count).toBe(0)
    expect(world.paid.length).toBeLessThanOrEqual(1)
    expect(below).toHaveLength(1)
    expect([count(root, 'child-begun'), count(root, 'child-closed'), count(root, 'turn-finished')]).toEqual([1, 1, 1])
  },
)

/** Ends of the root's turn. */
async function listEnds(disk: Store): Promise<readonly string[]> {
  const [root = []] = await readTree(disk)
  return root.filter((type) => type === 'turn-finished')
}

/** Appends in a row after whose failure a session is reopened. */
const FAILED_APPENDS = 6

test('a session that is reopened while it keeps a long answer of its child reads that answer', async () => {
  const time = createManualTime()
  const disk = createMemoryStore()
  const gate = Promise.withResolvers<void>()
  const state = { failures: 0, keeps: 0 }
  const store: Store = {
    ...disk,
    append: (...given) => {
      if (given[0] !== 's' || state.failures === 0) return disk.append(...given)
      state.failures -= 1
      return Promise.reject(new BatonError({ code: 'store_failed', message: 'the disk failed' }))
    },
    blobs: {
      ...disk.blobs,
      put: async (...given) => {
        state.keeps += 1
        await gate.promise
        await disk.blobs.put(...given)
      },
    },
  }
  const long = 'x'.repeat(20_000)
  const helper = defineAgent({ name: 'helper', model: createScriptedModel({ steps: [{ text: long }] }) })
  const model = createScriptedModel({
    steps: [{ calls: [{ name: 'helper', arguments: { task: 'Help.' } }] }, { text: 'Done.' }],
  })
  const boss = defineAgent({ name: 'boss', model, tools: [delegate({ agent: helper, description: 'Helps' })] })
  const host = createHost({ environment: time.environment, store, agent: boss })
  const session = await host.session('s')
  session.send('Go.').answer.catch(() => {})
  while (state.keeps === 0) await time.pass(100)
  state.failures = FAILED_APPENDS
  await expect(time.until(session.describe({ title: 'lost' }))).rejects.toMatchObject({ code: 'store_failed' })
  gate.resolve()
  await time.pass(10_000)
  expect((await time.until(session.messages())).messages.at(-1)).toMatchObject({ stop: 'end' })
  await host.stop()
})
