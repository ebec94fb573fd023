// Tools that ask a model: the request, what the tool gets, and what the turn pays.
import type { GenerateRequest, ToolContext } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { expect } from 'vitest'
import type { ContractWorldOptions } from './host-kind.ts'
import { act, listCalls, never, resultsTold } from './situation-parts.ts'
import type { Situations, Stage } from './situation.ts'

const VERDICT = {
  type: 'object',
  properties: { spam: { type: 'boolean' } },
  required: ['spam'],
  additionalProperties: false,
} as const

/**
 * A world whose only tool runs `ask`, and whose model first calls it, then answers it with `answers`, and ends with
 * `done`.
 */
async function askIn(
  { createWorld }: Stage,
  ask: (context: ToolContext) => unknown,
  answers: readonly ScriptedStep[],
  init: Partial<ContractWorldOptions> = {},
) {
  const world = await createWorld({
    tools: [act(async (_, context) => await ask(context))],
    steps: [listCalls('act'), ...answers, { text: 'done' }],
    ...init,
  })
  return { world, session: await world.open() }
}

const generate =
  (request: GenerateRequest) =>
  async ({ generate: asks }: ToolContext): Promise<unknown> => {
    const { text, value, model, usage } = await asks(request)
    return { text, ...(value !== undefined && { value }), model, usage }
  }

const USED = { inputTokens: 10, outputTokens: 5 }

export const GENERATE_SITUATIONS: Situations = {
  'a tool that is tried again after its model was busy waits as long as that model asked for': async ({
    createWorld,
  }) => {
    const data = { retryAfterMs: 7000 }
    const error = new BatonError({ code: 'model_rate_limited', message: 'busy', retryable: true, data })
    const triedMs: number[] = []
    const world = await createWorld({
      tools: [
        act(
          async (_, { generate: asks }) => {
            triedMs.push(world.time.clock.nowMs())
            return (await asks({ prompt: 'Who?' })).text
          },
          { retry: { attempts: 2, baseMs: 10 } },
        ),
      ],
      steps: [listCalls('act'), { error }, { text: 'Ann.' }, { text: 'done' }],
    })
    const session = await world.open()
    expect((await world.time.until(session.send('go').answer)).text).toBe('done')
    expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'Ann.' }])
    expect((triedMs[1] ?? 0) - (triedMs[0] ?? 0)).toBe(7000)
  },
  'a tool that asks has neither the tools of the provider nor a choice of tools in its request': async (stage) => {
    const serverTools = { scripted: [{ type: 'search' }] }
    const settings = { temperature: 0.5, serverTools, toolChoice: { type: 'any' } } as const
    const { world, session } = await askIn(stage, generate({ prompt: 'Who?' }), [{ text: 'Ann.' }], { settings })
    await world.time.until(session.send('go').answer)
    expect(world.model.requests[0]?.settings).toEqual({ temperature: 0.5, serverTools })
    expect(world.model.requests[1]).toMatchObject({ tools: [], toolChoice: { type: 'none' } })
    expect(world.model.requests[1]?.settings).toEqual({ temperature: 0.5, cache: 'off' })
  },
  'a tool asks the model of the turn, which is told nothing of the conversation': async (stage) => {
    const prompt = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'iVBORw0KGgo=' } },
    ] as const
    const { world, session } = await askIn(stage, generate({ prompt, instructions: 'Be brief.' }), [
      { text: 'A door.', usage: USED },
    ])
    const answer = await world.time.until(session.send('look').answer)
    expect(answer.text).toBe('done')
    expect(world.model.requests[1]).toMatchObject({
      instructions: 'Be brief.',
      messages: [{ role: 'user', parts: prompt }],
      tools: [],
      toolChoice: { type: 'none' },
    })
    expect(world.model.requests[1]?.messages).toHaveLength(1)
    const [told] = resultsTold(world.model)
    expect(JSON.parse(told?.text ?? '')).toEqual({ text: 'A door.', model: 'scripted/model', usage: USED })
    expect(await world.facts('model-used')).toMatchObject([{ model: 'scripted/model', usage: USED }])
    expect(answer.usage).toMatchObject(USED)
  },
  'an answer that does not fit its schema is asked for again, once': async (stage) => {
    const { world, session } = await askIn(stage, generate({ prompt: 'Spam?', output: VERDICT }), [
      { text: 'Yes, I think so.', usage: USED },
      { text: '```json\n{"spam":true}\n```', usage: USED },
    ])
    await world.time.until(session.send('look').answer)
    const [told] = resultsTold(world.model)
    expect(JSON.parse(told?.text ?? '')).toMatchObject({
      value: { spam: true },
      usage: { inputTokens: 20, outputTokens: 10 },
    })
    expect(world.model.requests[2]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(await world.facts('model-used')).toHaveLength(2)
  },
  'a second answer that does not fit is an error of the tool, and both are paid': async (stage) => {
    const { world, session } = await askIn(stage, generate({ prompt: 'Spam?', output: VERDICT }), [
      { text: 'Yes', usage: USED },
      { text: '{"spam":"yes"}', usage: USED },
    ])
    const answer = await world.time.until(session.send('look').answer)
    expect(resultsTold(world.model)).toMatchObject([{ isError: true }])
    expect(await world.facts('call-settled')).toMatchObject([{ settlement: { type: 'error', code: 'invalid_output' } }])
    expect(answer.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 })
  },
  'the fallback of the turn is asked where its model is busy; a refusal of the first is told at once': async (
    stage,
  ) => {
    const code = (retryable: boolean) => (retryable ? 'model_overloaded' : 'model_auth_failed')
    for (const retryable of [true, false]) {
      const error = new BatonError({ code: code(retryable), message: 'not now', retryable })
      const first = createScriptedModel({ id: 'one/first', steps: [listCalls('act'), { error }, { text: 'done' }] })
      const second = createScriptedModel({ id: 'two/second', steps: [{ text: 'of the second' }] })
      const { world, session } = await askIn(stage, generate({ prompt: 'Who?' }), [], { models: [first, second] })
      await world.time.until(session.send('look').answer)
      const settled = await world.facts('call-settled')
      expect(settled).toMatchObject([
        { settlement: retryable ? { type: 'ok' } : { type: 'error', code: 'model_auth_failed' } },
      ])
      expect(second.requests).toHaveLength(retryable ? 1 : 0)
    }
  },
  'what a tool spends counts in the limit of the turn': async (stage) => {
    const { world, session } = await askIn(stage, generate({ prompt: 'Long?' }), [{ text: 'x', usage: USED }], {
      limits: { turnCostMicros: 100 },
      catalog: { priceOf: (_, { inputTokens = 0 }) => inputTokens * 20 },
    })
    const turn = session.send('look')
    await expect(world.time.until(turn.answer)).rejects.toMatchObject({ code: 'turn_cost_exceeded' })
    expect(await world.facts('model-used')).toMatchObject([{ usage: { costMicros: 200 } }])
  },
  'a model that the agent may not use, or that nobody has, is not asked': async (stage) => {
    const elsewhere = createScriptedModel({ id: 'far/away', steps: [{ text: 'never' }] })
    const far = { ...elsewhere, capabilities: { ...elsewhere.capabilities, network: true } }
    const told: unknown[] = []
    const { world, session } = await askIn(
      stage,
      async ({ generate: asks }) => {
        for (const model of ['far/away', 'no/body'])
          await asks({ prompt: 'Hello', model }).catch(({ code }: BatonError) => told.push(code))
        return 'asked'
      },
      [],
      {
        permissions: { externalModels: false },
        catalog: {
          modelOf: (id) => {
            if (id === 'far/away') return far
            throw new BatonError({ code: 'unknown_model', message: id })
          },
        },
      },
    )
    await world.time.until(session.send('look').answer)
    expect(told).toEqual(['not_permitted', 'unknown_model'])
    expect(elsewhere.requests).toHaveLength(0)
  },
  'a wrong request is refused with its field, and the twenty-first of a run too': async (stage) => {
    const told: string[] = []
    const wrong = [{}, { prompt: '' }, { prompt: 'x', propmt: 'y' }, { prompt: 'x', output: { type: 'string' } }]
    const { world, session } = await askIn(
      stage,
      async ({ generate: asks }) => {
        const ask = async (request: object): Promise<void> => {
          await asks(request as GenerateRequest).catch(({ message }: Error) => told.push(message)) // wrong on purpose
        }
        for (const request of [...wrong, { prompt: 'x', maxOutputTokens: -1 }]) await ask(request)
        for (let time = 0; time < 16; time++) await ask({ prompt: 'again' })
        return 'asked'
      },
      Array.from({ length: 15 }, () => ({ text: 'well' })),
    )
    await world.time.until(session.send('look').answer)
    expect(told).toEqual([
      expect.stringContaining('prompt'),
      expect.stringContaining('prompt'),
      expect.stringContaining('propmt'),
      expect.stringContaining('output'),
      expect.stringContaining('maxOutputTokens'),
      expect.stringContaining('20 times'),
    ])
  },
  'a call whose time is over waits for no model, and the tool is told': async (stage) => {
    const told: unknown[] = []
    const hangs = createScriptedModel({ id: 'slow/hangs', steps: () => ({ hangs: 'for-ever' }) })
    const world = await stage.createWorld({
      tools: [
        act(
          async (_, { generate: asks }) => {
            await asks({ prompt: 'Well?', model: 'slow/hangs' }).catch(({ code }: BatonError) => told.push(code))
            return await never()
          },
          { timeoutMs: 5000 },
        ),
      ],
      steps: [listCalls('act'), { text: 'done' }],
      catalog: { modelOf: () => hangs },
    })
    const session = await world.open()
    await world.time.until(session.send('look').answer)
    expect(resultsTold(world.model)).toMatchObject([{ isError: true }])
    await world.time.settle()
    expect(told).toEqual(['cancelled'])
  },
}
