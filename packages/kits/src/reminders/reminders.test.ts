// The tools of a model's reminders, on a real host.
import { defineAgent } from '@baton/core'
import { createScriptedModel, createToolContext } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { reminderTools } from './reminder-tools.ts'

interface Set {
  readonly id: string
  readonly message: string
}

/** The part of a session that the tools use, in memory. */
function createSession() {
  let waiting: readonly object[] = [{ id: 'of-the-program', due: 'soon', event: { message: 'Hidden.' } }]
  const set = (when: unknown, message: unknown, options: { id: string; zone: string }) => {
    const one = { id: options.id, due: `${String(when)} ${options.zone}`, event: { message }, ...rule(when) }
    waiting = [...waiting.filter((other) => (other as Set).id !== options.id), one]
    return Promise.resolve(one)
  }
  const rule = (when: unknown) =>
    typeof when === 'number' ? { rule: { everyMs: when } } : String(when).includes('*') ? { rule: { cron: when } } : {}
  return {
    at: set,
    every: set,
    reminders: () => Promise.resolve(waiting),
    cancelReminder: (id: string) => {
      waiting = waiting.filter((one) => (one as Set).id !== id)
      return Promise.resolve({ type: 'accepted', pos: 1 })
    },
  }
}

function start(options = {}) {
  const session = createSession()
  const tools = reminderTools(options)
  let serial = 0
  const run = async (name: string, input: object, more = {}): Promise<unknown> => {
    serial += 1
    const found = tools.find((one) => one.name === name)
    const reminders = () => Promise.resolve(session)
    const change = { callId: `call_${serial}_0`, reminders, ...more } as object
    const execute = found?.execute as ((input: object, context: object) => Promise<unknown>) | undefined
    return await execute?.(input, createToolContext(change))
  }
  return { session, tools, run }
}

test('a model sets reminders, lists its own and cancels them', async () => {
  const { run, session } = start({ zone: 'Europe/Berlin' })
  expect(await run('reminders.set', { message: 'Call Ann.', at: '2026-12-24T09:00' })).toEqual({
    id: 'model.call_1_0',
    due: '2026-12-24T09:00 Europe/Berlin',
    message: 'Call Ann.',
  })
  const daily = await run('reminders.set', { message: 'Report.', cron: '0 9 * * *', zone: 'UTC' })
  expect(daily).toMatchObject({ repeats: '0 9 * * *', due: '0 9 * * * UTC' })
  expect(await run('reminders.set', { message: 'Look.', everyMinutes: 5 })).toMatchObject({ repeats: 'every 5 min' })
  const { now, reminders } = (await run('reminders.list', {})) as { now: string; reminders: readonly Set[] }
  expect(now).toMatch(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2} Europe\/Berlin$/)
  expect(reminders.map(({ message }) => message)).toEqual(['Call Ann.', 'Report.', 'Look.'])
  expect(await run('reminders.cancel', { id: 'model.call_1_0' })).toEqual({ cancelled: true })
  expect(await session.reminders()).toHaveLength(3)
})

test('a repeated run of a call sets one reminder, also the last that is allowed, and cancels once', async () => {
  const { run, session } = start({ most: 1 })
  for (const attempt of [1, 2])
    await run('reminders.set', { message: 'A', everyMinutes: 5 }, { callId: 'call_9_0', attempt })
  expect(await session.reminders()).toHaveLength(2)
  await run('reminders.cancel', { id: 'model.call_9_0' }, { attempt: 1 })
  expect(await run('reminders.cancel', { id: 'model.call_9_0' }, { attempt: 2 })).toEqual({ cancelled: true })
})

test('a reminder of the program is neither shown nor cancelled', async () => {
  const { run, session } = start()
  await expect(run('reminders.cancel', { id: 'of-the-program' })).rejects.toMatchObject({ code: 'unknown_input' })
  expect(await session.reminders()).toHaveLength(1)
})

test('no time, two times, and one more than are allowed are refused', async () => {
  const { run } = start({ most: 2 })
  await expect(run('reminders.set', { message: 'A' })).rejects.toMatchObject({ code: 'invalid_event' })
  await expect(run('reminders.set', { message: 'A', at: 'x', everyMinutes: 1 })).rejects.toThrow('exactly one')
  for (let serial = 0; serial < 2; serial++) await run('reminders.set', { message: 'A', everyMinutes: 5 })
  await expect(run('reminders.set', { message: 'A', everyMinutes: 5 })).rejects.toMatchObject({ code: 'rate_limited' })
})

test('a person approves a reminder and its end, unless the program decides otherwise', () => {
  const approvals = (options: object): readonly unknown[] => reminderTools(options).map(({ approval }) => approval)
  expect([approvals({}), approvals({ approval: false })]).toEqual([
    [true, false, true],
    [false, false, false],
  ])
})

test.each([{ most: 0 }, { most: 33 }, { zones: 'UTC' }, { zone: 'Berlin' }, { zone: '' }])(
  'the options %o are refused',
  (options) => {
    expect(() => reminderTools(options)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  },
)

test('the tools are those of an agent', () => {
  const model = createScriptedModel({ steps: [] })
  expect(defineAgent({ name: 'a', model, tools: reminderTools() }).tools.map(({ name }) => name)).toEqual([
    'reminders.set',
    'reminders.list',
    'reminders.cancel',
  ])
})
