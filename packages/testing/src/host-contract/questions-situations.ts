// Tools that ask their user during a call, and tools that set the session's plan.
import type { BatonError, Question, QuestionAnswer, Session, Tool } from '@baton/core/internal'
import { expect } from 'vitest'
import type { ContractWorldOptions } from './host-kind.ts'
import { act, CALL, listCalls, resultsTold } from './situation-parts.ts'
import type { Situations, Stage } from './situation.ts'
import { forEachRow } from './situation.ts'

const SCHEMA = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] } as const
const QUESTION: Question = { message: 'Which size?', schema: SCHEMA }

/** A session whose tool asks these questions in order, and returns the answers it got. */
async function askIn(stage: Stage, questions: readonly Question[], more: Partial<ContractWorldOptions> = {}) {
  const told: unknown[] = []
  const order = act(
    async (_, { ask }) => {
      for (const question of questions)
        told.push(await ask(question).catch(({ code, message }: { code: string; message: string }) => [code, message]))
      return 'ordered'
    },
    { timeoutMs: 1000 },
  )
  const world = await stage.createWorld({ tools: [order], steps: [listCalls('act'), { text: 'done' }], ...more })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  return { world, session, turn, told }
}

async function answer(session: Session, reply: object): Promise<string> {
  const [question] = await session.questions()
  const answering = session.answer({ questionId: question?.questionId ?? '', ...reply } as QuestionAnswer)
  return await answering.then(
    ({ type }) => type,
    (refusal: BatonError) => refusal.code,
  )
}

function planning(entries: (plan: Parameters<NonNullable<Tool['execute']>>[1]['plan']) => unknown): Tool {
  return act((_, { plan }) => entries(plan))
}

export const QUESTION_SITUATIONS: Situations = {
  'a tool asks its user in mid-call, and its clock and the turn’s stand still meanwhile': async (stage) => {
    const { world, session, turn, told } = await askIn(stage, [QUESTION], { limits: { turnMs: 5000 } })
    await world.time.pass(60_000)
    const asked = {
      ...QUESTION,
      callId: CALL,
      questionId: expect.any(String) as string,
      expiresAtMs: 10 ** 12 + 600_000,
    }
    expect(await session.questions()).toEqual([asked])
    expect((await session.info()).questions).toEqual([asked])
    expect(await answer(session, { value: { size: 4 } })).toBe('accepted')
    expect((await world.time.until(turn.answer)).text).toBe('done')
    expect(told).toEqual([{ size: 4 }])
    expect(await session.questions()).toEqual([])
    expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'ordered' }])
  },
  'a question whose schema is wrong is refused before anybody sees it': async (stage) => {
    const pattern = { type: 'object', properties: { size: { type: 'string', pattern: '(' } } } as const
    const { world, turn, told } = await askIn(stage, [{ message: 'Which?', schema: pattern }])
    await world.time.until(turn.answer)
    expect(told).toEqual([['question_refused', expect.stringMatching(/its schema is wrong/)]])
    expect(await world.facts('question-asked')).toHaveLength(0)
  },
  'an answer that does not fit its schema is refused, and the question stays; one that fits counts once': async (
    stage,
  ) => {
    const { world, session, turn, told } = await askIn(stage, [QUESTION])
    const [question] = await session.questions()
    expect(await answer(session, { value: { size: 'big' } })).toBe('question_refused')
    expect(await session.questions()).toHaveLength(1)
    expect(await answer(session, { value: { size: 4 } })).toBe('accepted')
    const again = { questionId: question?.questionId ?? '', value: { size: 5 } }
    await expect(session.answer(again)).rejects.toMatchObject({ code: 'question_refused' })
    await world.time.until(turn.answer)
    expect(told).toEqual([{ size: 4 }])
  },
  ...forEachRow<[string, Partial<Question>, object | undefined, string]>(
    'a question that is %s is an error that the tool can catch',
    [
      ['declined', {}, { decline: true }, 'the user declined'],
      ['declined with a reason', {}, { decline: true, reason: 'not now' }, 'the user declined: not now'],
      ['left alone until it expires', { timeoutMs: 5000 }, undefined, 'the user did not answer in time'],
    ],
    async (stage, [, more, reply, why]) => {
      const { world, session, turn, told } = await askIn(stage, [{ ...QUESTION, ...more }])
      if (reply) expect(await answer(session, reply)).toBe('accepted')
      expect((await world.time.until(turn.answer)).text).toBe('done')
      expect(told).toEqual([['question_declined', why]])
    },
  ),
  'a question of a session that nobody watches is declined at once': async (stage) => {
    const told: unknown[] = []
    const order = act((_, { ask }) => ask(QUESTION).catch(({ message }: Error) => void told.push(message)))
    const world = await stage.createWorld({ tools: [order], steps: [listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    await world.time.until(session.send('go', { asks: false }).answer)
    expect(told).toEqual(['no connected client can ask the user'])
    expect(world.time.nowMs()).toBe(10 ** 12)
  },
  'a call asks twice, and each question has its own answer': async (stage) => {
    const { world, session, turn, told } = await askIn(stage, [QUESTION, { message: 'Sure?', schema: SCHEMA }])
    expect(await answer(session, { value: { size: 1 } })).toBe('accepted')
    await world.time.settle()
    expect(await session.questions()).toMatchObject([{ message: 'Sure?' }])
    expect(await answer(session, { value: { size: 2 } })).toBe('accepted')
    await world.time.until(turn.answer)
    expect(told).toEqual([{ size: 1 }, { size: 2 }])
    expect((await world.facts('question-asked')).map(({ n }) => n)).toEqual([1, 2])
  },
  'two calls ask at once, and each gets the answer to its own question': async (stage) => {
    const order = (name: string): Tool => act((_, { ask }) => ask({ message: name, schema: SCHEMA }), { name })
    const world = await stage.createWorld({
      tools: [order('one'), order('two')],
      steps: [listCalls('one', 'two'), { text: 'done' }],
    })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    const questions = await session.questions()
    expect(questions.map(({ message }) => message)).toEqual(['one', 'two'])
    for (const [index, { questionId }] of questions.toReversed().entries())
      await session.answer({ questionId, value: { size: index } })
    await world.time.until(turn.answer)
    expect(resultsTold(world.model).map(({ text }) => text)).toEqual(['{"size":1}', '{"size":0}'])
  },
  'a seventeenth question of one call is refused, and the tool is told so': async (stage) => {
    const { world, session, turn, told } = await askIn(stage, Array<Question>(17).fill(QUESTION))
    for (let size = 1; size <= 16; size++) {
      expect(await answer(session, { value: { size } })).toBe('accepted')
      await world.time.settle()
    }
    await world.time.until(turn.answer)
    expect(told).toHaveLength(17)
    expect(told.at(-1)).toEqual(['question_refused', expect.stringContaining('17')])
  },
  'a question whose call is interrupted is withdrawn, and an answer to it is refused': async (stage) => {
    const { world, session, turn, told } = await askIn(stage, [QUESTION])
    const [question] = await session.questions()
    await session.interrupt()
    expect((await world.time.until(turn.answer)).outcome).toBe('interrupted')
    await world.time.settle()
    expect(await session.questions()).toEqual([])
    const late = session.answer({ questionId: question?.questionId ?? '', value: { size: 4 } })
    await expect(late).rejects.toMatchObject({ code: 'question_refused' })
    expect(told).toEqual([['cancelled', expect.any(String)]])
  },
  'another principal cannot answer, and a reader of the turn is told what is asked': async (stage) => {
    const { world, session, turn } = await askIn(stage, [QUESTION])
    const [question] = await session.questions()
    const questionId = question?.questionId ?? ''
    const forged = { type: 'question-answer', questionId, principal: 'eve', value: { size: 1 } } as const
    expect(await session.submit(forged)).toMatchObject({ type: 'refused', code: 'unauthorized' })
    expect(await answer(session, { value: { size: 4 } })).toBe('accepted')
    await world.time.until(turn.answer)
    const asked = []
    for await (const event of turn) if (event.type === 'question-asked') asked.push(event)
    expect(asked).toMatchObject([{ questionId, ...QUESTION }])
  },
  'what a tool asks wrongly is its own error': async (stage) => {
    const wrong = [{}, { message: 'x', schema: { type: 'string' } }, { message: 'x', schema: null }]
    const { world, turn, told } = await askIn(stage, wrong as unknown as readonly Question[]) // as asked by untyped code
    await world.time.until(turn.answer)
    expect(told.map((one) => (one as readonly unknown[])[0])).toEqual(Array(3).fill('question_refused'))
  },
  'a plan replaces the one before it, the newest counts, and what is no plan is logged': async ({ createWorld }) => {
    const tool = planning((plan) => {
      plan('nonsense' as never)
      plan([{ content: 'look', status: 'pending' }])
      plan([{ content: 'look', status: 'done' as never }])
      for (let n = 0; n < 1000; n++) plan([{ content: `look ${n}`, status: 'in_progress' }])
      plan([{ content: 'look', status: 'completed', priority: 'high' }])
    })
    const world = await createWorld({ tools: [tool], steps: [listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    expect((await world.facts('plan-set')).map(({ entries }) => entries)).toEqual([
      [{ content: 'look', status: 'pending' }],
      [{ content: 'look', status: 'completed', priority: 'high' }],
    ])
    expect(world.warnings).toEqual(['a plan is not shown', 'a plan is not shown'])
  },
  'a plan of a call that is over changes nothing': async ({ createWorld }) => {
    const gate = Promise.withResolvers<void>()
    const late = act(
      async (_, { plan }) => {
        await gate.promise
        plan([{ content: 'too late', status: 'pending' }])
      },
      { timeoutMs: 1000 },
    )
    const world = await createWorld({ tools: [late], steps: [listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    gate.resolve()
    await world.time.settle()
    expect(await world.facts('plan-set')).toEqual([])
  },
}
