// A session and the sessions of its calls as workflows over a service that loses workers, terminates workflows, and delivers
// signals late, in another order, and twice: each call has one child, one task and one end, and what acts once acts once.
import type { Agent, AgentOptions } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import type { Fact, Input } from '@baton/core/machine'
import type { ScriptedModelOptions } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import { expect, test, vi } from 'vitest'
import type { Tuning } from '../contract.ts'
import type { PlayedFaults } from './played-service.test-kit.ts'
import { createPlayedWorld, createRandom } from './played-world.test-kit.ts'

vi.mock('@temporalio/workflow', async (load) => ({
  ...(await load<object>()),
  ...(await import('./played-service.test-kit.ts')).PLAYED_SDK,
}))

type Steps = ScriptedModelOptions['steps']
const SEEDS = chooseCount({ quick: 30, deep: 1000 })
/** Events between two tried ones. */
const STRIDE = chooseCount({ quick: 5, deep: 1 })
const EMPTY = { type: 'object', properties: {} } as const

/** A model that makes these calls, and answers when it has their results. It keeps nothing, as after a restart. */
function afterwards(calls: readonly { readonly name: string; readonly arguments: object }[], text: string): Steps {
  return ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text } : { calls })
}

function agentOf(name: string, steps: Steps, tools: NonNullable<AgentOptions['tools']> = []): Agent {
  return defineAgent({ name, model: createScriptedModel({ steps }), tools }) as Agent
}

const asks = (name: string) => ({ name, arguments: { task: `${name}: do it.` } })

/** boss → clerk → payer, and boss → reader. The payer's tool needs an approval and acts once. */
function createTree() {
  const paid: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'pays',
    input: EMPTY,
    effect: 'once',
    approval: true,
    execute: (_, { idempotencyKey }) => {
      paid.push(idempotencyKey)
      return 'paid'
    },
  })
  const payer = agentOf('payer', afterwards([{ name: 'pay', arguments: {} }], 'It is paid.'), [pay])
  const clerk = agentOf('clerk', afterwards([asks('payer')], 'The clerk is done.'), [
    delegate({ agent: payer, description: 'Pays' }),
  ])
  const reader = agentOf('reader', [{ text: 'It is read.' }, { text: 'It is read.' }, { text: 'It is read.' }])
  const boss = agentOf('boss', afterwards([asks('clerk'), asks('reader')], 'Done.'), [
    delegate({ agent: clerk, description: 'Orders' }),
    delegate({ agent: reader, description: 'Reads' }),
  ])
  return { boss, paid }
}

function createWorld(tuning: Tuning = {}) {
  const { boss, paid } = createTree()
  return { ...createPlayedWorld(boss, tuning), paid }
}

type World = ReturnType<typeof createWorld>

const count = (facts: readonly Fact[], type: Fact['type']): number => facts.filter((fact) => fact.type === type).length

const GO: Input = {
  type: 'user-input',
  inputId: 'go',
  parts: [{ type: 'text', text: 'Go.' }],
  asks: true,
  delivery: 'queue',
}

/** Sends the input, and approves what is asked, until the turn has ended and no workflow of a child is left. */
async function converse(world: World): Promise<void> {
  const { service, start, update, facts } = world
  const sent = new Set<string>()
  let isBusy = false
  const say = (key: string, input: Input): void => {
    if (sent.has(key) || isBusy) return
    isBusy = true
    start()
    update('s', [input]).then(
      () => {
        isBusy = false
        sent.add(key)
      },
      // The gateway tries again, with the next run.
      () => (isBusy = false),
    )
  }
  const isOver = async (): Promise<boolean> => {
    const said = await facts('s')
    if (count(said, 'turn-finished') > 0 && service.ids().every((id) => id === 's')) return true
    const isAccepted = count(said, 'input-accepted') > 0
    if (!isAccepted) sent.delete('go')
    say('go', GO)
    const decided = new Set(said.flatMap((fact) => (fact.type === 'approval-decided' ? [fact.approvalId] : [])))
    for (const fact of said) {
      if (fact.type !== 'request-relayed' || decided.has(fact.id)) continue
      const approval = { approvalId: fact.id, decision: 'approve', principal: 'ann' } as const
      say(`${fact.id} ${said.length}`, { type: 'approval', ...approval })
    }
    start()
    return false
  }
  await service.until(isOver, 24 * 3_600_000)
}

/** Faults that nothing may cause. */
async function findFaults({ paid, facts, children }: World): Promise<readonly string[]> {
  const root = await facts('s')
  const below = await Promise.all((await children()).map((name) => facts(name)))
  const checks: readonly (readonly [string, boolean])[] = [
    ['the tool ran twice', paid.length <= 1],
    [`there are ${below.length} children`, below.length === 3],
    ['the turn did not end once', count(root, 'turn-finished') === 1],
    ['the calls did not begin once', count(root, 'child-begun') === 2],
    ['the calls did not end once', count(root, 'child-closed') === 2],
    ['a child was lost', count(root, 'child-lost') === 0],
    ['a child did not begin once', below.every((of) => count(of, 'child-opened') === 1)],
    ['a child has not one task', below.every((of) => count(of, 'input-accepted') === 1)],
    ['a child did not end once', below.every((of) => count(of, 'turn-finished') === 1)],
  ]
  return checks.flatMap(([fault, isRight]) => (isRight ? [] : fault))
}

test('nothing disturbs it', async () => {
  const world = createWorld()
  await converse(world)
  expect(await findFaults(world)).toEqual([])
  expect(world.paid).toHaveLength(1)
  expect([...world.service.starts.values()]).toEqual([1, 1, 1, 1])
  expect(world.service.failures).toEqual([])
})

/** Which workflow of the tree an operator terminates. */
const WHICH = ['the root', 'a child', 'a grandchild', 'all'] as const

async function findVictims({ facts, children }: World, which: (typeof WHICH)[number]): Promise<readonly string[]> {
  const below = await children()
  if (which === 'the root') return ['s']
  if (which === 'all') return ['s', ...below]
  const depths = await Promise.all(
    below.map(async (name) => (await facts(name)).find((fact) => fact.type === 'child-opened')?.depth),
  )
  return below.filter((_, index) => depths[index] === (which === 'a child' ? 1 : 2))
}

test.each(WHICH)('%s is terminated at any moment, and goes on from its log', async (which) => {
  const faults: string[] = []
  let kills = 0
  for (let at = 1; ; at += STRIDE) {
    const world = createWorld()
    const { service } = world
    let isDone = false
    service.onEvent = (event) => {
      if (event < at || isDone) return
      isDone = true
      kills += 1
      void findVictims(world, which).then((names) => names.forEach((name) => service.terminate(name)))
    }
    await converse(world)
    const found = await findFaults(world)
    faults.push(...found.map((fault) => `terminated at event ${at}: ${fault}`))
    if (!isDone) break
  }
  expect(faults).toEqual([])
  expect(kills).toBeGreaterThan(10)
})

/** `deaths` are shared with the terminations: after three under one model call, that fails. */
function createFaults(random: () => number, deaths: { left: number }): PlayedFaults {
  const chance = (share: number): boolean => random() < share
  return {
    delayMs: () => (chance(0.5) ? Math.floor(random() * 5000) : 0),
    repeatsAfterMs: () => (chance(0.3) ? Math.floor(random() * 20_000) : undefined),
    playsTwice: () => chance(0.2),
    loses: (type) => {
      if (!chance(0.1)) return undefined
      if (type === 'baton.model' && (deaths.left -= 1) < 0) return undefined
      return chance(0.5) ? 'early' : 'late'
    },
  }
}

test('signals that are late, repeated and in another order, lost workers, terminated workflows, runs that continue as new', async () => {
  const faults: string[] = []
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed)
    const world = createWorld(random() < 0.5 ? { updatesMax: 3 } : {})
    const { service, children } = world
    const deaths = { left: Math.floor(random() * 3) }
    service.faults = createFaults(random, deaths)
    service.onEvent = () => {
      if (deaths.left <= 0 || random() > 0.01) return
      deaths.left -= 1
      void children().then((names) => {
        const all = ['s', ...names]
        service.terminate(all[Math.floor(random() * all.length)] ?? 's')
      })
    }
    try {
      await converse(world)
      faults.push(...(await findFaults(world)).map((fault) => `seed ${seed}: ${fault}`))
    } catch (cause) {
      faults.push(`seed ${seed}: ${String(cause)}`)
    }
    vi.restoreAllMocks()
  }
  expect(faults).toEqual([])
})
