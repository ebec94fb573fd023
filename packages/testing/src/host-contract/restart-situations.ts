// A session after its host was restarted: waiting calls keep waiting, and the conversation is known. For hosts whose
// sessions live in a process.
import type { AnswerVerdict, PendingApproval, Session } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect } from 'vitest'
import type { ContractWorld, ContractWorldOptions } from './host-kind.ts'
import { expectOwnResult, SPAWN, STRANGERS } from './lease-clients-situations.ts'
import { act, CALL, listCalls, resultsTold, textsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'
import { forEachRow } from './situation.ts'

async function restart(world: ContractWorld, init: ContractWorldOptions): Promise<ContractWorld> {
  if (!world.restart) throw new Error('hosts of this kind outlive their processes')
  return await world.restart(init)
}

async function findApproval(session: Session): Promise<PendingApproval> {
  const [approval] = await session.approvals()
  if (!approval) throw new Error('nothing waits')
  return approval
}

const SCHEMA = { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] } as const

export const RESTART_SITUATIONS: Situations = {
  'a request waits over a restart, and its decision counts after it': async ({ createWorld }) => {
    const runs: unknown[] = []
    const pay = act((given) => void runs.push(given), { effect: 'once', approval: true })
    const before = await createWorld({ tools: [pay], steps: [listCalls('act')] })
    const asking = await before.open()
    asking.send('go').answer.catch(() => {})
    await before.time.settle()
    const { approvalId } = await findApproval(asking)
    const after = await restart(before, { tools: [pay], steps: [{ text: 'done' }] })
    const session = await after.open()
    expect(await findApproval(session)).toMatchObject({ approvalId })
    await session.decide({ approvalId, decision: 'approve' })
    await after.time.settle()
    expect(runs).toEqual([{}])
  },
  'an answer waits for its approval over a restart, and is the answer once it has it': async ({ createWorld }) => {
    const checkAnswer = (): AnswerVerdict => ({ ask: 'look at it' })
    const before = await createWorld({ checkAnswer, steps: [{ text: 'fine' }] })
    const asking = await before.open()
    asking.send('go', { inputId: 'a' }).answer.catch(() => {})
    await before.time.settle()
    const { approvalId } = await findApproval(asking)
    const after = await restart(before, { checkAnswer, steps: [] })
    const session = await after.open()
    expect(await findApproval(session)).toMatchObject({ approvalId, name: 'answer.approve', input: { text: 'fine' } })
    await session.decide({ approvalId, decision: 'approve' })
    expect((await after.time.until(session.turn('a').answer)).text).toBe('fine')
    expect(after.model.requests).toEqual([])
  },
  'a turn with a schema of its own goes on with it, and is found again with its value': async ({ createWorld }) => {
    const before = await createWorld({ steps: () => ({ text: 'late', pieceMs: 60_000 }) })
    const asking = await before.open()
    asking.send('which room?', { output: SCHEMA, inputId: 'a' }).answer.catch(() => {})
    asking.send('and which other?', { output: SCHEMA, inputId: 'b' }).answer.catch(() => {})
    await before.time.settle()
    const rooms = ['nowhere', '{"room":"12"}', '{"room":"13"}']
    const after = await restart(before, { steps: rooms.map((text) => ({ text })) })
    const session = await after.open()
    expect((await after.time.until(session.turn('a').answer)).output).toEqual({ room: '12' })
    const { output } = await after.time.until(session.turn('b', { output: SCHEMA }).answer)
    expect(output?.room).toBe('13')
  },
  'inputs that waited at a stop are answered after the next start, in the next life of the host': async ({
    createWorld,
  }) => {
    const before = await createWorld({ steps: () => ({ text: 'late', pieceMs: 60_000 }) })
    const { time } = before
    const session = await before.open()
    session.send('one').answer.catch(() => {})
    await time.settle()
    for (const said of ['two', 'three']) session.send(said).answer.catch(() => {})
    await session.submit({ type: 'transcript', inputId: 't', speaker: 'bob', text: 'we talk' })
    await session.submit({ type: 'stop' })
    const after = await restart(before, { steps: () => ({ text: 'answer' }) })
    const again = await after.open()
    expect(again.phase).toBe('stopped')
    await time.pass(60_000)
    expect(after.model.requests).toHaveLength(0)
    await again.submit({ type: 'start' })
    await time.pass(60_000)
    expect(textsTold(after.model, 'user').join('\n')).toMatch(/one[^]*two[^]*three[^]*\[Transcript\] bob: we talk/)
    expect(again.phase).toBe('idle')
  },
  'an agent that changed while the session was closed is a fact, and its model answers': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'old' }] })
    const session = await world.open()
    await world.time.until(session.send('hi').answer)
    const model = createScriptedModel({ id: 'new/model', steps: [{ text: 'new' }] })
    const next = await restart(world, { name: 'other', models: model, instructions: 'Be new.', steps: [] })
    const again = await next.open()
    expect((await next.time.until(again.send('hi').answer)).text).toBe('new')
    expect(await next.facts('agent-changed')).toHaveLength(1)
    expect(model.requests[0]?.messages).toHaveLength(3)
  },
  'an input that was answered before a restart has the same answer after it': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'only once' }] })
    const session = await world.open()
    await world.time.until(session.send('go', { inputId: 'i1' }).answer)
    const later = await restart(world, { steps: [] })
    const reopened = await later.open()
    expect((await later.time.until(reopened.send('go', { inputId: 'i1' }).answer)).text).toBe('only once')
  },
  'an answer has what its steps cite, each once, and has it after a restart, too': async ({ createWorld }) => {
    const sky = { url: 'https://sky.test', title: 'Sky', quote: 'It is blue.' }
    const sea = { url: 'https://sea.test', title: 'Sea' }
    const world = await createWorld({
      tools: [act(() => 'blue')],
      steps: [
        { text: 'One moment.', sources: [sky], ...listCalls('act') },
        { text: 'Blue.', sources: [sea, sky] },
        { text: 'Nothing new.' },
      ],
    })
    const session = await world.open()
    const { sources } = await world.time.until(session.send('go', { inputId: 'i1' }).answer)
    expect(sources).toEqual([
      { type: 'source', id: 'source-1', ...sky },
      { type: 'source', id: 'source-2', ...sea },
    ])
    expect((await world.time.until(session.send('and now?').answer)).sources).toEqual([])
    const later = await restart(world, { steps: [] })
    const reopened = await later.open()
    expect((await later.time.until(reopened.send('go', { inputId: 'i1' }).answer)).sources).toEqual(sources)
  },
  'a session belongs to who opened it first, also after its host has begun anew': async ({ createWorld }) => {
    const world = await createWorld({ steps: [] })
    await world.time.until(world.host.session(world.session, { principal: { id: 'ann' } }))
    const later = await restart(world, { steps: [] })
    const stolen = later.host.session(later.session, { principal: { id: 'eve' } })
    await expect(later.time.until(stolen)).rejects.toMatchObject({ code: 'unauthorized' })
  },
  'a pure tool that asked runs again after a restart, and its question has the answer that was given': async ({
    createWorld,
  }) => {
    let runs = 0
    const book = act(
      async (_, { ask }) => {
        runs += 1
        const first = await ask({ message: 'Which room?', schema: SCHEMA })
        const second = await ask({ message: 'Sure?', schema: { type: 'object' } })
        return { first, second }
      },
      { timeoutMs: 1000 },
    )
    const before = await createWorld({ tools: [book], steps: [listCalls('act')] })
    const asked = await before.open()
    asked.send('go').answer.catch(() => {})
    await before.time.settle()
    const [room] = await asked.questions()
    await asked.answer({ questionId: room?.questionId ?? '', value: { room: 'blue' } })
    await before.time.settle()
    const after = await restart(before, { tools: [book], steps: [{ text: 'booked' }] })
    const session = await after.open()
    await after.time.settle()
    const waiting = await session.questions()
    expect(waiting).toMatchObject([{ message: 'Sure?' }])
    await session.answer({ questionId: waiting[0]?.questionId ?? '', value: { sure: true } })
    await after.time.pass(1000)
    expect(resultsTold(after.model)).toEqual([
      { isError: false, text: '{"first":{"room":"blue"},"second":{"sure":true}}' },
    ])
    expect(runs).toBe(2)
    expect(await after.facts('question-asked')).toHaveLength(2)
  },
  'a once tool that asked is unknown after a restart, and its question is withdrawn': async ({ createWorld }) => {
    let runs = 0
    const pay = act(
      async (_, { ask }) => {
        runs += 1
        return await ask({ message: 'Which card?', schema: SCHEMA })
      },
      { effect: 'once' },
    )
    const before = await createWorld({ tools: [pay], steps: [listCalls('act')] })
    const asked = await before.open()
    asked.send('go').answer.catch(() => {})
    await before.time.settle()
    const after = await restart(before, { tools: [pay], steps: [{ text: 'well' }] })
    const session = await after.open()
    await after.time.settle()
    expect(await session.questions()).toEqual([])
    expect(resultsTold(after.model)[0]?.text).toBe('Error: tool_result_unknown (it may have run)')
    expect(runs).toBe(1)
  },
  ...forEachRow(
    'a once call that was claimed before a restart waits for its client: %s is foreign',
    STRANGERS,
    async ({ createWorld }, [, bring]) => {
      const before = await createWorld({ tools: [SPAWN], steps: [listCalls('spawn')] })
      const asking = await before.open()
      const one = await asking.client({ client: 'one', leaseMs: 60_000 })
      asking.send('go').answer.catch(() => {})
      await before.time.settle()
      await one.claim(CALL)
      const after = await restart(before, { tools: [SPAWN], steps: [{ text: 'done' }] })
      const session = await after.open()
      await bring(session)
      await expectOwnResult(after, session)
    },
  ),
}
