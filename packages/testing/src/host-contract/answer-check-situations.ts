// Answers that an agent checks, and the order it enforces: a disobedient model gets neither a call nor an answer past
// them.
import type { AnswerContext, AnswerToCheck, AnswerVerdict } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { expect } from 'vitest'
import { z } from 'zod'
import type { ContractWorldOptions } from './host-kind.ts'
import { act, listCalls, resultsTold, textsTold } from './situation-parts.ts'
import type { Situations, Stage } from './situation.ts'

const Verdict = z.object({ verdict: z.enum(['valid', 'unclear']), confidence: z.number() })
const VALID = '{"verdict":"valid","confidence":0.2}'
const UNCLEAR = '{"verdict":"unclear","confidence":0.2}'

const scan = act(() => 'clean', { name: 'scan' })
const pay = act(() => 'paid', { name: 'pay', effect: 'once' })

/** Input of a check. */
interface Seen {
  readonly answer: AnswerToCheck
  readonly context: AnswerContext
}

function checking(verdicts: readonly AnswerVerdict[]) {
  const seen: Seen[] = []
  const checkAnswer = (answer: AnswerToCheck, context: AnswerContext): AnswerVerdict => {
    seen.push({ answer, context })
    return verdicts[seen.length - 1] ?? 'accept'
  }
  return { seen, checkAnswer }
}

async function begin({ createWorld }: Stage, steps: readonly ScriptedStep[], more: Partial<ContractWorldOptions> = {}) {
  const world = await createWorld({ tools: [scan, pay], steps, ...more })
  const session = await world.open()
  const turn = session.send('judge it')
  return { ...world, session, turn, answer: () => world.time.until(turn.answer) }
}

export const ANSWER_CHECK_SITUATIONS: Situations = {
  'the model is made to call the first tool where its provider knows how, and asked freely afterwards': async (
    stage,
  ) => {
    const { answer, model } = await begin(stage, [listCalls('scan'), { text: 'fine' }], { firstTool: 'scan' })
    expect((await answer()).text).toBe('fine')
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual([
      { type: 'tool', name: 'scan' },
      { type: 'auto' },
    ])
  },
  'a model that answers at once, or calls another tool first, is told what to do, and gets through once it has done it':
    async (stage) => {
      const steps = [{ text: 'fine' }, listCalls('pay'), listCalls('scan'), listCalls('pay'), { text: 'paid' }]
      const { answer, model, facts } = await begin(stage, steps, { firstTool: 'scan' })
      expect((await answer()).text).toBe('paid')
      expect(textsTold(model, 'user').at(-1)).toContain('Call "scan" first')
      expect(await facts('output-refused')).toMatchObject([{ step: 1, by: 'order' }])
      expect((await facts('call-settled')).map(({ settlement }) => settlement.type)).toEqual(['denied', 'ok', 'ok'])
    },
  'a model that never calls the first tool gets no answer': async (stage) => {
    const { answer } = await begin(stage, [{ text: 'a' }, { text: 'b' }, { text: 'c' }], { firstTool: 'scan' })
    await expect(answer()).rejects.toMatchObject({ code: 'answer_refused' })
  },
  'a rule of order denies a call until its tools have given a result': async (stage) => {
    const order = [{ tool: 'pay', after: ['scan'] }]
    const { answer, model } = await begin(stage, [listCalls('pay'), { text: 'no' }], { order })
    await answer()
    expect(resultsTold(model)).toEqual([
      { isError: true, text: expect.stringContaining('"pay" may run only after "scan" gave a result in this turn') },
    ])
  },
  'a check sees the value, the calls of the turn and what was said, as copies': async (stage) => {
    const { seen, checkAnswer } = checking(['accept'])
    const steps = [listCalls('scan', 'none'), { text: VALID }]
    const { answer } = await begin(stage, steps, { output: Verdict, checkAnswer })
    expect((await answer()).output).toEqual({ verdict: 'valid', confidence: 0.2 })
    const [{ answer: given, context } = {} as Seen] = seen
    expect(given).toEqual({ text: VALID, output: { verdict: 'valid', confidence: 0.2 } })
    expect(context).toMatchObject({ agent: 'tested', refusals: 0 })
    expect(context.calls).toMatchObject([
      { name: 'scan', input: {}, ok: true, content: [{ type: 'text', text: 'clean' }] },
      { name: 'none', ok: false },
    ])
    expect(context.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  },
  'an answer that is sent back is asked for again with the reason, and events take its text back': async (stage) => {
    const { checkAnswer, seen } = checking([{ again: 'it cites nothing' }])
    const steps = [{ text: 'first' }, { text: 'second' }]
    const { answer, model, turn } = await begin(stage, steps, { checkAnswer })
    const told: string[] = []
    const reading = (async () => {
      for await (const event of turn)
        if (event.type === 'text') told.push(event.text)
        else if (event.type === 'step-reset') told.push(`void: ${event.reason}`)
        else if (event.type === 'output-refused') told.push(`${event.by}: ${event.issue}`)
    })()
    expect((await answer()).text).toBe('second')
    await reading
    expect(told).toEqual(['first', 'check: it cites nothing', 'void: refused', 'second'])
    expect(textsTold(model, 'user').at(-1)).toBe('Your answer was not accepted: it cites nothing\nThen answer again.')
    expect(seen.map(({ context }) => context.refusals)).toEqual([0, 1])
  },
  'a check that never accepts ends the turn with a code, and the limit is an option': async (stage) => {
    const { checkAnswer } = checking([{ again: 'no' }, { again: 'no' }])
    const limits = { answerRetries: 1 }
    const { answer, model } = await begin(stage, [{ text: 'a' }, { text: 'b' }], { checkAnswer, limits })
    await expect(answer()).rejects.toMatchObject({ code: 'answer_refused' })
    expect(model.requests).toHaveLength(2)
  },
  'a check that throws, or gives no verdict, lets no answer through': async (stage) => {
    const broken = [
      () => {
        throw new Error('the database is away')
      },
      () => undefined as never,
      () => Promise.resolve({ again: '' }),
      () => ({ ask: 'look at it', by: ['mod'] }) as never,
    ]
    for (const checkAnswer of broken) {
      const { answer, session } = await begin(stage, [{ text: 'fine' }], { checkAnswer })
      await expect(answer()).rejects.toMatchObject({
        code: 'internal',
        message: expect.stringContaining('checkAnswer'),
      })
      await session.close()
    }
  },
  'a check that takes more than 30 seconds lets no answer through': async (stage) => {
    const { answer, time } = await begin(stage, [{ text: 'fine' }], { checkAnswer: () => new Promise<never>(() => {}) })
    let isOver = false
    const failed = answer().catch((cause: { readonly code: string }) => {
      isOver = true
      return cause.code
    })
    await time.pass(29_000)
    expect(isOver).toBe(false)
    await time.pass(1500)
    expect(await failed).toBe('internal')
  },
  'an answer beside a call that came after the last round of tools is checked as any other': async (stage) => {
    const { checkAnswer, seen } = checking([{ again: 'it cites nothing' }])
    const steps = [listCalls('scan'), { text: 'first', ...listCalls('scan') }, { text: 'second' }]
    const { answer } = await begin(stage, steps, { checkAnswer, limits: { toolRounds: 1 } })
    expect((await answer()).text).toBe('second')
    expect(seen.map(({ answer: { text } }) => text)).toEqual(['first', 'second'])
  },
  'a person approves an answer as a call is approved, and the turn has it': async (stage) => {
    const { checkAnswer } = checking([{ ask: 'confidence 0.2', title: 'Confirm "valid"' }])
    const steps = [{ text: 'I scan it.', ...listCalls('scan') }, { text: VALID }]
    const { session, time, turn, answer } = await begin(stage, steps, { output: Verdict, checkAnswer })
    await time.settle()
    const [asked] = await session.approvals()
    expect(asked).toMatchObject({
      name: 'answer.approve',
      title: 'Confirm "valid"',
      asked: { message: 'confidence 0.2' },
      input: { verdict: 'valid', confidence: 0.2 },
    })
    await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
    const given = await answer()
    expect([given.text, given.output]).toEqual([VALID, { verdict: 'valid', confidence: 0.2 }])
    expect(turn).toBeDefined()
  },
  'a person who denies an answer has the model answer again, with the reason': async (stage) => {
    const { checkAnswer } = checking([{ ask: 'confidence 0.2' }])
    const steps = [{ text: VALID }, { text: UNCLEAR }]
    const { session, time, model, answer } = await begin(stage, steps, { output: Verdict, checkAnswer })
    await time.settle()
    const [asked] = await session.approvals()
    await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'deny', reason: 'nobody looked' })
    expect((await answer()).output).toEqual({ verdict: 'unclear', confidence: 0.2 })
    expect(textsTold(model, 'user').at(-1)).toContain('A person did not accept your answer: nobody looked')
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  },
  'an answer without a schema is checked, shown and approved as the text of all its steps': async (stage) => {
    const { checkAnswer, seen } = checking([{ ask: 'look at it' }])
    const steps = [{ text: 'I scan it.', ...listCalls('scan') }, { text: 'It is clean.' }]
    const { session, time, answer } = await begin(stage, steps, { checkAnswer })
    await time.settle()
    const [asked] = await session.approvals()
    expect(seen.map(({ answer: { text } }) => text)).toEqual(['I scan it.\n\nIt is clean.'])
    expect(asked?.input).toEqual({ text: 'I scan it.\n\nIt is clean.' })
    await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
    expect((await answer()).text).toBe('I scan it.\n\nIt is clean.')
  },
  'only those whom the check names decide, and only the program says who decides': async (stage) => {
    const { checkAnswer } = checking([{ ask: 'a moderator must look', by: [{ id: 'mod' }] }])
    const { session, time, answer } = await begin(stage, [{ text: 'fine' }], { checkAnswer })
    await time.settle()
    const [asked] = await session.approvals()
    expect(asked?.asked?.by).toEqual([{ id: 'mod' }])
    const decision = { approvalId: asked?.approvalId ?? '', decision: 'approve' } as const
    await expect(session.decide(decision)).rejects.toMatchObject({ code: 'approval_refused' })
    const forged = { ...decision, principal: { id: 'mod' } }
    await expect(session.decide(forged)).rejects.toMatchObject({ code: 'invalid_event' })
    await session.decide(decision, { principal: { id: 'mod' } })
    expect((await session.info()).principal).toEqual({ id: 'anonymous' })
    for await (const event of session.events({ from: 'start' })) {
      if (event.type === 'live') break
      if (event.type === 'call') expect(event.call.asked?.by).toEqual([{ id: 'mod' }])
      if (event.type === 'approval-decided') expect(event.principal).toEqual({ id: 'mod' })
    }
    expect((await answer()).text).toBe('fine')
  },
  'an answer that nobody approves in time fails the turn': async (stage) => {
    const { checkAnswer } = checking([{ ask: 'look at it' }])
    const { answer } = await begin(stage, [{ text: 'fine' }], { checkAnswer })
    await expect(answer()).rejects.toMatchObject({ code: 'approval_expired' })
  },
}
