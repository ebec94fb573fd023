// The session of a delegated call as its caller's program reads it: while it works, while it waits, and from its log.
import { delegate, defineAgent } from '@baton/core'
import type { Agent, Session, SessionEvent } from '@baton/core'
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createManualTime, noUnhandledRejections } from './test-world.test-kit.ts'
import * as kit from './tree.test-kit.ts'

const { acting, afterwards, approveUntil, asks, calls, createAgents, openMemory, passUntil, rest, startProcess } = kit

noUnhandledRejections()

type Child = Awaited<ReturnType<Session['child']>>

/** Reads the events of a child until the reading ends. */
async function readAll(child: Child, from: 'start' | 'now' = 'start'): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = []
  for await (const event of child.events({ from })) events.push(event)
  return events
}

/** Ids of the delegated calls of a log, oldest first. */
async function delegatedIn({ store }: Pick<kit.Disk, 'store'>, session = 's'): Promise<readonly string[]> {
  return (await kit.factsOf(store, session, 'child-begun')).map(({ callId }) => callId)
}

test.each(kit.DISKS)('%s: a call that has ended is read from its log', async (_, openDisk) => {
  const time = createManualTime()
  const disk = await openDisk(time)
  const look = acting('look', () => 'a red door', { effect: 'pure' })
  const { agent } = createAgents(time, { steps: afterwards(calls('look'), 'The door is red.'), tools: [look] })
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  await approveUntil(session, session.send('Which colour?').answer, { time, disk })
  const child = await session.child(await delegatedIn(disk))
  const events = await readAll(child)
  const roles = events.flatMap((event) => (event.type === 'message-added' ? [event.message.role] : []))
  expect(roles).toEqual(['user', 'assistant'])
  expect(events.findLast(({ type }) => type === 'turn-finished')).toMatchObject({
    stop: 'end',
    text: 'The door is red.',
  })
  expect(JSON.stringify(events)).toContain('a red door')
  expect(await readAll(child, 'now')).toEqual([expect.objectContaining({ type: 'live' })])
  const { messages } = await child.messages()
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  const [boss] = await session.messages().then((page) => page.messages)
  expect(boss).toBeDefined()
  expect(await child.info()).toMatchObject({ agent: 'helper', activity: 'idle', model: 'scripted/model' })
})

test('words of a call that works are read as they come, and its events end with it', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const gate = Promise.withResolvers<void>()
  const look = acting('look', async () => await gate.promise, { effect: 'pure' })
  const { agent } = createAgents(time, { steps: afterwards(calls('look'), 'It is red.'), tools: [look] })
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  const { answer } = session.send('Look.')
  await rest(time)
  const child = await session.child(await delegatedIn(disk))
  const reading = readAll(child, 'now')
  await rest(time)
  expect((await child.info()).activity).toBe('running')
  gate.resolve()
  expect((await time.until(answer)).text).toBe('Done.')
  const types = (await time.until(reading)).map(({ type }) => type)
  expect(types).toContain('text')
  expect(types.slice(-2)).toEqual(['turn-finished', 'session'])
})

test('a call below a call is read by the path of both', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const { timers } = time.environment
  const low = createScriptedModel({ steps: [{ text: 'Seven.' }], timers })
  const lowest = defineAgent({ name: 'counter', model: low }) as Agent
  const count = delegate({ agent: lowest, description: 'Counts' })
  const { agent } = createAgents(time, { steps: afterwards(asks('counter'), 'It is seven.'), tools: [count] })
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  await time.until(session.send('Count.').answer)
  const [first = ''] = await delegatedIn(disk)
  const upper = await session.child([first])
  const { messages } = await upper.messages()
  expect(JSON.stringify(messages)).toContain('It is seven.')
  const names = await kit.childrenOf(disk.store)
  const lists = await Promise.all(names.map(async (name) => await delegatedIn(disk, name)))
  const second = lists.flat()[0] ?? ''
  const lower = await session.child([first, second])
  expect(JSON.stringify(await readAll(lower))).toContain('Seven.')
  expect((await lower.info()).agent).toBe('counter')
})

test('a call that waits for a person shows its own request, and only its caller decides', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const pay = acting('pay', () => 'paid', { approval: true })
  const { agent } = createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] })
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  const { answer } = session.send('Pay.')
  await rest(time)
  const child = (await session.child(await delegatedIn(disk))) as Session
  const [asked] = await child.approvals()
  const own = await session.approvals()
  expect(asked?.approvalId).toBe(own[0]?.approvalId)
  const decision = { approvalId: asked?.approvalId ?? '', decision: 'approve' } as const
  await expect(child.decide(decision)).rejects.toMatchObject({ code: 'illegal_input' })
  await expect(child.send('Hurry.').answer).rejects.toMatchObject({ code: 'illegal_input' })
  await expect(child.fork()).rejects.toMatchObject({ code: 'illegal_input' })
  await expect(child.attach()).rejects.toMatchObject({ code: 'illegal_input' })
  await session.decide(decision)
  expect((await time.until(answer)).text).toBe('Done.')
})

test('a restart reads the words that were written before it', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const pay = acting('pay', () => 'paid', { approval: true })
  const create = () => createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] }).agent
  const first = startProcess(time, disk.store, { agent: create() })
  const begun = await first.host.session('s')
  begun.send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
  await rest(time)
  first.die()
  disk.free()
  const { host } = startProcess(time, disk.store, { agent: create() })
  const session = await host.session('s')
  const isAsked = async (): Promise<boolean> => (await session.approvals()).length > 0
  await passUntil(time, isAsked, disk)
  const child = await session.child(await delegatedIn(disk))
  const reading = readAll(child)
  await approveUntil(session, session.turn('m1').answer, { time })
  const events = await time.until(reading)
  expect(events.filter(({ type }) => type === 'approval-requested')).toHaveLength(1)
  expect(events.findLast(({ type }) => type === 'turn-finished')).toMatchObject({ text: 'It is paid.' })
})

test('an agent that has lost its tool still shows what the call did', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const { agent } = createAgents(time, { steps: [{ text: 'Yes.' }] })
  const first = startProcess(time, disk.store, { agent })
  const begun = await first.host.session('s')
  await time.until(begun.send('Ask.').answer)
  await time.until(first.host.stop())
  const model = createScriptedModel({ steps: [{ text: 'Alone.' }], timers: time.environment.timers })
  const { host } = startProcess(time, disk.store, { agent: defineAgent({ name: 'boss', model }) as Agent })
  const session = await host.session('s')
  const child = await session.child(await delegatedIn(disk))
  expect(JSON.stringify(await readAll(child))).toContain('Yes.')
})

test('a path that leads to no session is refused, and a wrong one says what is wrong', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const look = acting('look', () => 'seen', { effect: 'pure' })
  const { agent } = createAgents(time, { steps: [{ text: 'Yes.' }] }, { tools: [look] })
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  const path = (given: unknown) => session.child(given as readonly string[])
  await expect(path(['call_1_0'])).rejects.toMatchObject({ code: 'unknown_session' })
  await expect(path([])).rejects.toThrow('the path is empty')
  await expect(path('call_1_0')).rejects.toThrow('the path must be an array')
  await expect(path(Array.from({ length: 6 }, () => 'c'))).rejects.toThrow('has 6 items; at most 5')
  await expect(path(['c\u0000'])).rejects.toThrow('the path[0]')
  await session.close()
  await expect(path(['call_1_0'])).rejects.toMatchObject({ code: 'session_closed' })
})

test('closing the caller’s handle ends the readings of its children', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const gate = Promise.withResolvers<void>()
  const look = acting('look', async () => await gate.promise, { effect: 'pure' })
  const { agent } = createAgents(time, { steps: afterwards(calls('look'), 'It is red.'), tools: [look] })
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  session.send('Look.').answer.catch(() => {})
  await rest(time)
  const reading = readAll(await session.child(await delegatedIn(disk)))
  await rest(time)
  await session.close()
  expect((await reading).map(({ type }) => type)).toContain('live')
  gate.resolve()
  await rest(time)
})

test('a front finds the members of a session on a child too', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const { agent } = createAgents(time, { steps: [{ text: 'Yes.' }] })
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  await time.until(session.send('Ask.').answer)
  const child = frontOf((await session.child(await delegatedIn(disk))) as Session)
  expect(child.phase).toBe('idle')
  expect(child.lastTurn()).toMatchObject({ turn: 1 })
})
