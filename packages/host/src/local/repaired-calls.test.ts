// Arguments with small mistakes: repaired calls run and the log says so, unrepairable ones go back to the model, and
// truncated ones are never touched.
import type { FinishReason, JsonObject, Model, ModelCallPart, ModelPart } from '@baton/core/internal'
import { tool } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createTestWorld, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { tags: { type: 'array', items: { type: 'string' } }, text: { type: 'string' } },
  additionalProperties: false,
}

interface Ran {
  /** Inputs of the tool. */
  readonly inputs: readonly unknown[]
  /** Results as the model read them. */
  readonly told: string
  readonly repairs: readonly string[] | undefined
  /** The arguments kept in the history. */
  readonly kept: string | undefined
  readonly outcome: string
}

/** One turn of an agent whose model makes this call, then says "done". */
async function run(call: Partial<ModelCallPart>, finish: FinishReason = 'tool-calls'): Promise<Ran> {
  const inputs: unknown[] = []
  const write = tool({
    name: 'write',
    description: 'Writes.',
    input: SCHEMA,
    effect: 'once',
    execute: (input) => {
      inputs.push(input)
      return 'written'
    },
  })
  const scripted = createScriptedModel({ id: 'm', steps: [{ text: 'done' }] })
  let asked = 0
  const model: Model = {
    ...scripted,
    run: async (request, sink, signal) => {
      asked += 1
      const parts: readonly ModelPart[] = [{ type: 'call', name: 'write', arguments: '{}', ...call }]
      return asked === 1 ? { parts, finish, usage: {}, model: 'm' } : await scripted.run(request, sink, signal)
    },
  }
  const world = createTestWorld({ models: model, tools: [write], steps: [] })
  const session = await world.open()
  const answer = await world.time.until(session.send('go').answer)
  const [step] = await world.facts('step-finished')
  const part = step?.parts.find((one) => one.type === 'call')
  const told = scripted.requests[0]?.messages.at(-1)?.parts[0]
  return {
    inputs,
    told: told?.type === 'result' && told.content[0]?.type === 'text' ? told.content[0].text : '',
    repairs: step?.calls[0]?.repairs,
    kept: part?.type === 'call' ? part.arguments : undefined,
    outcome: answer.outcome,
  }
}

test.each<[string, string, unknown, readonly string[]]>([
  ['a trailing comma', '{"text": "a",}', { text: 'a' }, ['trailing-comma']],
  ['single quotes', "{'text': 'a'}", { text: 'a' }, ['single-quotes']],
  ['a list in a text', '{"tags": "[\\"a\\", \\"b\\"]"}', { tags: ['a', 'b'] }, ['json-text']],
  ['a list of Python in a text', `{"tags": "['a', 'b',]"}`, { tags: ['a', 'b'] }, ['json-text']],
  ['all of it in a text', '"{\\"text\\": \\"a\\"}"', { text: 'a' }, ['json-text']],
  ['a bracket too many', '{"text": "a"}}', { text: 'a' }, ['extra-bracket']],
  ['a raw line break', '{"text": "a\nb"}', { text: 'a\nb' }, ['raw-control']],
  ['two mistakes', `{'tags': '["a"]',}`, { tags: ['a'] }, ['single-quotes', 'trailing-comma', 'json-text']],
])('%s is repaired, and the log says so', async (_, text, input, repairs) => {
  const ran = await run({ arguments: text })
  expect(ran.inputs).toEqual([input])
  expect([ran.repairs?.toSorted(), JSON.parse(ran.kept ?? '')]).toEqual([repairs.toSorted(), input])
})

test('right arguments are left alone, also when a text looks like a list', async () => {
  const given = '{ "text": "[1, 2]" }'
  const ran = await run({ arguments: given })
  expect([ran.inputs, ran.kept, ran.repairs]).toEqual([[{ text: '[1, 2]' }], given, undefined])
})

test.each<[string, string, FinishReason]>([
  ['arguments that end early', '{"text": "a', 'tool-calls'],
  ['arguments without their last bracket', '{"text": "a"', 'tool-calls'],
  ['single quotes that end early', "{'text': 'a', 'tags': '", 'tool-calls'],
  ['single quotes around a bracket, cut', "{'text': '}", 'tool-calls'],
  ['a trailing comma in an answer at its limit', '{"text": "a",}', 'max-tokens'],
  ['a list in a text in an answer at its limit', '{"tags": "[]"}', 'max-tokens'],
  ['names without quotes', '{text: "a"}', 'tool-calls'],
])('never repaired: %s', async (_, text, finish) => {
  const ran = await run({ arguments: text }, finish)
  expect([ran.inputs, ran.repairs]).toEqual([[], undefined])
  expect(ran.told).toMatch(/nothing was executed|not a JSON object/)
})

test('an output that matches no schema after a repair fails with the schema’s words', async () => {
  const ran = await run({ arguments: '{"wrong": True}' })
  expect(ran.inputs).toEqual([])
  expect(ran.told).toContain('"wrong"')
  expect(ran.repairs).toEqual(['python-literal'])
})

test('a call that its adapter could not read goes back with the adapter’s words, and what it repaired is in the log', async () => {
  const unreadable = await run({ name: 'what?', unreadable: 'the call is no JSON: write it again' })
  expect([unreadable.inputs, unreadable.outcome]).toEqual([[], 'answered'])
  expect(unreadable.told).toContain('the call is no JSON: write it again')
  const repaired = await run({ arguments: '{"text": "a"}', repairs: ['fence'] })
  expect([repaired.inputs, repaired.repairs]).toEqual([[{ text: 'a' }], ['fence']])
})

test.each(['write<|channel|>commentary', 'functions.write:0', 'default_api.write', 'default_api:write'])(
  'the name %s means the tool, and the log says so',
  async (name) => {
    const ran = await run({ name, arguments: '{"text": "a"}' })
    expect([ran.inputs, ran.repairs]).toEqual([[{ text: 'a' }], ['tool-name']])
  },
)

test('a call whose arguments never came does not run, and the model is told', async () => {
  const ran = await run({ arguments: '' })
  expect(ran.inputs).toEqual([])
  expect(ran.told).toContain('the arguments end early')
  expect(ran.kept).toBe('{}')
})
