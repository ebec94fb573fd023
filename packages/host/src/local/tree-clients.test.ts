// Client tools, questions and pictures of agents below, with clients that come, go, and take what they can run.
import type { Session } from '@baton/core'
import { tool } from '@baton/core'
import type { CallView, LeaseClient } from '@baton/core/internal'
import { frontOf } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { createManualTime, noUnhandledRejections } from './test-world.test-kit.ts'
import { acting, calls, createAgents, openMemory, passUntil, recordsOf, rest, startProcess } from './tree.test-kit.ts'
import * as kit from './tree.test-kit.ts'

noUnhandledRejections()

const LEASE_MS = 5000

/** A boss whose helper calls the photo tool of a client. */
async function openPhoto({ effect = 'once', more = {} }: { effect?: 'once' | 'pure'; more?: object } = {}) {
  const time = createManualTime()
  const photo = tool({ name: 'photo', description: 'photo', input: kit.EMPTY, effect, timeoutMs: 60_000, ...more })
  const { agent, helper } = createAgents(time, { steps: kit.afterwards(calls('photo'), 'A cat.'), tools: [photo] })
  const disk = openMemory()
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  const attach = (name: string): Promise<LeaseClient> =>
    frontOf(session).client({ client: name, leaseMs: LEASE_MS, runs: ['photo'] })
  const read = (): string => JSON.stringify(helper.requests.at(-1)?.messages.at(-1))
  return { time, session, host, disk, attach, read }
}

/** The newest view of the photo's call. */
async function callOf(session: Session): Promise<CallView | undefined> {
  let newest: CallView | undefined
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'live') break
    if (event.type === 'call' && event.call.name === 'photo') newest = event.call
  }
  return newest
}

test('the holder of an offer below goes away before it has claimed it: the next client gets it', async () => {
  const { time, session, attach, read } = await openPhoto()
  const first = await attach('phone')
  const { answer } = session.send('Look.')
  await rest(time)
  const second = await attach('tablet')
  const { callId = '' } = (await callOf(session)) ?? {}
  await first.detach()
  await rest(time)
  await second.claim(callId)
  await second.result(callId, { type: 'ok', content: [{ type: 'text', text: 'a cat' }] })
  await time.until(answer)
  expect(read()).toContain('a cat')
})

test('a claimed once call below whose holder is gone is unknown at its deadline, and its own late result counts before', async () => {
  for (const isBack of [false, true]) {
    const { time, session, attach, read } = await openPhoto({ more: { awayMs: 60_000 } })
    const phone = await attach('phone')
    const { answer } = session.send('Look.')
    await rest(time)
    const { callId = '' } = (await callOf(session)) ?? {}
    await phone.claim(callId)
    await phone.detach()
    await attach('tablet')
    await time.pass(20_000)
    if (isBack) await (await attach('phone')).result(callId, { type: 'ok', content: [{ type: 'text', text: 'a cat' }] })
    await time.pass(60_000)
    await time.until(answer)
    expect(read()).toMatch(isBack ? /a cat/ : /unknown|may have/)
  }
})

test('without a client that has the tool, a call below waits, the clocks above stand, and then it runs out', async () => {
  const { time, session, read } = await openPhoto({ more: { awayMs: 1_800_000 } })
  const { answer } = session.send('Look.')
  await rest(time)
  // The delegated call has ten minutes, the turn has less than half an hour.
  await time.pass(1_700_000)
  expect((await session.info()).activity).toBe('waiting')
  expect(await callOf(session)).toMatchObject({ waitsForClient: true, path: [{ agent: 'helper' }] })
  await time.pass(200_000)
  expect((await time.until(answer)).text).toBe('Done.')
  expect(read()).toMatch(/tool_result_timeout/)
})

test('a question below waits for whoever comes, if its turn may ask', async () => {
  const time = createManualTime()
  const choose = acting('choose', async (_, { ask }) =>
    JSON.stringify(await ask({ message: 'Which?', schema: kit.EMPTY })),
  )
  const { agent, helper } = createAgents(time, { steps: kit.afterwards(calls('choose'), 'Chosen.'), tools: [choose] })
  const { host } = startProcess(time, openMemory().store, { agent })
  const begun = await host.session('s')
  const { answer } = begun.send('Choose.')
  await time.pass(60_000)
  const later = await host.session('s')
  const [question] = (await later.info()).questions
  expect(question).toMatchObject({ message: 'Which?', path: [{ agent: 'helper' }] })
  await later.answer({ questionId: question?.questionId ?? '', value: { wine: 'red' } })
  await time.until(answer)
  expect(JSON.stringify(helper.requests.at(-1)?.messages.at(-1))).toContain('red')
})

test('a large picture of a tool below is in the log of its agent alone', async () => {
  const time = createManualTime()
  const data = Buffer.alloc(300_000, 7).toString('base64')
  const draw = acting('draw', () => ({
    type: 'content',
    content: [{ type: 'image', mediaType: 'image/png', source: { type: 'base64', data } }],
  }))
  const { agent } = createAgents(time, { steps: kit.afterwards(calls('draw'), 'A square.'), tools: [draw] })
  const disk = openMemory()
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  expect((await time.until(session.send('Draw.').answer)).text).toBe('Done.')
  const [child = ''] = await kit.childrenOf(disk.store)
  expect(await disk.store.blobs.names(child)).toHaveLength(1)
  expect(await disk.store.blobs.names('s')).toEqual([])
  expect(JSON.stringify(await recordsOf(disk.store, 's')).length).toBeLessThan(30_000)
})

test('a child whose model writes a lot while nobody reads: the log of its caller has its answer and a few counts', async () => {
  const time = createManualTime()
  const pieces = Array.from({ length: 400 }, (_, at) => `piece ${at} `)
  const { agent } = createAgents(time, {
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'Short.' }
        : { pieces, pieceMs: 20, calls: [{ name: 'look', arguments: {} }] },
    tools: [acting('look', () => 'seen', { effect: 'pure' })],
  })
  const disk = openMemory()
  const { host } = startProcess(time, disk.store, { agent })
  const session = await host.session('s')
  await time.until(session.send('Write.').answer)
  const records = await recordsOf(disk.store, 's')
  const before = records.filter(({ facts }) =>
    facts.every(({ type }) => type !== 'child-closed' && type !== 'model-started'),
  )
  expect(JSON.stringify(before)).not.toContain('piece 3')
  expect((await kit.factsOf(disk.store, 's', 'child-reported')).length).toBeLessThan(20)
})

test('an edit of an approval below is checked by the agent that is there now', async () => {
  const time = createManualTime()
  const disk = openMemory()
  const create = (field: string) => {
    const paid: unknown[] = []
    const input = {
      type: 'object',
      properties: { [field]: { type: 'integer' } },
      required: [field],
      additionalProperties: false,
    }
    const pay = acting('pay', (given) => `paid ${paid.push(given)}`, { approval: true, input })
    const { agent } = createAgents(time, { steps: kit.afterwards(calls('pay', { euros: 1 }), 'Paid.'), tools: [pay] })
    return { agent, paid }
  }
  const first = startProcess(time, disk.store, { agent: create('euros').agent })
  const begun = await first.host.session('s')
  begun.send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
  await passUntil(time, async () => (await begun.approvals()).length > 0)
  first.die()
  disk.free()
  const { agent, paid } = create('cents')
  const second = startProcess(time, disk.store, { agent })
  const session = await second.host.session('s')
  const { answer } = session.send('Pay.', { inputId: 'm1' })
  await rest(time)
  const [asked] = await session.approvals()
  const approvalId = asked?.approvalId ?? ''
  await expect(session.decide({ approvalId, decision: 'edit', input: { euros: 2 } })).rejects.toMatchObject({
    code: 'invalid_arguments',
  })
  expect(await session.approvals()).toHaveLength(1)
  await session.decide({ approvalId, decision: 'edit', input: { cents: 200 } })
  await time.until(answer)
  expect(paid).toEqual([{ cents: 200 }])
})
