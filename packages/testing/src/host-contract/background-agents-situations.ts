// Other agents in the background: asked for, cancelled and interrupted while their caller is idle.
import { defineAgent, delegate } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect } from 'vitest'
import { act } from './situation-parts.ts'
import type { Situations, Stage } from './situation.ts'
import { answersOf, begins, callStep, readLast, wakesOf } from './tasks-situations.ts'

/** A caller whose helper pays, which needs an approval. */
async function openTree({ createWorld }: Stage, rules: object = { background: true }) {
  const paid: string[] = []
  const pay = act((_, { idempotencyKey }) => `paid ${paid.push(idempotencyKey)}`, { name: 'pay', effect: 'once' })
  const steps: Parameters<typeof createScriptedModel>[0]['steps'] = ({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { text: 'It is paid.' } : callStep('pay')
  const tools = [{ ...pay, approval: true as const }]
  const helper = defineAgent({ name: 'helper', model: createScriptedModel({ steps }), tools })
  const ask = delegate({ agent: helper, description: 'Helps', ...rules })
  const world = await createWorld({ steps: begins('helper', { task: 'Pay.' }), tools: [ask] })
  return { world, time: world.time, session: await world.open(), paid }
}

export const BACKGROUND_AGENT_SITUATIONS: Situations = {
  'an agent in the background asks a person while its caller is idle, and its answer wakes the caller': async (
    stage,
  ) => {
    const { world, time, session, paid } = await openTree(stage)
    expect((await time.until(session.send('Pay.').answer)).text).toBe('It runs.')
    await time.settle()
    const [asked] = await session.approvals()
    expect(asked).toMatchObject({ name: 'pay', path: [{ agent: 'helper' }] })
    expect(await session.tasks()).toMatchObject([{ name: 'helper', child: { agent: 'helper', status: 'waiting' } }])
    await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
    await time.pass(5000)
    expect((await answersOf(world))[1]).toContain('It is paid.')
    expect([paid.length, (await wakesOf(world)).length]).toEqual([1, 1])
  },
  'a person cancels an agent in the background: it ends, and says what it did': async (stage) => {
    const { world, time, session, paid } = await openTree(stage)
    await time.until(session.send('Pay.').answer)
    await time.settle()
    const [{ callId } = { callId: '' }] = await session.tasks()
    await session.cancel(callId)
    await time.pass(5000)
    expect(await session.tasks()).toMatchObject([{ status: 'settled', result: { type: 'cancelled' } }])
    expect(await session.approvals()).toEqual([])
    expect([paid.length, (await wakesOf(world)).length]).toEqual([0, 0])
  },
  'an interrupt leaves an agent running where its onInterrupt says so': async (stage) => {
    const { world, time, session } = await openTree(stage, { onInterrupt: 'background' })
    session.send('Pay.').answer.catch(() => {})
    await time.settle()
    await session.interrupt()
    session.send('And the weather?').answer.catch(() => {})
    await time.settle()
    const [asked] = await session.approvals()
    await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
    await time.pass(5000)
    expect(await wakesOf(world)).toHaveLength(1)
    expect(await session.tasks()).toMatchObject([{ status: 'settled', result: { type: 'ok' } }])
  },
  'an agent in the background below another asks a person after that one has answered, and both come home': async ({
    createWorld,
  }) => {
    const gate = Promise.withResolvers<void>()
    const paid: string[] = []
    const look = act(() => gate.promise.then(() => 'looked'), { name: 'look' })
    const pay = act((_, { idempotencyKey }) => `paid ${paid.push(idempotencyKey)}`, { name: 'pay', effect: 'once' })
    const payer = defineAgent({
      name: 'payer',
      model: createScriptedModel({
        steps: (request) => {
          const text = readLast(request)
          if (text.includes('paid')) return { text: 'It is paid.' }
          return callStep(text.includes('looked') ? 'pay' : 'look')
        },
      }),
      tools: [look, { ...pay, approval: true as const }],
    })
    const below = delegate({ agent: payer, description: 'Pays', background: true })
    const helper = defineAgent({
      name: 'helper',
      model: createScriptedModel({ steps: begins('payer', { task: 'Pay.' }) }),
      tools: [below],
    })
    const world = await createWorld({
      steps: (request) =>
        request.messages.at(-1)?.role === 'tool'
          ? { text: `Heard: ${readLast(request)}` }
          : callStep('helper', { task: 'Pay.' }),
      tools: [delegate({ agent: helper, description: 'Helps' })],
    })
    const session = await world.open()
    const turn = session.send('Pay.')
    await world.time.settle()
    expect(await session.approvals()).toEqual([])
    gate.resolve()
    await world.time.settle()
    await world.time.pass(5000)
    const [asked] = await session.approvals()
    expect(asked).toMatchObject({ name: 'pay', path: [{ agent: 'helper' }, { agent: 'payer' }] })
    await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
    expect((await world.time.until(turn.answer)).text).toContain('It is paid.')
    expect(paid).toHaveLength(1)
  },
  'an agent whose task ends long after its answer, and begins no turn, is heard with that answer': async ({
    createWorld,
  }) => {
    const gate = Promise.withResolvers<void>()
    const look = { ...act(() => gate.promise.then(() => 'looked'), { name: 'look' }), background: true as const }
    const helper = defineAgent({
      name: 'helper',
      model: createScriptedModel({ steps: begins('look') }),
      tools: [look],
      limits: { wakes: 0 },
    })
    const world = await createWorld({
      steps: (request) =>
        request.messages.at(-1)?.role === 'tool'
          ? { text: `Heard: ${readLast(request)}` }
          : callStep('helper', { task: 'Look.' }),
      tools: [delegate({ agent: helper, description: 'Helps' })],
    })
    const session = await world.open()
    const turn = session.send('Look.')
    await world.time.settle()
    await world.time.pass(5000) // its caller has read on
    gate.resolve()
    expect((await world.time.until(turn.answer)).text).toContain('It runs.')
  },
}
