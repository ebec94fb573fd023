// Notices of sessions over a service that loses workers: between the records and the outbox, and between the outbox and the
// sending. Each notice arrives in the order of the log, with one id.
import { defineAgent, tool } from '@baton/core'
import type { Agent, Notice, NoticeDestination, OutboxStore } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { Fact, Input } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { readNotices } from '@baton/runtime'
import { chooseCount } from '@baton/testing/depth'
import { expect, test, vi } from 'vitest'
import { createPlayedWorld, createRandom } from '../workflow/played-world.test-kit.ts'

vi.mock('@temporalio/workflow', async (load) => ({
  ...(await load<object>()),
  ...(await import('../workflow/played-service.test-kit.ts')).PLAYED_SDK,
}))

const SEEDS = chooseCount({ quick: 6, deep: 200 })
const EMPTY = { type: 'object', properties: {} } as const
const TURNS = 3

/** A session whose every turn pays once, after an approval. `swap` may fail in place of the outbox. */
function createWorld(swap: () => 'now' | 'late' | undefined = () => undefined, updatesMax = 1500) {
  const taken: Notice[] = []
  const shop: NoticeDestination = { name: 'shop', send: async (notice) => void taken.push(notice) }
  const pay = tool({ name: 'pay', description: 'Pays', input: EMPTY, approval: true, execute: () => 'paid' })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'Paid.' } : { calls: [{ name: 'pay', arguments: {} }] },
  })
  const agent = defineAgent({ name: 'clerk', model, tools: [pay] }) as Agent
  const world = createPlayedWorld(agent, { updatesMax }, [shop])
  const outbox: OutboxStore = { ...world.store.outbox }
  const died = (): BatonError => new BatonError({ code: 'store_failed', message: 'the worker has died' })
  Object.assign(world.store.outbox, {
    swap: async (...row: Parameters<OutboxStore['swap']>) => {
      const dies = swap()
      if (dies === 'now') throw died()
      const isDone = await outbox.swap(...row)
      if (dies === 'late') throw died()
      return isDone
    },
  })
  return { ...world, taken }
}

type World = ReturnType<typeof createWorld>

const count = (facts: readonly Fact[], type: Fact['type']): number => facts.filter((fact) => fact.type === type).length

const say = (inputId: string): Input => {
  const parts = [{ type: 'text', text: inputId } as const]
  return { type: 'user-input', inputId, parts, asks: true, delivery: 'queue' }
}

/** Plays turns until this many have ended. */
async function converse({ service, start, update, facts }: World, turns: number): Promise<void> {
  let isBusy = false
  const submit = (input: Input): void => {
    if (isBusy) return
    isBusy = true
    update('s', [input]).then(
      () => (isBusy = false),
      () => (isBusy = false),
    )
  }
  await service.until(async () => {
    start()
    const said = await facts('s')
    const ended = count(said, 'turn-finished')
    const asked = said.findLast((fact) => fact.type === 'approval-requested')
    const isDecided = count(said, 'approval-decided') === count(said, 'approval-requested')
    if (ended >= turns) return true
    if (asked && !isDecided)
      submit({ type: 'approval', approvalId: asked.approvalId, decision: 'approve', principal: 'ann' })
    else submit(say(`say-${ended}`))
    return false
  }, 24 * 3_600_000)
}

/** Notices of the log, in its order. */
async function expected({ read }: World): Promise<readonly unknown[]> {
  return (await read('s')).flatMap((record) => readNotices(record).map(({ type }) => [type, record.pos]))
}

const told = ({ taken }: World): readonly unknown[] => taken.map(({ type, data }) => [type, data.pos])

test('without any faults each is told once', async () => {
  const world = createWorld()
  await converse(world, TURNS)
  await world.service.until(() => world.taken.length === 3 * TURNS)
  expect(told(world)).toEqual(await expected(world))
  expect(new Set(world.taken.map(({ id }) => id)).size).toBe(3 * TURNS)
})

test.each(Array.from({ length: SEEDS }, (_, seed) => seed))('workers die anywhere, seed %i', async (seed) => {
  const random = createRandom(seed)
  let isDown = true
  const swap = () => (isDown && random() < 0.08 ? (random() < 0.5 ? 'now' : 'late') : undefined)
  const world = createWorld(swap, seed % 2 === 0 ? 4 : 1500)
  const { service, taken } = world
  service.faults = {
    ...service.faults,
    playsTwice: () => random() < 0.2,
    loses: (type) =>
      isDown && type === 'baton.publish' && random() < 0.3 ? (random() < 0.5 ? 'early' : 'late') : undefined,
  }
  await converse(world, TURNS)
  isDown = false
  await converse(world, TURNS + 1)
  const all = await expected(world)
  await service.until(async () => new Set(taken.map(({ id }) => id)).size === all.length)
  // A sender that could not note what it has sent sends it again.
  const firsts = [...new Map(taken.toReversed().map((one) => [one.id, one])).values()].toReversed()
  const order = firsts.toSorted((one, other) => taken.indexOf(one) - taken.indexOf(other))
  expect(order.map(({ type, data }) => [type, data.pos])).toEqual(all)
})
