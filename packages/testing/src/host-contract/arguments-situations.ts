// A model's arguments for server tools: mismatched arguments, invalid schemas, missing tools.
import { makeTool, tool } from '@baton/core/internal'
import { expect } from 'vitest'
import { z } from 'zod'
import { act, createCyclic, listCalls, never, resultsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'

export const ARGUMENT_SITUATIONS: Situations = {
  'arguments that Zod refuses tell the model what is wrong; the corrected call works': async ({ createWorld }) => {
    const add = tool({
      name: 'add',
      description: 'adds',
      input: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => a + b,
    })
    const world = await createWorld({
      tools: [add],
      steps: [
        { calls: [{ name: 'add', arguments: { a: 'two', b: 3 } }] },
        { calls: [{ name: 'add', arguments: { a: 2, b: 3 } }] },
        { text: 'done' },
      ],
    })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    const settled = (await world.facts('call-settled')).map(({ settlement }) => settlement)
    expect(settled).toMatchObject([
      { type: 'error', code: 'invalid_arguments', message: 'a: Invalid input: expected number, received string' },
      { type: 'ok', content: [{ text: '5' }] },
    ])
  },
  'arguments that a JSON Schema refuses name the property and the allowed values': async ({ createWorld }) => {
    const input = {
      // Most existing tools still declare this, so it must not make the schema unusable.
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'shared-by-two',
      type: 'object',
      properties: { mode: { enum: ['fast', 'slow'] } },
      required: ['mode'],
      additionalProperties: false,
    } as const
    const named = (name: string) => tool({ name, description: name, input, execute: () => 'fine' })
    const world = await createWorld({
      tools: [named('one'), { ...named('two'), input: { ...input } }],
      steps: [
        {
          calls: [
            { name: 'one', arguments: { mode: 'medium', speed: 1 } },
            { name: 'two', arguments: '[]' },
          ],
        },
        { calls: [{ name: 'two', arguments: { mode: 'fast' } }] },
        { text: 'done' },
      ],
    })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    const [first, second, third] = (await world.facts('call-settled')).map(({ settlement }) => settlement)
    expect(first).toMatchObject({
      message:
        'the value must NOT have additional properties: "speed"; ' +
        '/mode must be equal to one of the allowed values: ["fast","slow"]',
    })
    expect(second).toMatchObject({ code: 'invalid_arguments' })
    expect(third).toMatchObject({ type: 'ok' })
  },
  'a schema that cannot be compiled is left out of the check; one that throws or hangs costs its own call only':
    async ({ createWorld }) => {
      const broken = { type: 'object', properties: { a: { $ref: 'http://nowhere/a.json' } } } as const
      const standard = (validate: () => never | Promise<never>) =>
        ({
          '~standard': {
            version: 1,
            vendor: 'test',
            validate,
            jsonSchema: { input: () => ({ type: 'object' }), output: () => ({}) },
          },
        }) as const
      const throws = standard(() => {
        throw new Error('schema bug')
      })
      const world = await createWorld({
        tools: [
          makeTool({ name: 'a', description: 'a', input: broken, execute: () => 1 }), // warns nobody
          tool({ name: 'b', description: 'b', input: throws, execute: () => 2 }),
          tool({ name: 'c', description: 'c', input: standard(never), execute: () => 3 }),
          act(() => 4),
        ],
        steps: [listCalls('a', 'b', 'c', 'act'), { text: 'done' }],
      })
      const session = await world.open()
      await world.time.until(session.send('go').answer)
      const told = resultsTold(world.model).map(({ text }) => text)
      expect(told[0]).toBe('1')
      expect(told[1]).toContain('could not be checked: schema bug')
      expect(told[2]).toContain('took longer than 10000 ms')
      expect(told[3]).toBe('4')
    },
  'a thousand wrong items are told in bounded words': async ({ createWorld }) => {
    const input = { type: 'object', properties: { items: { type: 'array', items: { type: 'number' } } } } as const
    const world = await createWorld({
      tools: [tool({ name: 'act', description: 'act', input, execute: () => 1 })],
      steps: [
        { calls: [{ name: 'act', arguments: { items: Array.from({ length: 1000 }, () => 'x') } }] },
        { text: 'done' },
      ],
    })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    expect(resultsTold(world.model)[0]?.text.length).toBeLessThan(2100)
  },
  'a tool that nobody has, and a result that its own schema refuses, are errors for the model': async ({
    createWorld,
  }) => {
    const output = { type: 'object', required: ['id'] } as const
    const world = await createWorld({
      tools: [act(() => ({ name: 'no id' }), { output }), act(() => createCyclic(), { name: 'cyclic', output })],
      steps: [listCalls('no.such', 'act', 'cyclic'), { text: 'done' }],
    })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    expect(resultsTold(world.model)).toMatchObject([
      { isError: true, text: 'Error: there is no tool "no.such"' },
      { isError: true, text: expect.stringContaining("the value must have required property 'id'") },
      { isError: true, text: expect.stringContaining('the result is not JSON') },
    ])
  },
}
