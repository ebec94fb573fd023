// Calls in the background over a service that loses workers, terminates workflows, and delivers signals late, in another order, and
// twice: each has one receipt, one end and one wake, and what acts once acts once.
import { defineAgent, delegate, tool } from '@baton/core'
import type { Agent } from '@baton/core'
import type { ModelRequest } from '@baton/core/internal'
import type { Fact, Input, Settlement } from '@baton/core/machine'
import { applyRecord, initialState, TASK_INPUT } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import { expect, test, vi } from 'vitest'
import type { Tuning } from '../contract.ts'
import { TASK_PREFIX } from '../task-workflow.ts'
import type { PlayedFaults } from './played-service.test-kit.ts'
import { createPlayedWorld, createRandom } from './played-world.test-kit.ts'

vi.mock('@temporalio/workflow', async (load) => ({
  ...(await load<object>()),
  ...(await import('./played-service.test-kit.ts')).PLAYED_SDK,
}))

const SEEDS = chooseCount({ quick: 4, landing: 10, deep: 500 })
/** Events between two tried ones. */
const STRIDE = chooseCount({ quick: 9, landing: 3, deep: 1 })
const EMPTY = { type: 'object', properties: {} } as const
/** Virtual milliseconds that a tool takes. */
const TOOL_MS = 30_000

/** Begins three tasks: a `once` tool, an idempotent tool, and another agent, whose payment needs an approval. */
function createAgent(work: (ms: number) => Promise<void>, toolMs: number) {
  const acted = { order: 0, export: 0, pay: 0 }
  const acting = (name: 'order' | 'export' | 'pay', ms: number, more: object) =>
    tool({
      name,
      description: name,
      input: EMPTY,
      effect: 'once',
      timeoutMs: 6 * 3_600_000,
      execute: async () => {
        acted[name] += 1
        if (ms > 0) await work(ms)
        return `${name} is done`
      },
      ...more,
    })
  const pays = ({ messages }: ModelRequest) =>
    messages.at(-1)?.role === 'tool' ? { text: 'It is paid.' } : { calls: [{ name: 'pay', arguments: {} }] }
  const payer = defineAgent({
    name: 'payer',
    model: createScriptedModel({ steps: pays }),
    tools: [acting('pay', 0, { approval: true })],
  }) as Agent
  const begins = ({ messages }: ModelRequest) => {
    if (messages.some(({ role }) => role === 'tool')) return { text: 'Fine.' }
    return {
      calls: [
        { name: 'order', arguments: {} },
        { name: 'export', arguments: {} },
        { name: 'payer', arguments: { task: 'Pay.' } },
      ],
    }
  }
  const agent = defineAgent({
    name: 'clerk',
    model: createScriptedModel({ steps: begins }),
    tools: [
      acting('order', toolMs, { background: true }),
      acting('export', toolMs, { background: true, effect: 'idempotent' }),
      delegate({ agent: payer, description: 'Pays', background: true }),
    ],
  }) as Agent
  return { agent, acted }
}

function createWorld(tuning: Tuning = {}, toolMs = TOOL_MS) {
  const { agent, acted } = createAgent((ms) => world.service.work(ms), toolMs)
  const world = createPlayedWorld(agent, tuning)
  return { ...world, acted }
}

type World = ReturnType<typeof createWorld>

const count = (facts: readonly Fact[], type: Fact['type']): number => facts.filter((fact) => fact.type === type).length

const say = (inputId: string): Input => {
  const parts = [{ type: 'text', text: inputId } as const]
  return { type: 'user-input', inputId, parts, asks: true, delivery: 'queue' }
}

/** Sends messages and approves requests until nothing is left to do. `isAway`: the session may not be started. */
async function converse({ service, start, update, facts, read }: World, isAway = (): boolean => false): Promise<void> {
  let isBusy = false
  const submit = (input: Input): void => {
    if (isBusy) return
    isBusy = true
    update('s', [input]).then(
      () => (isBusy = false),
      // The gateway tries again, with the next run.
      () => (isBusy = false),
    )
  }
  const isOver = async (): Promise<boolean> => {
    if (isAway()) return false
    start()
    const said = await facts('s')
    let state = initialState('s')
    for (const record of await read('s')) state = applyRecord(state, record)
    const isQuiet = state.turn === null && state.queue.length === 0 && state.tasks.length === 0
    if (count(said, 'turn-finished') > 0 && isQuiet && service.ids().every((id) => id === 's')) return true
    const decided = new Set(said.flatMap((fact) => (fact.type === 'approval-decided' ? [fact.approvalId] : [])))
    const asked = state.relayed.find(({ type, id }) => type === 'approval' && !decided.has(id))
    if (asked) submit({ type: 'approval', approvalId: asked.id, decision: 'approve', principal: 'ann' })
    // Inputs of people, so that a run is full at once if it may be.
    else if (count(said, 'turn-finished') < 8) submit(say(`say-${count(said, 'turn-finished')}`))
    return false
  }
  await service.until(isOver, 24 * 3_600_000)
}

/** Faults that nothing may cause. */
async function findFaults({ acted, facts, children, service }: World): Promise<readonly string[]> {
  const root = await facts('s')
  const receipts = root.flatMap((fact) => (fact.type === 'call-settled' && fact.task ? [fact.callId] : []))
  const ends = root.flatMap((fact) => (fact.type === 'task-settled' ? [fact.callId] : []))
  const wakes = root.flatMap((fact) =>
    fact.type === 'input-accepted' && fact.inputId.startsWith(TASK_INPUT) ? [fact.inputId] : [],
  )
  const entered = root.flatMap((fact) =>
    fact.type === 'inputs-entered' ? fact.entries.flatMap(({ inputs }) => inputs) : [],
  )
  const read = entered.filter((id) => id.startsWith(TASK_INPUT))
  const checks: readonly (readonly [string, boolean])[] = [
    [`order ran ${acted.order} times`, acted.order <= 1],
    [`pay ran ${acted.pay} times`, acted.pay <= 1],
    [`export ran ${acted.export} times`, acted.export <= 3],
    [`there are ${receipts.length} receipts`, receipts.length === 3],
    ['a task did not end once', ends.length === 3 && new Set(ends).size === 3],
    ['an end did not wake once', wakes.length === 3 && new Set(wakes).size === 3],
    ['a wake was not read once', read.length === 3 && new Set(read).size === 3],
    ['a child was lost', count(root, 'child-lost') === 0],
    ['there is not one child', (await children()).length === 1],
    ['a lost tool was not noticed', !root.some((fact) => fact.type === 'task-settled' && isLate(fact.settlement))],
    ['a workflow failed', service.failures.length === 0],
  ]
  return checks.flatMap(([fault, isRight]) => (isRight ? [] : fault))
}

function isLate({ type }: Settlement): boolean {
  return type === 'timed-out'
}

test('nothing disturbs it', async () => {
  const world = createWorld()
  await converse(world)
  expect(await findFaults(world)).toEqual([])
  expect(world.acted).toEqual({ order: 1, export: 1, pay: 1 })
  expect([...world.service.starts.values()]).toEqual([1, 1, 1, 1])
})

test('the session continues as new again and again while its tools run, and starts each of them once', async () => {
  const world = createWorld({ updatesMax: 3 })
  await converse(world)
  expect(await findFaults(world)).toEqual([])
  expect(world.acted).toEqual({ order: 1, export: 1, pay: 1 })
  expect(world.service.starts.get('s')).toBeGreaterThan(2)
  const tasks = [...world.service.starts].filter(([id]) => id.startsWith(TASK_PREFIX))
  expect(tasks.map(([, starts]) => starts)).toEqual([1, 1])
})

test('a session that was terminated cancels the workflows of the tasks that it has lost', async () => {
  const world = createWorld({}, 5 * 3_600_000)
  const { service, start, update, acted } = world
  const listTasks = (): readonly string[] => service.ids().filter((id) => id.startsWith(TASK_PREFIX))
  start()
  update('s', [say('one')]).catch(() => {})
  await service.until(() => acted.order + acted.export === 2)
  const lost = listTasks()
  const cancel = vi.spyOn(service, 'cancel')
  service.terminate('s')
  start()
  // The idempotent tool runs again, in a new workflow.
  await service.until(() => acted.export === 2)
  expect(lost).toHaveLength(2)
  expect(cancel.mock.calls.flat().toSorted()).toEqual(lost.toSorted())
  expect(listTasks().filter((id) => !lost.includes(id))).toHaveLength(1)
})

const WHICH = [
  'the session',
  'the session, which returns once its tools have ended',
  'the workflows of tasks',
  'all',
] as const

function findVictims({ service }: World, which: (typeof WHICH)[number]): readonly string[] {
  const isTask = (id: string): boolean => id.startsWith(TASK_PREFIX)
  return service.ids().filter((id) => which === 'all' || (which === 'the workflows of tasks' ? isTask(id) : id === 's'))
}

test.each(WHICH)('%s: terminated at any moment', async (which) => {
  const faults: string[] = []
  let kills = 0
  for (let at = 1; ; at += STRIDE) {
    const world = createWorld(at % 2 === 0 ? { updatesMax: 3 } : {})
    const { service } = world
    let isDone = false
    let isAway = false
    service.onEvent = (event) => {
      if (event < at || isDone) return
      isDone = true
      kills += 1
      for (const id of findVictims(world, which)) service.terminate(id)
      if (which === WHICH[1]) {
        isAway = true
        void service.wait(2 * TOOL_MS).then(() => (isAway = false))
      }
    }
    try {
      await converse(world, () => isAway)
      faults.push(...(await findFaults(world)).map((fault) => `terminated at event ${at}: ${fault}`))
    } catch (cause) {
      faults.push(`terminated at event ${at}: ${String(cause)}`)
    }
    vi.restoreAllMocks()
    if (!isDone) break
  }
  expect(faults).toEqual([])
  expect(kills).toBeGreaterThan(10)
})

/** `deaths` are shared with the terminations: after three under one model call or tool, that fails. */
function createFaults(random: () => number, deaths: { left: number }): PlayedFaults {
  const chance = (share: number): boolean => random() < share
  return {
    delayMs: () => (chance(0.5) ? Math.floor(random() * 5000) : 0),
    repeatsAfterMs: () => (chance(0.3) ? Math.floor(random() * 20_000) : undefined),
    playsTwice: () => chance(0.2),
    loses: (type) => {
      if (!chance(0.1)) return undefined
      if ((type === 'baton.model' || type === 'baton.tool') && (deaths.left -= 1) < 0) return undefined
      return chance(0.5) ? 'early' : 'late'
    },
  }
}

test('signals that are late, repeated and in another order, lost workers, terminated workflows, runs that continue as new', async () => {
  const faults: string[] = []
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed)
    const world = createWorld(random() < 0.5 ? { updatesMax: 3 } : {})
    const { service } = world
    const deaths = { left: Math.floor(random() * 3) }
    service.faults = createFaults(random, deaths)
    service.onEvent = (event) => {
      if (event < 5 || deaths.left <= 0 || random() > 0.01) return
      deaths.left -= 1
      const all = service.ids()
      service.terminate(all[Math.floor(random() * all.length)] ?? 's')
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
