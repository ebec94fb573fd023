// Calls in the background on the local host, as programs, people and models see them, also when the process dies before or after
// any write.
import type { Session, Store } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { CallView, EventCursor, ModelRequest } from '@baton/core/internal'
import { frontOf } from '@baton/core/internal'
import type { ScriptedModel, ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { describe, expect, test } from 'vitest'
import { noUnhandledRejections } from './test-world.test-kit.ts'
import type { Disk, Fate, Time } from './tree.test-kit.ts'
import * as kit from './tree.test-kit.ts'

noUnhandledRejections()

const { acting, calls, createAgents, createManualTime, factsOf, startProcess } = kit

const lastText = ({ messages }: ModelRequest): string => {
  const last = messages.at(-1)
  return JSON.stringify(last?.role === 'tool' ? last.parts.map(({ content }) => content) : last?.parts)
}

/** Begins the job once, says that it runs, and reports its outcome. */
function begins(name: string, args: object = {}) {
  return (request: ModelRequest): ScriptedStep => {
    const text = lastText(request)
    if (text.includes('[Task]')) return { text: `Told: ${text}` }
    if (text.includes('runs in the background')) return { text: 'It runs.' }
    return request.messages.some(({ role }) => role === 'tool') ? { text: 'Fine.' } : calls(name, args)
  }
}

interface Job {
  readonly started: string[]
  readonly finish: (text: string) => void
  readonly tool: ReturnType<typeof acting>
}

/** A job that ends when the test says so. */
function createJob(more: object = {}): Job {
  const started: string[] = []
  let finish: (text: string) => void = () => {}
  const run = (_: unknown, { idempotencyKey }: { readonly idempotencyKey: string }): Promise<string> => {
    started.push(idempotencyKey)
    return new Promise((resolve) => (finish = resolve))
  }
  const made = acting('export', run, { background: true, timeoutMs: 3_600_000, ...more })
  return { started, finish: (text) => finish(text), tool: made }
}

function createWorld(job: Job, steps = begins('export')) {
  const time = createManualTime()
  const model = createScriptedModel({ steps, timers: time.environment.timers })
  return { time, model, agent: defineAgent({ name: 'clerk', model, tools: [job.tool] }) }
}

const wakesOf = async (store: Store) =>
  (await factsOf(store, 's', 'input-accepted')).filter(({ inputId }) => inputId.startsWith('baton.task.'))
const answersOf = async (store: Store) => (await factsOf(store, 's', 'turn-finished')).map(({ text }) => text)

const FLAG = 'run_in_background'

test('a call keeps an argument of that name which its tool has itself, and stays in the turn', async () => {
  const time = createManualTime()
  const got: unknown[] = []
  const own = { type: 'object', properties: { [FLAG]: { type: 'string' } } } as const
  const list = async () => [acting('crm.sync', (given) => `sync ${got.push(given)}`, { input: own })]
  const steps = [calls('crm.sync', { [FLAG]: 'no' }), calls('app.print', { [FLAG]: 'yes' })]
  const model = createScriptedModel({ steps: (_, at) => steps[at] ?? { text: 'end' } })
  const { host } = startProcess(time, kit.openMemory().store, {
    agent: defineAgent({ name: 'clerk', model, background: { '*': 'model' }, sources: [{ name: 'crm', list }] }),
  })
  const session = await time.until(host.session('s'))
  const tools = [{ name: 'app.print', description: 'Prints', inputSchema: own }]
  const client = await time.until(frontOf(session).client({ client: 'page', tools }))
  const { answer } = session.send('go')
  await kit.rest(time)
  const [call] = client.calls()
  expect(call?.arguments).toBe(JSON.stringify({ [FLAG]: 'yes' }))
  expect(got).toEqual([{ [FLAG]: 'no' }])
  expect(await session.tasks()).toEqual([])
  await client.result(call?.callId ?? '', { type: 'ok', content: [{ type: 'text', text: 'printed' }] })
  expect((await time.until(answer)).text).toBe('end')
})

test('a copy of the session does not run the task, and says where it goes on', async () => {
  const job = createJob({ effect: 'pure' })
  const { time, agent, model } = createWorld(job)
  const disk = kit.openMemory()
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  void session.send('go')
  await kit.rest(time)
  const copy = await host.session(await session.fork())
  await kit.rest(time)
  expect(job.started).toHaveLength(1)
  expect(await copy.tasks()).toMatchObject([{ status: 'settled', result: { type: 'unknown' } }])
  void copy.send('and?')
  await kit.rest(time)
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('goes on in the original conversation')
  expect(await session.tasks()).toMatchObject([{ status: 'running' }])
})

test('removing a session ends its task and leaves nothing', async () => {
  const job = createJob()
  const { time, agent } = createWorld(job)
  const disk = kit.openMemory()
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  void session.send('go')
  await kit.rest(time)
  await host.remove('s')
  job.finish('too late')
  await kit.rest(time)
  expect(await kit.recordsOf(disk.store, 's')).toEqual([])
})

test('tools and agents that cannot run in the background say so at once', () => {
  const model = createScriptedModel({ steps: [] })
  const base = { name: 'x', description: 'x', input: kit.EMPTY, execute: () => 'x' } as const
  expect(() => tool({ ...base, background: true, parallel: false })).toThrow(
    expect.objectContaining({ code: 'invalid_tool' }),
  )
  expect(() => tool({ ...base, background: true, endsTurn: true })).toThrow(
    expect.objectContaining({ code: 'invalid_tool' }),
  )
  const taken = [tool({ ...base, background: true }), tool({ ...base, name: 'tasks.list' })]
  const agent = defineAgent({ name: 'a', model, tools: taken })
  expect(() => startProcess(createManualTime(), kit.openMemory().store, { agent })).toThrow(/"tasks.list"/)
})

describe.each(kit.DISKS)('%s', (_, open) => {
  test('a session with an open task is recovered after a restart of the server, with nobody asking for it', async () => {
    const job = createJob({ effect: 'idempotent' })
    const { time, agent } = createWorld(job)
    const disk = await open(time)
    const first = startProcess(time, disk.store, { agent })
    const session = await first.host.session('s')
    let isOver = false
    session
      .send('go')
      .answer.finally(() => (isOver = true))
      .catch(() => {})
    await kit.passUntil(time, () => isOver && job.started.length === 1, disk)
    first.die()
    disk.free()
    const second = startProcess(time, disk.store, { agent })
    let recovered: unknown
    void second.host.recover().then((found) => (recovered = found))
    await kit.passUntil(time, () => recovered !== undefined, disk)
    expect(recovered).toEqual({ recovered: 1, failed: 0 })
    await kit.passUntil(time, () => job.started.length === 2, disk)
    expect(new Set(job.started).size).toBe(1)
    job.finish('file 7')
    let answers: readonly string[] = []
    await kit.passUntil(time, async () => (answers = await answersOf(disk.store)).length === 2, disk)
    expect(answers[1]).toContain('file 7')
    expect(await wakesOf(disk.store)).toHaveLength(1)
  })
})

interface Played {
  readonly isDead: boolean
  readonly store: Store
  readonly model: ScriptedModel
  readonly starts: number
}

/** One process dies at its nth write, before or after it; another one recovers the session. */
async function playDeath(
  time: Time,
  disk: Disk,
  { at, side, effect }: { at: number; side: 'before' | 'after'; effect: string },
): Promise<Played> {
  let starts = 0
  const job = acting('export', async (_, { idempotencyKey }) => `file ${idempotencyKey} ${(starts += 1)}`, {
    background: true,
    effect,
  })
  const create = () => {
    const model = createScriptedModel({ steps: begins('export'), timers: time.environment.timers })
    return { model, agent: defineAgent({ name: 'clerk', model, tools: [job] }) }
  }
  let writes = 0
  const fate: Fate = () => ((writes += 1) === at ? side : undefined)
  const first = startProcess(time, disk.store, { agent: create().agent, fate })
  const begun = await Promise.race([first.host.session('s'), until(time, first)])
  begun?.send('go', { inputId: 'm1' }).answer.catch(() => {})
  await kit.rest(time, 20)
  const isDead = first.isDead()
  first.die()
  disk.free()
  const { agent, model } = create()
  const second = startProcess(time, disk.store, { agent })
  await second.host.recover()
  const session: Session = await second.host.session('s')
  session.send('go', { inputId: 'm1' }).answer.catch(() => {})
  await kit.rest(time, 30)
  await kit.passUntil(
    time,
    async () => (await session.info()).tasks.length === 0 && (await session.info()).activity === 'idle',
  )
  return { isDead, store: disk.store, model, starts }
}

async function until(time: Time, { isDead }: { isDead: () => boolean }): Promise<undefined> {
  await kit.passUntil(time, isDead)
  return undefined
}

describe('the process dies at any write', () => {
  const deaths = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((at) =>
    (['before', 'after'] as const).flatMap((side) =>
      (['once', 'idempotent'] as const).map((effect) => ({ at, side, effect })),
    ),
  )
  test.each(deaths)('$side write $at of a tool that is $effect: one receipt, one end, one wake', async (death) => {
    const time = createManualTime()
    const { store, starts } = await playDeath(time, kit.openMemory(), death)
    const receipts = (await factsOf(store, 's', 'call-settled')).filter(({ task }) => task)
    const ends = await factsOf(store, 's', 'task-settled')
    expect([receipts.length, ends.length]).toEqual([1, 1])
    const wakes = await wakesOf(store)
    const entered = (await factsOf(store, 's', 'inputs-entered')).flatMap(({ entries }) =>
      entries.flatMap(({ inputs }) => inputs),
    )
    expect(wakes).toHaveLength(1)
    expect(entered.filter((id) => id.startsWith('baton.task.'))).toEqual(wakes.map(({ inputId }) => inputId))
    expect(death.effect === 'once' && starts > 1).toBe(false)
    expect(death.effect === 'idempotent' ? ends[0]?.settlement.type : 'ok').toBe('ok')
    expect((await answersOf(store)).filter((text) => text.includes('Told: '))).toHaveLength(1)
  })
})

describe('a call of another agent in the background', () => {
  const below = { steps: kit.afterwards(calls('pay'), 'It is paid.') }

  function createTree(time: Time, rules: object = { background: true }, approval = true) {
    const paid: string[] = []
    const pay = acting('pay', (_, { idempotencyKey }) => `paid ${paid.push(idempotencyKey)}`, { approval })
    const create = () =>
      createAgents(time, { ...below, tools: [pay] }, { rules, steps: begins('helper', { task: 'Pay.' }) })
    return { paid, create }
  }

  test('a stop settles it before its agent has ended: whoever returns later still reads that end', async () => {
    const time = createManualTime()
    const { create } = createTree(time)
    const { host } = startProcess(time, kit.openMemory().store, { agent: create().agent })
    const session = await host.session('s')
    const answer = session.send('Pay.').answer
    await kit.rest(time)
    await answer
    await time.until(session.send('And now?').answer)
    const { head } = await session.info()
    const stopped = await frontOf(session).submit({ type: 'stop' })
    const behind = { ...head, pos: stopped.type === 'accepted' ? stopped.pos + 1 : -1 }
    await kit.rest(time)
    const all = await readEnds(session, 'start')
    expect(all.at(-1)).toMatchObject({ task: 'settled', child: { status: 'ended' } })
    expect(await readEnds(session, behind)).toEqual(all.slice(-1))
    expect(await readEnds(session, 'turn')).toContainEqual(all.at(-1))
  })

  /** Calls in the background that have settled, as a reader from this place gets them. */
  async function readEnds(session: Session, from: EventCursor | 'start' | 'turn'): Promise<readonly CallView[]> {
    const ends: CallView[] = []
    for await (const event of session.events({ from })) {
      if (event.type === 'live') break
      if (event.type === 'call' && event.call.task === 'settled') ends.push(event.call)
    }
    return ends
  }

  const deaths = Array.from({ length: 22 }, (_, at) => at + 1).flatMap((at) =>
    (['before', 'after'] as const).map((side) => ({ at, side })),
  )
  test.each(deaths)(
    'the process dies $side its write $at: one child, one payment at most, one wake',
    async ({ at, side }) => {
      const time = createManualTime()
      const { paid, create } = createTree(time, { background: true }, false)
      const disk = kit.openMemory()
      let writes = 0
      const fate: Fate = () => ((writes += 1) === at ? side : undefined)
      const first = startProcess(time, disk.store, { agent: create().agent, fate })
      const begun = await Promise.race([first.host.session('s'), until(time, first)])
      begun?.send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
      await kit.rest(time, 40)
      first.die()
      disk.free()
      const second = startProcess(time, disk.store, { agent: create().agent })
      await second.host.recover()
      const session = await second.host.session('s')
      session.send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
      await kit.rest(time, 30)
      const isQuiet = async (): Promise<boolean> => {
        const { tasks, activity } = await session.info()
        return tasks.length === 0 && activity === 'idle'
      }
      await kit.passUntil(time, isQuiet)
      expect(await kit.childrenOf(disk.store)).toHaveLength(1)
      expect(paid.length).toBeLessThanOrEqual(1)
      expect(await factsOf(disk.store, 's', 'task-settled')).toHaveLength(1)
      expect(await factsOf(disk.store, 's', 'child-closed')).toHaveLength(1)
      expect(await wakesOf(disk.store)).toHaveLength(1)
    },
  )
})

test('an app runs a call in the background after the turn has ended, also once it came back', async () => {
  const time = createManualTime()
  const model = createScriptedModel({ steps: begins('print'), timers: time.environment.timers })
  const print = tool({ name: 'print', description: 'Prints', input: kit.EMPTY, background: true, timeoutMs: 600_000 })
  const agent = defineAgent({ name: 'clerk', model, tools: [print] })
  const disk = kit.openMemory()
  const first = startProcess(time, disk.store, { agent })
  const session = await first.host.session('s')
  void session.send('Print.').answer.catch(() => {})
  await kit.rest(time)
  expect(await session.tasks()).toMatchObject([{ waitsForClient: true }])
  first.die()
  disk.free()
  const { host } = startProcess(time, disk.store, { agent })
  await host.recover()
  const again = await host.session('s')
  await again.attach({ print: () => 'two pages' })
  await kit.passUntil(time, async () => (await wakesOf(disk.store)).length === 1)
  expect(await again.tasks()).toMatchObject([{ runs: 'client', status: 'settled', result: { type: 'ok' } }])
})
