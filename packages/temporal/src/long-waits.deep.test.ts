// Sessions and goals that wait for days: for a client, for a person, and for deadlines. The time of their workflows is
// skipped; gateways and activities run in real time.
import { frontOf } from '@baton/core/internal'
import type { Store, Tool } from '@baton/core'
import { BatonError, tool } from '@baton/core'
import type { Fact } from '@baton/core/machine'
import { createMemoryStore } from '@baton/host'
import { skipTime } from '@baton/testing/skip-time'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { GoalResult } from './contract.ts'
import { GOAL_WORKFLOW } from './contract.ts'
import type { TemporalWorld, TemporalWorldOptions } from './temporal-world.test-kit.ts'
import { playInWorld, settlements, until } from './temporal-world.test-kit.ts'

const program = findTemporal('sessions over Temporal that wait for days', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

const withWorld = (init: TemporalWorldOptions, play: (world: TemporalWorld) => Promise<void>): Promise<void> =>
  playInWorld(server, init, play)

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
const callOnce = (name: string) => ({ calls: [{ name, arguments: '{}' }] })
const object = { type: 'object' } as const
/** Maximum real time that passes while a test plays. */
const SLACK_MS = 60_000

function skip(world: TemporalWorld, session: string, ms: number): Promise<void> {
  return skipTime(world.client.workflowService, session, ms)
}

async function countRuns(world: TemporalWorld, session: string): Promise<number> {
  let runs = 0
  for await (const _ of world.client.workflow.list({ query: `WorkflowId = "${session}"` })) runs += 1
  return runs
}

/** The session time between the first facts of these types. */
async function measure(
  world: TemporalWorld,
  session: string,
  from: Fact['type'],
  to: Fact['type'],
): Promise<number | undefined> {
  const records = await world.records(session)
  const find = (type: Fact['type']): number | undefined =>
    records.find(({ facts }) => facts.some((fact) => fact.type === type))?.nowMs
  const end = find(to)
  return end === undefined ? undefined : end - (find(from) ?? 0)
}

function expectJust(ms: number | undefined, wantedMs: number): void {
  expect(ms).toBeGreaterThanOrEqual(wantedMs)
  expect(ms).toBeLessThan(wantedMs + SLACK_MS)
}

describe.skipIf(!server)('a session that waits for days', () => {
  const look = tool({ name: 'look', description: 'looks', input: object, effect: 'pure' })

  test('gets its answer from a client that connects after three days, over two runs that continued as new ones', async () => {
    const init = { steps: [callOnce('look'), { text: 'seen' }], tools: [{ ...look, timeoutMs: WEEK_MS }] }
    const limits = { turnMs: WEEK_MS, awayMs: WEEK_MS }
    await withWorld({ ...init, limits, host: { updatesMax: 3 } }, async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('go')
      await until(() => frontOf(session).phase === 'calling')
      for (const day of [1, 2, 3]) {
        for (let index = 0; index < 4; index++) await session.describe({ title: `day ${day}.${index}` })
        await skip(world, session.id, DAY_MS)
      }
      expect(await countRuns(world, session.id)).toBeGreaterThanOrEqual(3)
      expect(frontOf(session).phase).toBe('calling')
      await session.attach({ look: () => 'a tree' } as never)
      expect((await turn.answer).text).toBe('seen')
      expect((await settlements(world, session.id)).map(({ type }) => type)).toEqual(['ok'])
      expectJust(await measure(world, session.id, 'turn-started', 'turn-finished'), 3 * DAY_MS)
    })
  })

  test('keeps a call for the client that claimed it and renews its lease for half a day, over two runs', async () => {
    const once = { ...look, effect: 'once', timeoutMs: WEEK_MS } as const
    const init = { steps: [callOnce('look'), { text: 'seen' }], tools: [once], limits: { turnMs: WEEK_MS } }
    await withWorld({ ...init, host: { updatesMax: 5 } }, async (world) => {
      const session = await world.host.session(randomUUID())
      const client = await frontOf(session).client({ client: 'phone', leaseMs: HOUR_MS })
      const turn = session.send('go')
      await until(() => client.calls().length > 0)
      const callId = client.calls()[0]?.callId ?? ''
      await client.claim(callId)
      for (let hour = 0; hour < 12; hour++) {
        await skip(world, session.id, HOUR_MS - SLACK_MS)
        await client.renew()
      }
      expect(await countRuns(world, session.id)).toBeGreaterThanOrEqual(3)
      await client.result(callId, { type: 'ok', content: [{ type: 'text', text: 'a tree' }] })
      expect((await turn.answer).text).toBe('seen')
      const facts = (await world.records(session.id)).flatMap((record) => record.facts)
      expect(facts.filter(({ type }) => type === 'call-offered')).toHaveLength(1)
      expectJust(await measure(world, session.id, 'turn-started', 'turn-finished'), 12 * (HOUR_MS - SLACK_MS))
    })
  })

  test('runs what a person approves after a week, once', async () => {
    let paid = 0
    const pay = tool({ name: 'pay', description: 'pays', input: object, approval: true, execute: () => (paid += 1) })
    const limits = { turnMs: 2 * WEEK_MS, approvalMs: 2 * WEEK_MS }
    await withWorld({ steps: [callOnce('pay'), { text: 'paid' }], tools: [pay], limits }, async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('pay')
      await until(async () => (await session.approvals()).length > 0)
      await skip(world, session.id, WEEK_MS)
      const [asked] = await session.approvals()
      await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
      expect((await turn.answer).text).toBe('paid')
      expect(paid).toBe(1)
      expectJust(await measure(world, session.id, 'approval-requested', 'call-settled'), WEEK_MS)
    })
  })

  test('completes after a day without anything to do, and the next input starts it again', async () => {
    await withWorld({ steps: [{ text: 'one' }, { text: 'two' }] }, async (world) => {
      const session = await world.host.session(randomUUID())
      await session.send('first').answer
      await expect(skip(world, session.id, 2 * DAY_MS)).rejects.toThrow('were not skipped')
      expect((await world.handle(session.id).describe()).status.name).toBe('COMPLETED')
      expect((await session.send('second').answer).text).toBe('two')
    })
  })
})

interface Deadline {
  readonly tools: readonly Tool[]
  readonly limits: TemporalWorldOptions['limits']
  readonly name: string
  /** Milliseconds. */
  readonly afterMs: number
  readonly from: Fact['type']
  readonly to: Fact['type']
  /** Whether a client holds the call, with the longest lease. */
  readonly isAttached?: boolean
}

describe.skipIf(!server)('a deadline of a session', () => {
  const look = tool({ name: 'look', description: 'looks', input: object, effect: 'pure' })
  const pay = tool({ name: 'pay', description: 'pays', input: object, approval: true, execute: () => 'paid' })
  const long = { turnMs: 30 * DAY_MS, awayMs: 30 * DAY_MS, approvalMs: 30 * DAY_MS }

  test.each<[string, Deadline]>([
    [
      'a turn, which fails,',
      {
        tools: [{ ...look, timeoutMs: HOUR_MS }],
        limits: { ...long, turnMs: HOUR_MS / 2 },
        name: 'look',
        afterMs: HOUR_MS / 2,
        from: 'turn-started',
        to: 'turn-finished',
        isAttached: true,
      },
    ],
    [
      'a call whose client hangs',
      {
        tools: [{ ...look, timeoutMs: HOUR_MS / 2 }],
        limits: long,
        name: 'look',
        afterMs: HOUR_MS / 2,
        from: 'call-offered',
        to: 'call-settled',
        isAttached: true,
      },
    ],
    [
      'a call that waits for a client',
      {
        tools: [{ ...look, timeoutMs: WEEK_MS }],
        limits: { ...long, awayMs: 4 * DAY_MS },
        name: 'look',
        afterMs: 4 * DAY_MS,
        from: 'step-finished',
        to: 'call-settled',
      },
    ],
    [
      'an approval',
      {
        tools: [pay],
        limits: { ...long, approvalMs: WEEK_MS },
        name: 'pay',
        afterMs: WEEK_MS,
        from: 'approval-requested',
        to: 'call-settled',
      },
    ],
  ])('of %s fires at its time', async (_, { tools, limits, name, afterMs, from, to, isAttached = false }) => {
    const init = { steps: [callOnce(name), { text: 'done' }], tools, ...(limits && { limits }) }
    await withWorld(init, async (world) => {
      const session = await world.host.session(randomUUID())
      if (isAttached) await frontOf(session).client({ client: 'phone', leaseMs: HOUR_MS })
      const answer = session.send('go').answer.catch((cause: unknown) => cause)
      await until(async () => (await measure(world, session.id, from, from)) === 0)
      await skip(world, session.id, afterMs - SLACK_MS)
      expect(await measure(world, session.id, from, to)).toBeUndefined()
      await skip(world, session.id, SLACK_MS)
      await answer
      expectJust(await measure(world, session.id, from, to), afterMs)
    })
  })
})

describe.skipIf(!server)('a session whose log cannot be read', () => {
  test('is opened once when its worker has failed for longer than Temporal repeats one reading', async () => {
    const store = createMemoryStore()
    // Temporal reads about eleven times in half a minute.
    let failures = 13
    const read: Store['read'] = async function* (...request) {
      if (failures > 0) {
        failures -= 1
        throw new BatonError({ code: 'store_failed', message: 'the disk is away' })
      }
      yield* store.read(...request)
    }
    const worker = { logStore: { ...store, read } }
    await withWorld({ steps: [{ text: 'here' }], store, worker }, async (world) => {
      const session = await world.host.session(randomUUID())
      const sendUntilTaken = async (): Promise<string> => {
        const { answer } = session.send('go', { inputId: 'one' })
        return await answer.then(({ text }) => text).catch(sendUntilTaken)
      }
      expect(await sendUntilTaken()).toBe('here')
      expect(failures).toBe(0)
      expect(await countRuns(world, session.id)).toBe(1)
      const facts = (await world.records(session.id)).flatMap((record) => record.facts.map(({ type }) => type))
      expect(facts.filter((type) => type === 'session-opened' || type === 'input-accepted')).toHaveLength(2)
    })
  })
})

describe.skipIf(!server)('a goal', () => {
  test('whose confidence is low waits five days for a person, and returns its verdict', async () => {
    const schema = { type: 'object', properties: { valid: { type: 'boolean' } }, required: ['valid'] } as const
    const ask = tool({ name: 'ask_a_person', description: 'asks', input: object, approval: true, execute: () => 'yes' })
    const steps = [callOnce('ask_a_person'), { text: '{"valid":true}' }]
    await withWorld({ steps, tools: [ask] }, async (world) => {
      const limits = { turnMs: WEEK_MS, approvalMs: WEEK_MS }
      const started = await world.client.workflow.start(GOAL_WORKFLOW, {
        taskQueue: world.taskQueue,
        workflowId: randomUUID(),
        args: [{ goal: 'Is it valid?', outputSchema: schema, limits }],
      })
      const id = started.workflowId
      await until(async () => (await measure(world, id, 'approval-requested', 'approval-requested')) === 0)
      await skip(world, id, 5 * DAY_MS)
      const session = await world.host.session(id)
      const [asked] = await session.approvals()
      await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
      const result = (await started.result()) as GoalResult
      expect(result).toMatchObject({ output: { valid: true }, calls: [{ name: 'ask_a_person' }] })
      expectJust(await measure(world, id, 'approval-requested', 'turn-finished'), 5 * DAY_MS)
    })
  })
})
