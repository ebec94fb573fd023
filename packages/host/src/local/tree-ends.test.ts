// Children that have to end, or whose agent changes: deadlines, interrupts, rewinds, removals, limits, and other versions of
// the program. Expected outcomes are those of the table of situations.
import { defineAgent, delegate } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { noUnhandledRejections } from './test-world.test-kit.ts'
import * as kit from './tree.test-kit.ts'

noUnhandledRejections()

const { acting, afterwards, asks, calls, createAgents, createManualTime } = kit
const { factsOf, openMemory, rest, startProcess, toldTo } = kit

type Below = Parameters<typeof createAgents>[1]
type Above = Parameters<typeof createAgents>[2]

async function open(below: Below, above: Above = {}) {
  const time = createManualTime()
  const disk = openMemory()
  const tree = createAgents(time, below, above)
  const process = startProcess(time, disk.store, { agent: tree.agent })
  const session = await process.host.session('s')
  return { time, disk, store: disk.store, process, session, ...tree }
}

/** A payment that hangs until the test lets it go. */
function createSlowPay(more: object = {}) {
  const gate = Promise.withResolvers<string>()
  const state = { started: 0 }
  const pay = acting(
    'pay',
    async () => {
      state.started += 1
      return await gate.promise
    },
    { timeoutMs: 3_600_000, ...more },
  )
  return { pay, state, finish: () => gate.resolve('paid') }
}

test('a call that takes too long after its child began a payment is told as unknown, and says what was begun', async () => {
  const { pay } = createSlowPay()
  const below = { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] }
  const { time, session, boss, store } = await open(below, { rules: { timeoutMs: 5000 } })
  const { answer } = session.send('Pay.')
  await time.pass(30_000)
  await time.until(answer)
  const settled = (await factsOf(store, 's', 'call-settled')).filter(({ via }) => via === undefined)
  expect(settled).toHaveLength(1)
  expect(settled[0]?.settlement.type).toBe('unknown')
  expect(toldTo(boss)).toContain('pay')
})

test('the decision about a child that has to end is refused, and nothing runs', async () => {
  let ran = 0
  const pay = acting('pay', () => `paid ${(ran += 1)}`, { approval: true })
  const { time, session } = await open({ steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] })
  session.send('Pay.').answer.catch(() => {})
  await rest(time)
  const [approval] = await session.approvals()
  const interrupted = session.interrupt()
  const decided = session.decide({ approvalId: approval?.approvalId ?? '', decision: 'approve' })
  await expect(decided).rejects.toMatchObject({ code: 'approval_refused' })
  await interrupted
  await time.pass(60_000)
  expect(ran).toBe(0)
  expect(await session.approvals()).toEqual([])
})

test('a decision before the end: the call may have begun, and what is told agrees with the world', async () => {
  let ran = 0
  const pay = acting('pay', () => `paid ${(ran += 1)}`, { approval: true })
  const { time, session, store } = await open({ steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] })
  session.send('Pay.').answer.catch(() => {})
  await rest(time)
  const [approval] = await session.approvals()
  const decided = session.decide({ approvalId: approval?.approvalId ?? '', decision: 'approve' })
  await decided
  await session.interrupt()
  await time.pass(60_000)
  const [closed] = await factsOf(store, 's', 'child-closed')
  expect(closed?.did.calls.map(({ name }) => name)).toEqual(ran === 1 ? ['pay'] : [])
  const [settled] = (await factsOf(store, 's', 'call-settled')).filter(({ via }) => via === undefined)
  const said = settled?.settlement
  const isHidden = ran === 1 && said?.type === 'cancelled' && said.begun !== true
  expect(isHidden).toBe(false)
})

test('two devices decide the same request of a grandchild: the first one counts', async () => {
  const time = createManualTime()
  const { store } = openMemory()
  let ran = 0
  const pay = acting('pay', () => `paid ${(ran += 1)}`, { approval: true })
  const clerk = createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] }).agent
  const boss = defineAgent({
    name: 'chief',
    model: createScriptedModel({ steps: afterwards(asks('boss'), 'Done.') }),
    tools: [delegate({ agent: clerk, description: 'Helps' })],
  })
  const { host } = startProcess(time, store, { agent: boss })
  const phone = await host.session('s')
  const desk = await host.session('s')
  const { answer } = phone.send('Pay.')
  await rest(time)
  const [approval] = await phone.approvals()
  expect(approval?.path?.map(({ agent }) => agent)).toEqual(['boss', 'helper'])
  const approvalId = approval?.approvalId ?? ''
  const outcomes = await Promise.allSettled([
    phone.decide({ approvalId, decision: 'deny' }),
    desk.decide({ approvalId, decision: 'approve' }),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  await time.until(answer)
  expect(ran).toBe(0)
})

test('a limit of the caller’s tokens that one of three children passes ends all of them', async () => {
  const usage = { inputTokens: 900, outputTokens: 900 }
  const three = Array.from({ length: 3 }, (_, at) => ({ name: 'helper', arguments: { task: `Task ${at}.` } }))
  const steps: Below['steps'] = ({ messages }) =>
    JSON.stringify(messages).includes('Task 0') ? { text: 'Helped.', usage } : { text: 'late', pieceMs: 300_000 }
  const { time, session, store } = await open(
    { steps },
    { steps: afterwards({ calls: three }, 'Done.'), more: { limits: { turnTokens: 1500 } } },
  )
  await expect(time.until(session.send('Go.').answer)).rejects.toMatchObject({ code: 'turn_tokens_exceeded' })
  await time.pass(60_000)
  const ending = await factsOf(store, 's', 'child-ending')
  expect(ending.map(({ reason }) => reason)).toEqual(['limit', 'limit'])
  expect(await factsOf(store, 's', 'child-closed')).toHaveLength(3)
})

test('a child that meets its own grant fails, and its caller reads why and what it did', async () => {
  const usage = { inputTokens: 600, outputTokens: 600 }
  const note = acting('note', () => 'noted')
  const steps: Below['steps'] = ({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { ...calls('note'), usage } : { ...calls('note'), usage }
  const { time, session, boss } = await open({ steps, tools: [note] }, { rules: { limits: { tokens: 1000 } } })
  expect((await time.until(session.send('Go.').answer)).text).toBe('Done.')
  expect(toldTo(boss)).toMatch(/token/i)
  expect(toldTo(boss)).toContain('note (ok)')
})

test('a rewind over a running child: nothing of it appears later, and what it used is counted', async () => {
  const usage = { inputTokens: 100, outputTokens: 100 }
  const { pay, finish, state } = createSlowPay()
  const below = { steps: afterwards({ ...calls('pay'), usage }, 'It is paid.'), tools: [pay] }
  const above: Above = {
    steps: ({ messages }) => (JSON.stringify(messages).includes('Other.') ? { text: 'Other.' } : asks('helper')),
  }
  const { time, session, store } = await open(below, above)
  session.send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
  await rest(time)
  expect(state.started).toBe(1)
  await session.rewind({ message: 'm1', interrupt: true })
  finish()
  await time.pass(60_000)
  expect((await time.until(session.send('Other.').answer)).text).toBe('Other.')
  const { messages } = await session.messages()
  expect(JSON.stringify(messages)).not.toContain('paid')
  expect((await factsOf(store, 's', 'child-ending')).map(({ reason }) => reason)).toHaveLength(1)
  expect(await factsOf(store, 's', 'child-closed')).toHaveLength(1)
  expect(await factsOf(store, 's', 'child-closed')).toMatchObject([{ spent: { tokens: 200 } }])
})

test('a copy made while a child runs ends where the session last rested, and does not drive the child', async () => {
  const { pay, finish, state } = createSlowPay()
  const below = { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] }
  const steps: Below['steps'] = ({ messages }) => {
    const last = JSON.stringify(messages.at(-1))
    return last.includes('Hello.') ? { text: 'Hello.' } : last.includes('Pay.') ? asks('helper') : { text: 'Done.' }
  }
  const { time, session, process, store } = await open(below, { steps })
  await time.until(session.send('Hello.').answer)
  const { answer } = session.send('Pay.')
  await rest(time)
  const copied = await session.fork()
  const copy = await process.host.session(copied)
  await time.pass(2000)
  expect((await copy.info()).activity).toBe('idle')
  expect((await copy.messages()).messages).toHaveLength(2)
  expect(await kit.childrenOf(store, copied)).toEqual([])
  finish()
  expect((await time.until(answer)).text).toBe('Done.')
  expect(state.started).toBe(1)
})

test('removal while children run: nothing of the tree is left, and nothing is written later', async () => {
  const { pay, finish } = createSlowPay()
  const below = { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] }
  const { time, session, process, store } = await open(below)
  session.send('Pay.').answer.catch(() => {})
  await rest(time)
  const [child = ''] = await kit.childrenOf(store)
  await time.until(process.host.remove('s'))
  finish()
  await time.pass(60_000)
  expect(await kit.childrenOf(store)).toEqual([])
  expect(await kit.recordsOf(store, child)).toEqual([])
  expect(await kit.recordsOf(store, 's')).toEqual([])
  await expect(process.host.session(child)).rejects.toMatchObject({ code: 'illegal_input' })
})

test.each([
  ['has an effect', 'once', true],
  ['has none', 'pure', false],
] as const)(
  'a new version renames the delegating tool, and the child %s: its call settles',
  async (_, effect, isUnknown) => {
    const time = createManualTime()
    const disk = openMemory()
    const work = acting('work', () => new Promise(() => {}), { effect, timeoutMs: 3_600_000 })
    const below = { steps: afterwards(calls('work'), 'Worked.'), tools: [work] }
    const first = startProcess(time, disk.store, { agent: createAgents(time, below).agent })
    ;(await first.host.session('s')).send('Go.', { inputId: 'm1' }).answer.catch(() => {})
    await rest(time)
    first.die()
    disk.free()
    const { agent, boss } = createAgents(time, below, { rules: { name: 'other' } })
    const second = startProcess(time, disk.store, { agent })
    const session = await second.host.session('s')
    expect((await time.until(session.send('Go.', { inputId: 'm1' }).answer)).text).toBe('Done.')
    await time.pass(60_000)
    expect((await factsOf(disk.store, 's', 'child-lost')).map(({ code }) => code)).toEqual(['tool_gone'])
    const settled = await factsOf(disk.store, 's', 'call-settled')
    expect(settled).toHaveLength(1)
    expect(settled[0]?.settlement.type === 'unknown').toBe(isUnknown)
    expect(toldTo(boss)).not.toBe('')
  },
)

test('a new version lacks the child’s tool while its approval is open: the request is withdrawn, and nothing runs', async () => {
  const time = createManualTime()
  const disk = openMemory()
  let ran = 0
  const pay = acting('pay', () => `paid ${(ran += 1)}`, { approval: true })
  const below = { steps: afterwards(calls('pay'), 'I could not.') }
  const first = startProcess(time, disk.store, { agent: createAgents(time, { ...below, tools: [pay] }).agent })
  ;(await first.host.session('s')).send('Go.', { inputId: 'm1' }).answer.catch(() => {})
  await rest(time)
  first.die()
  disk.free()
  const { agent, boss } = createAgents(time, below)
  const second = startProcess(time, disk.store, { agent })
  const session = await second.host.session('s')
  await time.until(session.send('Go.', { inputId: 'm1' }).answer)
  expect(toldTo(boss)).toContain('I could not.')
  expect(await session.approvals()).toEqual([])
  expect(ran).toBe(0)
})

test('another agent of the caller while a child runs: the child works on with its new version', async () => {
  const { pay, finish } = createSlowPay()
  const { time, session, process } = await open({ steps: afterwards(calls('pay'), 'The old one paid.'), tools: [pay] })
  const { answer } = session.send('Pay.')
  await rest(time)
  const { agent, boss } = createAgents(
    time,
    { steps: () => ({ text: 'The new one paid.' }), tools: [pay] },
    { tools: [acting('more', () => 'more')] },
  )
  await process.host.session('s', { agent })
  finish()
  await time.until(answer)
  expect(toldTo(boss)).toContain('The new one paid.')
})

test('a changed policy of the caller holds for a child that is already running', async () => {
  const { pay, finish } = createSlowPay()
  const mail = acting('mail', () => 'sent')
  const steps: Below['steps'] = ({ messages }) => {
    const last = JSON.stringify(messages.at(-1))
    return last.includes('Do it.') ? calls('pay') : last.includes('"paid"') ? calls('mail') : { text: 'Over.' }
  }
  const below = { steps, tools: [pay, mail] }
  const { time, session, process, helper } = await open(below)
  const { answer } = session.send('Pay.')
  await rest(time)
  const changed = createAgents(time, below, {
    more: { approvalPolicy: ({ tool: { name } }) => (name === 'mail' ? { deny: 'no mail today' } : undefined) },
  })
  await process.host.session('s', { agent: changed.agent })
  finish()
  await time.until(answer)
  expect(toldTo(changed.helper.requests.length > 0 ? changed.helper : helper)).toContain('no mail today')
})

test('what a child has used after its caller’s turn is over is counted', async () => {
  const usage = { inputTokens: 500, outputTokens: 0 }
  const { pay, finish } = createSlowPay({ onInterrupt: 'finish' })
  const below = { steps: afterwards({ ...calls('pay'), usage }, 'It is paid.'), tools: [pay] }
  const { time, session, store } = await open(below, { more: { limits: { turnMs: 10_000 } } })
  await expect(time.until(session.send('Pay.').answer)).rejects.toMatchObject({ code: 'turn_time_exceeded' })
  finish()
  await time.pass(120_000)
  expect(await factsOf(store, 's', 'child-closed')).toMatchObject([{ spent: { tokens: 500 } }])
})

test('a question at a root without anybody to ask is declined at once, and the child goes on', async () => {
  const ask = acting('ask', async (_, context) =>
    JSON.stringify(await context.ask({ message: 'Which?', schema: kit.EMPTY })),
  )
  const { time, session, helper } = await open({ steps: afterwards(calls('ask'), 'I chose.'), tools: [ask] })
  const begun = time.nowMs()
  await time.until(session.send('Go.', { asks: false }).answer)
  expect(time.nowMs() - begun).toBeLessThan(5000)
  expect(toldTo(helper)).toContain('no connected client can ask the user')
})

test('an approval of a child that nobody decides expires at the root, and the child reads it', async () => {
  const pay = acting('pay', () => 'paid', { approval: true })
  const { time, session, helper, store } = await open({
    steps: afterwards(calls('pay'), 'Nobody came.'),
    tools: [pay],
    more: { limits: { approvalMs: 60_000 } },
  })
  const { answer } = session.send('Pay.')
  await time.pass(120_000)
  await time.until(answer)
  expect(toldTo(helper)).toMatch(/expired|time/i)
  expect(await session.approvals()).toEqual([])
  const [asked] = await factsOf(store, 's', 'request-relayed')
  const [withdrawn, ...more] = await factsOf(store, 's', 'request-withdrawn')
  expect(withdrawn).toMatchObject({ id: asked?.id, reason: 'expired', undecided: asked?.asking.callId })
  expect(more).toEqual([])
})
