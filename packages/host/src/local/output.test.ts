// Typed answers: an agent with an output schema gives values, asks once more for what does not fit, then fails with a code.
import type { ModelRequest } from '@baton/core'
import { defineAgent, outputOf } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { act, callsOf, createTestWorld, textsTold } from './test-world.ts'

const verdict = z.object({ valid: z.boolean(), note: z.string().optional(), score: z.number().int() })

function ask(steps: Parameters<typeof createTestWorld>[0]['steps'], more: object = {}) {
  const world = createTestWorld({ steps, output: verdict, ...more })
  const answer = async () => await world.time.until((await world.open()).send('is it valid?').answer)
  return { ...world, answer }
}

test('an answer that fits is a typed value', async () => {
  const agent = defineAgent({ name: 'judge', output: verdict })
  const { answer } = ask([{ text: '{"valid":true,"score":3}' }])
  const given = await answer()
  const value = outputOf(agent, given)
  expect(value.valid && value.score + 1).toBe(4)
  expect(given.text).toBe('{"valid":true,"score":3}')
})

test.each([
  ['in a code block', 'Here you are:\n```json\n{"valid":true,"score":3}\n```'],
  ['after a word of courtesy', 'Sure! {"valid":true,"score":3}'],
  ['with null for what is left out', '{"valid":true,"note":null,"score":3}'],
])('an answer %s is taken as it is meant', async (_, text) => {
  const { answer, model } = ask([{ text }])
  expect((await answer()).output).toEqual({ valid: true, score: 3 })
  expect(model.requests).toHaveLength(1)
})

test('an answer that does not fit is asked for once more, with what is wrong in front of the model', async () => {
  const { answer, model, facts } = ask([{ text: '{"valid":"yes","score":3}' }, { text: '{"valid":true,"score":3}' }])
  expect((await answer()).output).toEqual({ valid: true, score: 3 })
  expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(textsTold(model, 'user')[1]).toMatch(/^Your answer does not fit the output schema: valid: .*boolean/)
  expect(await facts('output-refused')).toMatchObject([{ step: 1, issue: expect.stringContaining('valid') }])
})

test('an answer that does not fit twice fails the turn with a code, and the session goes on', async () => {
  const steps = [{ text: 'No idea.' }, { text: '{}' }, { text: '{"valid":false,"score":0}' }]
  const { answer, facts } = ask(steps)
  await expect(answer()).rejects.toMatchObject({ code: 'invalid_output', message: expect.stringContaining('valid') })
  expect(await facts('output-refused')).toHaveLength(1)
  expect((await answer()).output).toEqual({ valid: false, score: 0 })
})

test('calls come before the answer, and what was said beside them is no part of it', async () => {
  const steps = [{ text: 'Let me look.', ...callsOf('act') }, { text: '{"valid":true,"score":1}' }]
  const { answer } = ask(steps, { tools: [act(() => 'seen')] })
  expect(await answer()).toMatchObject({ text: '{"valid":true,"score":1}', output: { valid: true, score: 1 } })
})

test('a model whose provider keeps schemas is given the schema, another one is told it', async () => {
  const requestsOf = async (output: 'native' | 'without-tools' | 'none', tools: number): Promise<ModelRequest> => {
    const scripted = createScriptedModel({ steps: [{ text: '{"valid":true,"score":1}' }] })
    const model = { ...scripted, capabilities: { ...scripted.capabilities, output } }
    const world = ask([], { models: model, tools: [act(() => '')].slice(0, tools) })
    await world.answer()
    return scripted.requests[0]!
  }
  expect(await requestsOf('native', 1)).toMatchObject({ output: { name: 'tested', schema: { type: 'object' } } })
  expect((await requestsOf('native', 1)).instructions).toBe('')
  expect(await requestsOf('without-tools', 0)).toHaveProperty('output')
  for (const [output, tools] of [
    ['without-tools', 1],
    ['none', 0],
  ] as const) {
    const told = await requestsOf(output, tools)
    expect(told).not.toHaveProperty('output')
    expect(told.instructions).toMatch(/one JSON value and nothing else.*\n\{.*"valid"/)
  }
})

test('an agent without a schema has no output, and one whose schema is no object is refused', () => {
  expect(() => outputOf(defineAgent({ name: 'a' }), { outcome: 'answered', text: 'hi', usage: {} })).toThrow(
    'agent "a" has no output schema',
  )
  expect(() => defineAgent({ name: 'a', output: z.string() })).toThrow('output of agent "a"')
})

test('arguments with null for what may be left out run the tool without it', async () => {
  const given: unknown[] = []
  const look = { ...act((input) => void given.push(input)), input: z.object({ at: z.string().optional() }) }
  const world = createTestWorld({
    tools: [look],
    steps: [{ calls: [{ name: 'act', arguments: { at: null } }] }, { text: 'ok' }],
  })
  await world.time.until((await world.open()).send('go').answer)
  expect(given).toEqual([{}])
})
