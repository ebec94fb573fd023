// The session of a delegated call as its caller's program reads it: while it works, while it waits, and from its log.
import { delegate, defineAgent } from '@baton/core'
import type { Agent, Session, SessionEvent } from '@baton/core'
import type { ModelRequest } from '@baton/core/internal'
import { frontOf } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
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
  expect(await child.info()).toMatchObject({ agent: 'helper', activity: 'idle', model: 'scripted/model' })
})

/** A session whose helper looks until the gate opens. */
async function openLooking() {
  const time = createManualTime()
  const disk = openMemory()
  const gate = Promise.withResolvers<void>()
  const look = acting('look', async () => await gate.promise, { effect: 'pure' })
  const { agent } = createAgents(time, { steps: afterwards(calls('look'), 'It is red.'), tools: [look] })
  const { host } = startProcess(time, disk.store, { agent })
  return { time, disk, gate, host, session: await host.session('s') }
}

test('words of a call that works are read as they come, and its events end with it', async () => {
  const { time, disk, gate, session } = await openLooking()
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

test('a program that opens the session of a call at its first event waits until it is there', async () => {
  const { time, gate, session } = await openLooking()
  const opening = (async () => {
    for await (const event of session.events())
      if (event.type === 'call' && event.call.child) return await session.child([event.call.callId])
    throw new Error('no call came')
  })()
  const { answer } = session.send('Look.')
  const child = await time.until(opening)
  const reading = readAll(child)
  gate.resolve()
  await time.until(answer)
  expect((await time.until(reading)).at(-2)).toMatchObject({ type: 'turn-finished', text: 'It is red.' })
})

test('a cursor that a child’s log does not have is refused, and loses no events in silence', async () => {
  const { time, disk, gate, session } = await openLooking()
  const { answer } = session.send('Look.')
  await rest(time)
  const from = { pos: 0, children: [{ path: [...(await delegatedIn(disk))], pos: 99 }] }
  await expect(readTurn(session.events({ from, children: true }))).rejects.toMatchObject({ code: 'invalid_event' })
  gate.resolve()
  await time.until(answer)
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
  const { time, disk, gate, session } = await openLooking()
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

/** A tree of three levels: the boss asks two helpers at once, and each asks a counter that looks. */
async function openTall() {
  const time = createManualTime()
  const disk = openMemory()
  const { timers } = time.environment
  const look = acting('look', () => 'seen', { effect: 'pure' })
  const low = createScriptedModel({ steps: afterwards(calls('look'), 'Seven.'), timers })
  const counter = defineAgent({ name: 'counter', model: low, tools: [look] }) as Agent
  const count = delegate({ agent: counter, description: 'Counts' })
  const both = { calls: ['One.', 'Two.'].map((task) => ({ name: 'helper', arguments: { task } })) }
  const create = () =>
    createAgents(
      time,
      { steps: afterwards(asks('counter'), 'It is seven.'), tools: [count] },
      { steps: afterwards(both, 'Done.') },
    ).agent
  const { host } = startProcess(time, disk.store, { agent: create() })
  return { time, disk, host, session: await host.session('s') }
}

const placeOf = ({ path = [] }: SessionEvent): string => path.map(({ agent }) => agent).join(' › ')

/** Takes events until the session itself finishes a turn. */
async function readTurn(stream: AsyncIterable<SessionEvent>): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = []
  for await (const event of stream) {
    events.push(event)
    if (event.type === 'turn-finished' && placeOf(event) === '') break
  }
  return events
}

test('one stream has the events of all levels: what a child says comes while its call runs', async () => {
  const { time, session } = await openTall()
  const reading = readTurn(session.events({ children: true }))
  await time.until(session.send('Count.').answer)
  const events = await time.until(reading)
  const texts = events.flatMap((event) => (event.type === 'text' ? [`${placeOf(event)}: ${event.text}`] : []))
  expect(texts.toSorted()).toEqual([
    ': Done.',
    'helper › counter: Seven.',
    'helper › counter: Seven.',
    'helper: It is seven.',
    'helper: It is seven.',
  ])
  for (const callId of new Set(events.flatMap(({ path = [] }) => path.slice(0, 1).map((step) => step.callId)))) {
    const ownOf = (event: SessionEvent) =>
      event.type === 'call' && !event.path && event.call.callId === callId && event.call
    const first = events.findIndex((event) => ownOf(event))
    const last = events.findLastIndex((event) => ownOf(event))
    const below = events.flatMap(({ path }, at) => (path?.[0]?.callId === callId ? [at] : []))
    expect(below.length).toBeGreaterThan(5)
    expect(Math.min(...below)).toBeGreaterThan(first)
    expect(Math.max(...below)).toBeLessThan(last)
  }
})

/** Returns what a reader has of each session, with the pieces of a text joined. */
function contentOf(events: readonly SessionEvent[]): Readonly<Record<string, string>> {
  const content = new Map<string, string>()
  for (const event of events) {
    const { cursor: _, path = [], ...body } = event
    if (body.type === 'live') continue
    // The root has the requests of all.
    const isRequest = /^(approval|question|request)-/.test(body.type)
    const place = isRequest ? 'requests' : path.map(({ callId }) => callId).join('/')
    const told = body.type === 'text' ? body.text : `\n${JSON.stringify(body)}\n`
    content.set(place, (content.get(place) ?? '') + told)
  }
  return Object.fromEntries(content)
}

test('a reader that continues behind any event misses nothing and gets nothing twice, while it happens and afterwards', async () => {
  const { time, session } = await openTall()
  const reading = readTurn(session.events({ from: 'start', children: true }))
  await time.until(session.send('Count.').answer)
  const events = await time.until(reading)
  const whole = contentOf(events)
  expect(contentOf(await readTurn(session.events({ from: 'start', children: true })))).toEqual(whole)
  for (const [at, { cursor }] of events.entries()) {
    if (at === events.length - 1) break
    const stored = JSON.parse(JSON.stringify(cursor)) as typeof cursor
    const rest = await readTurn(session.events({ from: stored, children: true }))
    expect([at, contentOf([...events.slice(0, at + 1), ...rest])]).toEqual([at, whole])
  }
})

test('live readers that come at any moment of a tree agree with one that was there from the start', async () => {
  const { time, session } = await openTall()
  const all = readTurn(session.events({ from: 'start', children: true }))
  const { answer } = session.send('Count.')
  const late: Promise<readonly SessionEvent[]>[] = []
  let isOver = false
  answer.finally(() => (isOver = true)).catch(() => {})
  while (!isOver) {
    late.push(readTurn(session.events({ from: 'start', children: true })))
    for (let turns = 0; turns < 10; turns += 1) await Promise.resolve()
    if (late.length % 10 === 0) await time.settle()
  }
  const whole = contentOf(await time.until(all))
  for (const reading of late) expect(contentOf(await time.until(reading))).toEqual(whole)
  expect(late.length).toBeGreaterThan(2)
})

test('what a child asks comes once, from its caller, and the call’s events from the child', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const pay = acting('pay', () => 'paid', { approval: true })
  const { agent } = createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] })
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  const reading = readTurn(session.events({ children: true }))
  await approveUntil(session, session.send('Pay.').answer, { time })
  const events = await time.until(reading)
  const asked = events.filter(({ type }) => type === 'approval-requested' || type === 'approval-decided')
  expect(asked.map(({ type }) => type)).toEqual(['approval-requested', 'approval-decided'])
  const paid = events.flatMap((event) => (event.type === 'call' && event.call.name === 'pay' ? [event] : []))
  expect(new Set(paid.map(placeOf))).toEqual(new Set(['helper']))
  expect(paid.at(-1)?.call.result).toMatchObject({ type: 'ok' })
})

test('a reader of children that leaves while they work, or whose signal aborts, ends at once and leaves nothing', async () => {
  const { time, gate, host, session } = await openLooking()
  const controller = new AbortController()
  const aborted = readTurn(session.events({ from: 'start', children: true, signal: controller.signal }))
  const closed = readTurn(session.events({ from: 'start', children: true }))
  const { answer } = session.send('Look.')
  await rest(time)
  controller.abort()
  expect((await aborted).some((event) => placeOf(event) === 'helper')).toBe(true)
  const other = await host.session('s')
  await session.close()
  expect((await closed).some((event) => placeOf(event) === 'helper')).toBe(true)
  gate.resolve()
  await time.until(answer.catch(() => undefined))
  await other.close()
})

test('a new process continues a reading behind the events of the one before', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const pay = acting('pay', () => 'paid', { approval: true })
  const create = () => createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] }).agent
  const first = startProcess(time, disk.store, { agent: create() })
  const begun = await first.host.session('s')
  const before: SessionEvent[] = []
  void (async () => {
    for await (const event of begun.events({ from: 'start', children: true })) before.push(event)
  })()
  begun.send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
  await rest(time)
  first.die()
  disk.free()
  const { host } = startProcess(time, disk.store, { agent: create() })
  const session = await host.session('s')
  const { cursor } = before.at(-1) ?? { cursor: { pos: 0 } }
  const reading = readTurn(session.events({ from: cursor, children: true }))
  await approveUntil(session, session.turn('m1').answer, { time })
  const events = [...before, ...(await time.until(reading))]
  const again = await readTurn(session.events({ from: 'start', children: true }))
  expect(contentOf(events)).toEqual(contentOf(again))
  expect(events.filter((event) => event.type === 'turn-finished').map(placeOf)).toEqual(['helper', ''])
})

/** The helper works in the background over two turns of its caller, until the test lets it go on. */
async function openBackground() {
  const time = createManualTime()
  const disk = openMemory()
  const gate = Promise.withResolvers<void>()
  const look = acting('look', async () => await gate.promise, { effect: 'pure' })
  const steps = ({ messages }: ModelRequest): ScriptedStep => {
    const last = JSON.stringify(messages.at(-1))
    if (last.includes('runs in the background')) return { text: 'It looks.' }
    if (last.includes('[Task]')) return { text: 'It is red.' }
    return messages.some(({ role }) => role === 'tool') ? { text: 'Not yet.' } : asks('helper')
  }
  const below = { steps: afterwards(calls('look'), 'Red.'), tools: [look] }
  const { agent } = createAgents(time, below, { rules: { background: true }, steps })
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  await time.until(session.send('Look.').answer)
  await time.until(session.send('And?').answer)
  return { time, session, gate }
}

async function readWake(stream: AsyncIterable<SessionEvent>): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = []
  for await (const event of stream) {
    events.push(event)
    if (event.type === 'turn-finished' && !event.path && event.turn === 3) break
  }
  return events
}

test('what an agent in the background says comes before the end of its call, from wherever a reader begins', async () => {
  const { time, session, gate } = await openBackground()
  const { next } = await session.messages()
  const options = (['start', 'turn', 'now', next] as const).map((from) => ({ from, children: true }) as const)
  const early = options.map((one) => readWake(session.events(one)))
  await rest(time)
  gate.resolve()
  const readings = await Promise.all(early.map((one) => time.until(one)))
  for (const from of ['start', next] as const)
    readings.push(await time.until(readWake(session.events({ from, children: true }))))
  for (const events of readings) {
    const said = events.findIndex((event) => event.type === 'text' && event.path && event.text === 'Red.')
    const ended = events.findIndex(
      (event) => event.type === 'call' && !event.path && event.call.child?.status === 'ended',
    )
    const told = events.findIndex((event) => event.type === 'text' && !event.path && event.text === 'It is red.')
    expect([said >= 0, said < ended, ended < told]).toEqual([true, true, true])
    expect(events.at(-1)?.cursor.children).toBeUndefined()
  }
})

test('a reader of an agent in the background continues behind any event, across turns of its caller', async () => {
  const { time, session, gate } = await openBackground()
  gate.resolve()
  const events = await time.until(readWake(session.events({ from: 'start', children: true })))
  const whole = contentOf(events)
  for (const [at, { cursor }] of events.entries()) {
    if (at === events.length - 1) break
    const stored = JSON.parse(JSON.stringify(cursor)) as typeof cursor
    const rest = await time.until(readWake(session.events({ from: stored, children: true })))
    expect([at, contentOf([...events.slice(0, at + 1), ...rest])]).toEqual([at, whole])
  }
})
