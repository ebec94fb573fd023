// Typed answers: an agent with an output schema returns values, retries once after a mismatch, then fails with a code.
import type { ModelRequest, FrontSession } from '@baton/core/internal'
import { defineAgent, readOutput } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { expect } from 'vitest'
import { z } from 'zod'
import { act, listCalls, textsTold } from './situation-parts.ts'
import type { ContractWorldOptions } from './host-kind.ts'
import type { Situations, Stage } from './situation.ts'
import { forEachRow } from './situation.ts'

const verdict = z.object({ valid: z.boolean(), note: z.string().optional(), score: z.number().int() })

async function ask(
  { createWorld }: Stage,
  steps: ContractWorldOptions['steps'],
  more: Partial<ContractWorldOptions> = {},
) {
  const world = await createWorld({ steps, output: verdict, ...more })
  const answer = async () => await world.time.until((await world.open()).send('is it valid?').answer)
  return { ...world, answer }
}

export const OUTPUT_SITUATIONS: Situations = {
  'an answer that fits is a typed value': async (stage) => {
    const agent = defineAgent({ name: 'judge', output: verdict })
    const { answer } = await ask(stage, [{ text: '{"valid":true,"score":3}' }])
    const given = await answer()
    const value = readOutput(agent, given)
    expect(value.valid && value.score + 1).toBe(4)
    expect(given.text).toBe('{"valid":true,"score":3}')
  },
  ...forEachRow(
    'an answer %s is taken as it is meant',
    [
      ['in a code block', 'Here you are:\n```json\n{"valid":true,"score":3}\n```'],
      ['after a word of courtesy', 'Sure! {"valid":true,"score":3}'],
      ['with null for what is left out', '{"valid":true,"note":null,"score":3}'],
    ],
    async (stage, [, text]) => {
      const { answer, model } = await ask(stage, [{ text }])
      expect((await answer()).output).toEqual({ valid: true, score: 3 })
      expect(model.requests).toHaveLength(1)
    },
  ),
  ...forEachRow<[string, ScriptedStep, string, (session: FrontSession) => Promise<unknown>]>(
    'a turn that ends without an answer has no value, and none is missed: %s',
    [
      ['a refusal', { text: 'I cannot.', finish: 'refusal' }, 'refused', async () => {}],
      ['an interrupt', { text: 'Let me', hangs: 'until-aborted' }, 'interrupted', (session) => session.interrupt()],
      ['a stop', { text: 'Let me', hangs: 'until-aborted' }, 'stopped', (session) => session.control('stop')],
    ],
    async ({ createWorld }, [, step, outcome, end]) => {
      const { open, time } = await createWorld({ steps: [step], output: verdict })
      const session = await open()
      const turn = session.send('is it valid?')
      await time.settle()
      await time.until(end(session))
      const answer = await time.until(turn.answer)
      expect(answer).toMatchObject({ outcome })
      expect(answer).not.toHaveProperty('output')
    },
  ),
  'an answer that does not fit is asked for once more, with what is wrong in front of the model': async (stage) => {
    const { answer, model, facts, open } = await ask(stage, [
      { text: '{"valid":"yes","score":3}' },
      { text: '{"valid":true,"score":3}' },
    ])
    expect((await answer()).output).toEqual({ valid: true, score: 3 })
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(textsTold(model, 'user')[1]).toMatch(/^Your answer does not fit the output schema: valid: .*boolean/)
    expect(await facts('output-refused')).toMatchObject([{ step: 1, issue: expect.stringContaining('valid') }])
    const told: string[] = []
    for await (const event of (await open()).events({ from: 'start' })) {
      if (event.type === 'live') break
      if (event.type === 'output-refused') told.push(event.issue)
    }
    expect(told).toEqual([expect.stringContaining('valid')])
  },
  'the events of a turn have the value as far as it is written, also where it is written once more': async (stage) => {
    const note = 'a note that is long enough to be read in several pieces'
    const pieces = ['{"valid":', '"maybe","note":"a note', ' that is long"}']
    const right = JSON.stringify({ note, valid: true, score: 3 })
    const steps = [{ pieces }, { pieces: right.match(/.{1,20}/g) ?? [] }]
    const { time, open } = await ask(stage, steps)
    const partials: unknown[] = []
    const turn = (await open()).send('is it valid?')
    const reading = (async () => {
      for await (const event of turn) if (event.type === 'text' && event.partial) partials.push(event.partial)
    })()
    await time.until(Promise.all([turn.answer, reading]))
    expect(partials.length).toBeGreaterThan(1)
    const isBeginning = (part: unknown): boolean =>
      note.startsWith((part as { note?: string }).note ?? '') ||
      'a note that is long'.startsWith((part as { note: string }).note)
    expect(partials.every(isBeginning)).toBe(true)
    expect(partials.at(-1)).toMatchObject({ note, valid: true })
  },
  'an answer that ends at the last pause of its provider is judged like any other': async ({ createWorld }) => {
    const world = await createWorld({
      steps: [{ text: 'No JSON.', finish: 'pause' }, { text: '{"valid":true,"score":3}' }],
      output: verdict,
      limits: { pauses: 0 },
      checkAnswer: () => 'accept',
    })
    const session = await world.open()
    const { answer } = session.send('is it valid?')
    expect((await world.time.until(answer)).output).toEqual({ valid: true, score: 3 })
    expect(await world.facts('output-refused')).toHaveLength(1)
  },
  'an answer that does not fit twice fails the turn with a code, and the session goes on': async (stage) => {
    const steps = [{ text: 'No idea.' }, { text: '{}' }, { text: '{"valid":false,"score":0}' }]
    const { answer, facts } = await ask(stage, steps)
    await expect(answer()).rejects.toMatchObject({
      code: 'invalid_output',
      message: expect.stringContaining('valid'),
      data: { text: '{}', issues: expect.stringContaining('valid'), finish: 'end', usage: expect.any(Object) },
    })
    expect(await facts('output-refused')).toHaveLength(1)
    expect((await answer()).output).toEqual({ valid: false, score: 0 })
  },
  'an agent says how many answers may miss its schema': async (stage) => {
    const steps = [{ text: '{}' }, { text: '{}' }, { text: '{"valid":true,"score":1}' }, { text: '{}' }]
    const patient = await ask(stage, steps, { limits: { outputAttempts: 3 } })
    expect((await patient.answer()).output).toEqual({ valid: true, score: 1 })
    const strict = await ask(stage, [{ text: '{}' }], { limits: { outputAttempts: 1 } })
    await expect(strict.answer()).rejects.toMatchObject({ code: 'invalid_output', data: { text: '{}' } })
  },
  'calls come before the answer, and what was said beside them is no part of it': async (stage) => {
    const steps = [{ text: 'Let me look.', ...listCalls('act') }, { text: '{"valid":true,"score":1}' }]
    const { answer } = await ask(stage, steps, { tools: [act(() => 'seen')] })
    expect(await answer()).toMatchObject({ text: '{"valid":true,"score":1}', output: { valid: true, score: 1 } })
  },
  'a value beside a call that came after the last round of tools is asked for once more as any other': async (
    stage,
  ) => {
    const late = { text: '{"valid":"yes"}', ...listCalls('act') }
    const steps = [listCalls('act'), late, { text: '{"valid":true,"score":3}' }]
    const { answer } = await ask(stage, steps, { tools: [act(() => 'done')], limits: { toolRounds: 1 } })
    expect((await answer()).output).toEqual({ valid: true, score: 3 })
  },
  'a model whose provider keeps schemas is given the schema, another one is told it': async (stage) => {
    const listRequests = async (output: 'native' | 'without-tools' | 'none', tools: number): Promise<ModelRequest> => {
      const scripted = createScriptedModel({ steps: [{ text: '{"valid":true,"score":1}' }] })
      const model = { ...scripted, capabilities: { ...scripted.capabilities, output } }
      const world = await ask(stage, [], { models: model, tools: [act(() => '')].slice(0, tools) })
      await world.answer()
      return scripted.requests[0]!
    }
    expect(await listRequests('native', 1)).toMatchObject({ output: { name: 'tested', schema: { type: 'object' } } })
    expect((await listRequests('native', 1)).instructions).toBe('')
    expect(await listRequests('without-tools', 0)).toHaveProperty('output')
    for (const [output, tools] of [
      ['without-tools', 1],
      ['none', 0],
    ] as const) {
      const told = await listRequests(output, tools)
      expect(told).not.toHaveProperty('output')
      expect(told.instructions).toMatch(/one JSON value and nothing else.*\n\{.*"valid"/)
    }
  },
  'arguments with null for what may be left out run the tool without it': async (stage) => {
    const given: unknown[] = []
    const look = { ...act((input) => void given.push(input)), input: z.object({ at: z.string().optional() }) }
    const world = await stage.createWorld({
      tools: [look],
      steps: [{ calls: [{ name: 'act', arguments: { at: null } }] }, { text: 'ok' }],
    })
    await world.time.until((await world.open()).send('go').answer)
    expect(given).toEqual([{}])
  },
}
