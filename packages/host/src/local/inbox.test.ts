// Approvals that wait in all sessions of a store, and the people who decide them: by name, by role, by several.
import type { Deciders, Principal, SessionEvent } from '@baton/core/internal'
import { defineAgent, delegate, tool } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createHost } from './create-host.ts'
import { createManualTime, createSharedStore, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

const ANN = { id: 'ann' }
const MIA = { id: 'mia', roles: ['manager'] }
const TOM = { id: 'tom', roles: ['manager'] }
const EVE = { id: 'eve' }

function createShop(
  deciders?: Deciders,
  store = createMemoryStore({ leaseMs: Infinity }),
  time = createManualTime(),
  count = 1,
) {
  const paid: number[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object', properties: { amount: { type: 'number', maximum: 500 } }, required: ['amount'] },
    effect: 'once',
    approval: true,
    ...(deciders && { deciders }),
    describe: (input) => ({ title: `Pay ${(input as { amount: number }).amount}` }),
    execute: (input) => {
      paid.push((input as { amount: number }).amount)
      return 'paid'
    },
  })
  const amounts = count === 1 ? [90] : Array.from({ length: count }, (_, index) => index + 1)
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'Done.' }
        : { calls: amounts.map((amount) => ({ name: 'pay', arguments: { amount } })) },
  })
  const agent = defineAgent({ name: 'shop', model, tools: [pay] })
  const host = createHost({ environment: time.environment, store, agent })
  const ask = async (id: string, principal: Principal = ANN) => {
    const session = await time.until(host.session(id, { principal }))
    const turn = session.send('Pay the invoice.')
    turn.answer.catch(() => {})
    await time.settle()
    return { session, turn }
  }
  const decidable = async (decider: Principal) =>
    (await host.approvals({ decider })).approvals.map(({ session }) => session)
  return { time, host, ask, paid, store, decidable }
}

test('the inbox shows what waits, with what the person sees and who asked, and empties once it is decided', async () => {
  const { time, host, ask, paid } = createShop()
  const { session } = await ask('trip')
  const { approvals } = await host.approvals()
  expect(approvals).toEqual([
    {
      session: 'trip',
      agent: 'shop',
      principal: ANN,
      approvalId: expect.any(String),
      callId: expect.any(String),
      name: 'pay',
      title: 'Pay 90',
      input: { amount: 90 },
      askedMs: expect.any(Number),
      expiresAtMs: (approvals[0]?.askedMs ?? 0) + 600_000,
    },
  ])
  expect((await host.sessions()).sessions).toMatchObject([{ id: 'trip', activity: 'waiting', waitsFor: ['person'] }])
  expect((await host.sessions({ activity: 'waiting' })).sessions).toHaveLength(1)
  await time.until(session.decide({ approvalId: approvals[0]?.approvalId ?? '', decision: 'approve' }))
  await time.settle()
  expect([await host.approvals(), paid]).toEqual([{ approvals: [] }, [90]])
  expect((await host.sessions({ activity: 'waiting' })).sessions).toEqual([])
  await time.until(host.stop())
})

test.each<[string, Deciders | undefined, readonly Principal[], readonly Principal[]]>([
  ['no deciders: the owner alone', undefined, [ANN], [MIA, EVE]],
  ['a role', { roles: ['manager'] }, [MIA, TOM], [ANN, EVE]],
  ['people by id', { people: ['eve'] }, [EVE], [ANN, MIA]],
  ['everybody but the asker', { notAsker: true }, [MIA, EVE], [ANN]],
  [
    'a role without the asker',
    { roles: ['manager'], notAsker: true },
    [MIA],
    [ANN, { ...ANN, roles: ['manager'] }, EVE],
  ],
  ['people without the asker, whom they name', { people: ['ann', 'eve'], notAsker: true }, [EVE], [ANN, MIA]],
])('with %s, those see and decide it', async (_, deciders, may, mayNot) => {
  const { time, host, ask, paid, decidable } = createShop(deciders)
  await ask('trip')
  const [asked] = (await host.approvals()).approvals
  const decision = { approvalId: asked?.approvalId ?? '', decision: 'approve' } as const
  for (const by of mayNot) {
    expect(await decidable(by)).toEqual([])
    await expect(time.until(host.decide('trip', decision, { by }))).rejects.toMatchObject({ code: 'approval_refused' })
  }
  for (const by of may) expect(await decidable(by)).toEqual(['trip'])
  await time.until(host.decide('trip', decision, { by: may[0] ?? EVE }))
  await time.settle()
  expect(paid).toEqual([90])
  await time.until(host.stop())
})

test('a manager edits the sum and approves; the log and the owner’s events name the manager and the note', async () => {
  const { time, host, ask, paid, store } = createShop({ roles: ['manager'], notAsker: true })
  const { session } = await ask('trip')
  const heard: SessionEvent[] = []
  const reading = (async () => {
    for await (const event of session.events({ from: 'now' })) heard.push(event)
  })()
  const [asked] = (await host.approvals({ decider: MIA })).approvals
  const approvalId = asked?.approvalId ?? ''
  const edit = { approvalId, decision: 'edit', input: { amount: 900 } } as const
  await expect(time.until(host.decide('trip', edit, { by: MIA }))).rejects.toMatchObject({ code: 'invalid_arguments' })
  await time.until(host.decide('trip', { ...edit, input: { amount: 70 }, note: 'the discount' }, { by: MIA }))
  await time.settle()
  expect(paid).toEqual([70])
  const decided = { type: 'approval-decided', decision: 'edit', note: 'the discount' }
  expect(heard).toContainEqual(expect.objectContaining({ ...decided, principal: { id: 'mia' } }))
  const facts = []
  for await (const record of store.read('trip', 0)) facts.push(...record.facts)
  expect(facts).toContainEqual(expect.objectContaining({ ...decided, principal: 'mia' }))
  expect(JSON.stringify(facts)).not.toContain('"roles":["manager"],"decision"')
  await time.until(host.stop())
  await reading
})

test('two of three: the first approval is told and waits, the same person counts once, the second pays', async () => {
  const { time, host, ask, paid, decidable } = createShop({ people: ['mia', 'tom', 'eve'], needed: 2 })
  const { session } = await ask('trip')
  const heard: SessionEvent[] = []
  void (async () => {
    for await (const event of session.events({ from: 'now' })) heard.push(event)
  })()
  const [asked] = (await host.approvals()).approvals
  const approvalId = asked?.approvalId ?? ''
  const approve = { approvalId, decision: 'approve' } as const
  await time.until(host.decide('trip', { ...approve, note: 'fine' }, { by: MIA }))
  await time.settle()
  expect([paid, await decidable(MIA), await decidable(TOM)]).toEqual([[], [], ['trip']])
  expect((await host.approvals()).approvals).toMatchObject([{ given: [{ id: 'mia' }] }])
  expect(heard).toContainEqual(
    expect.objectContaining({ type: 'approval-given', principal: { id: 'mia' }, note: 'fine', left: 1 }),
  )
  await expect(time.until(host.decide('trip', approve, { by: MIA }))).rejects.toMatchObject({
    code: 'approval_refused',
  })
  const edit = { approvalId, decision: 'edit', input: { amount: 1 } } as const
  await expect(time.until(host.decide('trip', edit, { by: TOM }))).rejects.toMatchObject({ code: 'approval_refused' })
  await time.until(host.decide('trip', approve, { by: EVE }))
  await time.settle()
  expect(paid).toEqual([90])
  await time.until(host.stop())
})

test('a call with deciders is asked about whatever was remembered, and its decision is not remembered', async () => {
  const time = createManualTime()
  const paid: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object' },
    approval: true,
    execute: (input) => {
      paid.push(input)
      return 'paid'
    },
  })
  const steps = [1, 2, 9, 9].map((euros) => ({ calls: [{ name: 'pay', arguments: { euros } }] }))
  const agent = defineAgent({
    name: 'shop',
    model: createScriptedModel({ steps: [...steps, { text: 'Done.' }] }),
    tools: [pay],
    approvalPolicy: ({ input }) =>
      (input as { euros: number }).euros > 5 ? { ask: 'a large sum', deciders: { roles: ['manager'] } } : undefined,
  })
  const host = createHost({ environment: time.environment, agent })
  const session = await time.until(host.session('trip', { principal: ANN }))
  const turn = session.send('Pay the invoices.')
  await time.settle()
  const [small] = await session.approvals()
  await time.until(session.decide({ approvalId: small?.approvalId ?? '', decision: 'approve', remember: 'tool' }))
  await time.settle()
  expect(paid).toEqual([{ euros: 1 }, { euros: 2 }])
  for (const count of [3, 4]) {
    const [large] = (await host.approvals({ decider: MIA })).approvals
    const approve = { approvalId: large?.approvalId ?? '', decision: 'approve' } as const
    const remembering = time.until(host.decide('trip', { ...approve, remember: 'tool' }, { by: MIA }))
    await expect(remembering).rejects.toMatchObject({ code: 'approval_refused' })
    await time.until(host.decide('trip', approve, { by: MIA }))
    await time.settle()
    expect(paid).toHaveLength(count)
  }
  await time.until(turn.answer)
  await time.until(host.stop())
})

test('the owner cannot edit a small sum that the owner may approve into a large one that a manager decides', async () => {
  const time = createManualTime()
  const paid: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object' },
    approval: true,
    execute: (input) => {
      paid.push(input)
      return 'paid'
    },
  })
  const agent = defineAgent({
    name: 'shop',
    model: createScriptedModel({ steps: [{ calls: [{ name: 'pay', arguments: { euros: 1 } }] }, { text: 'Done.' }] }),
    tools: [pay],
    approvalPolicy: ({ input }) =>
      (input as { euros: number }).euros > 5 ? { ask: 'a large sum', deciders: { roles: ['manager'] } } : undefined,
  })
  const host = createHost({ environment: time.environment, agent })
  const session = await time.until(host.session('trip', { principal: ANN }))
  const turn = session.send('Pay the invoice.')
  await time.settle()
  const [asked] = await session.approvals()
  const edit = { approvalId: asked?.approvalId ?? '', decision: 'edit' } as const
  const enlarging = time.until(session.decide({ ...edit, input: { euros: 900 } }))
  await expect(enlarging).rejects.toMatchObject({ code: 'approval_refused' })
  await time.until(session.decide({ ...edit, input: { euros: 2 } }))
  await time.until(turn.answer)
  expect(paid).toEqual([{ euros: 2 }])
  await time.until(host.stop())
})

test('a policy judges what a decider edits as a call of the session’s owner', async () => {
  const time = createManualTime()
  const judged: string[] = []
  const pay = tool({ name: 'pay', description: 'Pays', input: { type: 'object' }, execute: () => 'paid' })
  const agent = defineAgent({
    name: 'shop',
    model: createScriptedModel({ steps: [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'Done.' }] }),
    tools: [pay],
    approvalPolicy: ({ principal }) => {
      judged.push(principal.id)
      return { ask: 'a payment', deciders: { roles: ['manager'] } }
    },
  })
  const host = createHost({ environment: time.environment, agent })
  const session = await time.until(host.session('trip', { principal: ANN }))
  const turn = session.send('Pay the invoice.')
  await time.settle()
  const [asked] = (await host.approvals({ decider: MIA })).approvals
  const edit = { approvalId: asked?.approvalId ?? '', decision: 'edit', input: { euros: 2 } } as const
  await time.until(host.decide('trip', edit, { by: MIA }))
  await time.until(turn.answer)
  expect(judged).toEqual(['ann', 'ann'])
  await time.until(host.stop())
})

test('one of the deciders denies, the one who approved it does, or the asker takes it back: it is not paid', async () => {
  const { time, host, ask, paid } = createShop({ people: ['mia', 'tom', 'eve'], needed: 2, notAsker: true })
  for (const [session, by] of [
    ['one', TOM],
    ['two', ANN],
    ['three', MIA],
  ] as const) {
    const { turn } = await ask(session)
    const [asked] = (await host.approvals({ session })).approvals
    const deny = { approvalId: asked?.approvalId ?? '', decision: 'deny', reason: 'too much' } as const
    await time.until(host.decide(session, { ...deny, decision: 'approve' }, { by: MIA }))
    await time.until(host.decide(session, deny, { by }))
    await time.until(turn.answer)
  }
  expect(paid).toEqual([])
  await time.until(host.stop())
})

/** An agent that asks a clerk, whose payments wait for these people. */
function createDesk(deciders: Deciders) {
  const time = createManualTime()
  const paid: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object' },
    approval: true,
    deciders,
    execute: () => {
      paid.push('paid')
      return 'paid'
    },
  })
  const model = (call: string) =>
    createScriptedModel({
      steps: ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? { text: 'Done.' }
          : { calls: [{ name: call, arguments: call === 'pay' ? {} : { task: 'Pay.' } }] },
    })
  const clerk = defineAgent({ name: 'clerk', model: model('pay'), tools: [pay] })
  const ask = delegate({ name: 'ask_clerk', description: 'Asks the clerk', agent: clerk })
  const host = createHost({
    environment: time.environment,
    agent: defineAgent({ name: 'desk', model: model('ask_clerk'), tools: [ask] }),
  })
  return { time, host, paid }
}

test.each([true, false])(
  'a request of an agent below is in the inbox with its path, and the root’s session is decided, if the asker can be asked: %s',
  async (asks) => {
    const { time, host, paid } = createDesk({ roles: ['manager'] })
    const session = await time.until(host.session('trip', { principal: ANN }))
    const turn = session.send('Pay the invoice.', { asks })
    await time.pass(1000)
    const [asked] = (await host.approvals({ decider: MIA })).approvals
    expect(asked).toMatchObject({ session: 'trip', agent: 'desk', name: 'pay', path: [{ agent: 'clerk' }] })
    expect((await host.sessions()).sessions).toMatchObject([{ activity: 'waiting', waitsFor: ['person', 'child'] }])
    const approve = { approvalId: asked?.approvalId ?? '', decision: 'approve' } as const
    await expect(time.until(session.decide(approve))).rejects.toMatchObject({ code: 'approval_refused' })
    await time.until(host.decide('trip', approve, { by: MIA }))
    await time.until(turn.answer)
    expect(paid).toEqual(['paid'])
    await time.until(host.stop())
  },
)

test('of two people whom a request of an agent below needs, the first sees it no longer, and the second decides', async () => {
  const { time, host, paid } = createDesk({ people: ['mia', 'tom'], needed: 2 })
  const session = await time.until(host.session('trip', { principal: ANN }))
  const turn = session.send('Pay the invoice.')
  await time.pass(1000)
  for (const by of [MIA, TOM]) {
    expect(paid).toEqual([])
    const [asked] = (await host.approvals({ decider: by })).approvals
    await time.until(host.decide('trip', { approvalId: asked?.approvalId ?? '', decision: 'approve' }, { by }))
    expect((await host.approvals({ decider: by })).approvals).toEqual([])
  }
  await time.until(turn.answer)
  expect(paid).toEqual(['paid'])
  await time.until(host.stop())
})

test('of more requests of a session than a list has room for, each is found in its session and decided', async () => {
  const { time, host, paid, ask } = createShop({ roles: ['manager'] }, undefined, undefined, 70)
  const { session } = await ask('trip')
  expect((await host.approvals({ limit: 200 })).approvals).toHaveLength(64)
  const { approvals } = await host.approvals({ session: 'trip' })
  expect(approvals).toHaveLength(70)
  const { approvalId = '', input } = approvals.at(-1) ?? {}
  expect(input).toEqual({ amount: 70 })
  await time.until(host.decide('trip', { approvalId, decision: 'approve' }, { by: MIA }))
  await time.settle()
  expect(paid).toEqual([70])
  expect((await host.approvals({ session: 'trip', decider: EVE })).approvals).toEqual([])
  expect(await session.approvals()).toHaveLength(69)
  await time.until(host.stop())
})

test('the inbox comes in pages from either end, by principal, agent and tool, each request once', async () => {
  const { time, host, ask } = createShop({ people: ['eve'], roles: ['manager'] })
  for (const index of [0, 1, 2, 3, 4]) {
    await ask(`s${index}`, { id: index === 2 ? 'bob' : 'ann' })
    await time.pass(5)
  }
  const all = async (query: object): Promise<readonly string[]> => {
    const found: string[] = []
    for (let cursor: string | undefined; ;) {
      const page = await host.approvals({ ...query, limit: 2, ...(cursor !== undefined && { cursor }) })
      found.push(...page.approvals.map(({ session }) => session))
      cursor = page.cursor
      if (cursor === undefined) return found
    }
  }
  expect(await all({})).toEqual(['s4', 's3', 's2', 's1', 's0'])
  expect(await all({ order: 'oldest' })).toEqual(['s0', 's1', 's2', 's3', 's4'])
  expect(await all({ principal: ANN })).toEqual(['s4', 's3', 's1', 's0'])
  expect(await all({ decider: { id: 'eve', roles: ['manager'] } })).toEqual(['s4', 's3', 's2', 's1', 's0'])
  expect(await all({ decider: MIA, principal: { id: 'bob' }, tool: 'pay', agent: 'shop' })).toEqual(['s2'])
  expect([await all({ tool: 'other' }), await all({ decider: ANN })]).toEqual([[], []])
  await time.pass(600_000)
  expect(await all({})).toEqual([])
  await time.until(host.stop())
})

test('a request whose server died waits in the inbox of the next one, and is decided there', async () => {
  const store = createMemoryStore()
  const first = createShop({ roles: ['manager'] }, store)
  await first.ask('trip')
  store.expireLeases() // and the first process does nothing more
  const next = createShop({ roles: ['manager'] }, store)
  const [asked] = (await next.host.approvals({ decider: MIA })).approvals
  const edit = { approvalId: asked?.approvalId ?? '', decision: 'edit', input: { amount: 70 } } as const
  await next.time.until(next.host.decide('trip', edit, { by: MIA }))
  await next.time.settle()
  expect([first.paid, next.paid, await next.decidable(MIA)]).toEqual([[], [70], []])
  await next.time.until(next.host.stop())
})

test('a host that shares the store lists a request, and decides it once the holder has let go of the session', async () => {
  const { store, time } = createSharedStore()
  const holder = createShop({ roles: ['manager'] }, store, time)
  await holder.ask('trip')
  const other = createShop({ roles: ['manager'] }, store, time)
  expect(await other.decidable(MIA)).toEqual(['trip'])
  const [asked] = (await other.host.approvals({ decider: MIA })).approvals
  const decide = async (): Promise<unknown> =>
    await other.time.until(
      other.host.decide('trip', { approvalId: asked?.approvalId ?? '', decision: 'approve' }, { by: MIA }),
    )
  await expect(decide()).rejects.toMatchObject({ code: 'session_held' })
  await holder.time.until(holder.host.stop())
  await decide()
  await other.time.settle()
  expect([holder.paid, other.paid]).toEqual([[], [90]])
  await other.time.until(other.host.stop())
})

test('an inbox that is watched hears at once what this host asks, and after a moment what another one does', async () => {
  const store = createMemoryStore()
  const { time, host, ask } = createShop({ roles: ['manager'] }, store)
  const other = createShop({ roles: ['manager'] }, store)
  const pages = host.watchApprovals({ decider: MIA })[Symbol.asyncIterator]()
  const next = async (): Promise<readonly string[] | undefined> =>
    (await time.until(pages.next())).value?.approvals.map(({ session }: { readonly session: string }) => session)
  expect(await next()).toEqual([])
  const hearing = pages.next()
  await ask('here')
  expect((await hearing).value?.approvals).toMatchObject([{ session: 'here' }])
  const later = next()
  await other.time.pass(1)
  await other.ask('there')
  expect(await later).toEqual(['there', 'here'])
  const ending = pages.next()
  await time.until(host.stop())
  expect(await ending).toEqual({ done: true, value: undefined })
  await other.time.until(other.host.stop())
})

test.each([
  ['without anybody', {}, 'deciders need people, roles or notAsker: true'],
  ['more than there are', { people: ['mia'], needed: 2 }, 'only 1 people may decide'],
  ['a misspelt field', { role: 'manager' }, 'role'],
])('a tool with deciders %s is refused', (_, deciders, message) => {
  const refusal = expect.objectContaining({ code: 'invalid_tool', message: expect.stringContaining(message) })
  expect(() => createShop(deciders as Deciders)).toThrow(refusal)
})

test('a role in place of a list of roles is refused everywhere, for its letters would be the roles', async () => {
  const { time, host } = createShop({ roles: ['manager'] })
  const mia = { id: 'mia', roles: 'manager' } as never
  const refusal = (field: string): object => ({
    code: 'invalid_option',
    message: `${field}.roles must be an array of names, not "manager"`,
    hint: "Write { id, roles: ['manager'] }.",
  })
  const approve = { approvalId: 'x', decision: 'approve' } as const
  await expect(host.approvals({ decider: mia })).rejects.toMatchObject(refusal('decider'))
  await expect(time.until(host.decide('trip', approve, { by: mia }))).rejects.toMatchObject(refusal('by'))
  await expect(time.until(host.session('trip', { principal: mia }))).rejects.toMatchObject(refusal('principal'))
})

test('a decision in nobody’s name, or under the name of another method, says whom to name', async () => {
  const { time, host } = createShop()
  const decide = (...options: readonly unknown[]) =>
    time.until(host.decide('trip', { approvalId: 'x', decision: 'approve' }, ...(options as [never])))
  await expect(decide()).rejects.toMatchObject({
    message: 'by must be an object with an id, not undefined',
    hint: 'Write by: { id: userId }.',
  })
  await expect(decide({ principal: MIA })).rejects.toMatchObject({ hint: 'Write "by" instead.' })
  await expect(host.approvals({ by: MIA } as never)).rejects.toMatchObject({ hint: 'Write "decider" instead.' })
  await expect(host.approvals({ role: 'manager' } as never)).rejects.toMatchObject({
    hint: "Write decider: { id: userId, roles: ['manager'] }.",
  })
})
