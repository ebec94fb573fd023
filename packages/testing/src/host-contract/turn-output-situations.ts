// Output schemas set for a single turn: its answer is a value of that schema, whatever its agent's own output is.
import { createScriptedModel } from '@baton/core/testing'
import { expect } from 'vitest'
import { z } from 'zod'
import { act, listCalls, textsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'
import { forEachRow } from './situation.ts'

const COUNT = z.object({ count: z.number().int() })
const NAMES = {
  type: 'object',
  properties: { names: { type: 'array', items: { type: 'string' } } },
  required: ['names'],
} as const

/** A library that validates but cannot describe its schema. */
const SILENT = {
  '~standard': { version: 1, vendor: 'silent', validate: (value: unknown) => ({ value }) },
} as const

export const TURN_OUTPUT_SITUATIONS: Situations = {
  'one turn answers with a value, and the next one in words': async ({ createWorld }) => {
    const steps = [{ text: 'three' }, { text: '{"count":3}' }, { text: 'Three it is.' }]
    const world = await createWorld({ steps })
    const session = await world.open()
    const counted = await world.time.until(session.send('How many?', { output: COUNT }).answer)
    expect(counted).toMatchObject({ stop: 'end', output: { count: 3 }, text: '{"count":3}' })
    expect(world.model.requests[0]?.instructions).toMatch(/one JSON value and nothing else.*\n\{.*"count"/)
    expect(textsTold(world.model, 'user')[1]).toMatch(/^Your answer does not fit the output schema/)
    const words = await world.time.until(session.send('Really?').answer)
    expect(words).toMatchObject({ text: 'Three it is.' })
    expect(words).not.toHaveProperty('output')
    expect(world.model.requests[2]?.instructions).toBe('')
    expect((await world.facts('turn-started')).map(({ output }) => output?.['type'])).toEqual(['object', undefined])
  },
  'the schema of a turn stands in for the agent’s, and goes to a provider that keeps schemas': async ({
    createWorld,
  }) => {
    const scripted = createScriptedModel({ steps: [{ text: '{"names":["Ann"]}' }, { text: '{"count":1}' }] })
    const model = { ...scripted, capabilities: { ...scripted.capabilities, output: 'native' as const } }
    const world = await createWorld({ steps: [], models: model, output: COUNT })
    const session = await world.open()
    const named = await world.time.until(session.send('Who?', { output: NAMES }).answer)
    expect(named.output).toEqual({ names: ['Ann'] })
    expect((await world.time.until(session.send('How many?').answer)).output).toEqual({ count: 1 })
    expect(scripted.requests.map(({ output }) => Object.keys(output?.schema['properties'] ?? {}))).toEqual([
      ['names'],
      ['count'],
    ])
  },
  'inputs that want other outputs have turns of their own, in the order in which they came': async ({
    createWorld,
  }) => {
    const gate = Promise.withResolvers<string>()
    const steps = [
      listCalls('act'),
      { text: 'well' },
      { text: 'words' },
      { text: '{"count":2}' },
      { text: '{"names":[]}' },
    ]
    const world = await createWorld({ tools: [act(() => gate.promise)], steps })
    const session = await world.open()
    const first = session.send('go')
    await world.time.settle()
    const plain = session.send('plain')
    const one = session.send('count', { output: COUNT })
    const other = session.send('count again', { output: COUNT })
    // It asks to join immediately, and cannot: the running turn answers in text.
    const names = session.send('names', { output: NAMES, delivery: 'steer' })
    await world.time.settle()
    gate.resolve('found')
    const answers = await world.time.until(
      Promise.all([first.answer, plain.answer, one.answer, other.answer, names.answer]),
    )
    expect(answers.map(({ text }) => text)).toEqual(['well', 'words', '{"count":2}', '{"count":2}', '{"names":[]}'])
    expect(answers.map(({ output }) => output)).toEqual([
      undefined,
      undefined,
      { count: 2 },
      { count: 2 },
      { names: [] },
    ])
    expect(await world.facts('turn-started')).toHaveLength(4)
  },
  'what steers without a schema comes into a turn that has one, and changes nothing of it': async ({ createWorld }) => {
    const gate = Promise.withResolvers<string>()
    const world = await createWorld({
      tools: [act(() => gate.promise)],
      steps: [listCalls('act'), { text: '{"count":4}' }],
    })
    const session = await world.open()
    const counted = session.send('count', { output: COUNT })
    await world.time.settle()
    const steering = session.send('the red ones too', { delivery: 'steer' })
    await world.time.settle()
    gate.resolve('found')
    expect((await world.time.until(counted.answer)).output).toEqual({ count: 4 })
    expect(await world.time.until(steering.answer)).toMatchObject({ text: '{"count":4}' })
    expect(textsTold(world.model, 'user')).toEqual(['count', 'the red ones too'])
  },
  'what only the library checks rejects the answer, and the model is not asked again': async ({ createWorld }) => {
    const even = COUNT.refine(({ count }) => count % 2 === 0, 'count must be even')
    const world = await createWorld({ steps: [{ text: '{"count":3}' }, { text: '{"count":4}' }] })
    const session = await world.open()
    await expect(world.time.until(session.send('an even one', { output: even }).answer)).rejects.toMatchObject({
      code: 'invalid_output',
      message: expect.stringContaining('count must be even') as string,
      data: { text: '{"count":3}', issues: expect.stringContaining('count must be even') as string },
    })
    expect(world.model.requests).toHaveLength(1)
    // The program gets the value as transformed by the schema.
    const doubled = z.object({ count: z.number().transform((count) => count * 2) })
    expect((await world.time.until(session.send('another', { output: doubled }).answer)).output).toEqual({ count: 8 })
  },
  'the events of such a turn have the value as far as it is written': async ({ createWorld }) => {
    const text = JSON.stringify({ names: ['Ann', 'Bob', 'Carla', 'Dimitri', 'Edna'] })
    const world = await createWorld({ steps: [{ pieces: text.match(/.{1,10}/g) ?? [] }] })
    const turn = (await world.open()).send('who?', { output: NAMES })
    const partials: unknown[] = []
    const reading = (async () => {
      for await (const event of turn) if (event.type === 'text' && event.partial) partials.push(event.partial)
    })()
    await world.time.until(Promise.all([turn.answer, reading]))
    expect(partials.length).toBeGreaterThan(0)
    for (const partial of partials) expect(partial).toHaveProperty('names')
  },
  ...forEachRow<[string, unknown, string, string]>(
    'an output schema that is %s is refused, and nobody is asked',
    [
      ['a list', { type: 'array', items: { type: 'string' } }, 'invalid_schema', 'must have type "object"'],
      ['no schema', 'count', 'invalid_event', 'output must be a schema'],
      ['of a library that does not describe it', SILENT, 'invalid_schema', 'does not implement ~standard.jsonSchema'],
      ['not to be said as JSON Schema', z.object({ at: z.date() }), 'invalid_schema', 'Date'],
      [
        'not to be checked',
        { type: 'object', properties: { a: { $ref: '#/$defs/nothing' } } },
        'invalid_schema',
        '$ref "#/$defs/nothing" leads nowhere',
      ],
      [
        'too large',
        { type: 'object', description: 'x'.repeat(40_000) },
        'input_too_large',
        'the output schema has 400',
      ],
    ],
    async ({ createWorld }, [, output, code, message]) => {
      const world = await createWorld({ steps: [{ text: 'ok' }] })
      const session = await world.open()
      const options = { output } as unknown as { readonly output: typeof COUNT } // invalid for the compiler
      const refused = { code, message: expect.stringContaining(message) as string }
      await expect(world.time.until(session.send('go', options).answer)).rejects.toMatchObject(refused)
      expect(world.model.requests).toHaveLength(0)
      expect((await world.time.until(session.send('go').answer)).text).toBe('ok')
    },
  ),
  'a command with a schema is decoded like a call of `send`': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: '{"names":["Ann"]}' }] })
    const session = await world.open()
    const parts = [{ type: 'text', text: 'who?' }] as const
    const broken = { type: 'object', properties: { a: { $ref: '#/$defs/nothing' } } }
    const refused = await session.submit({ type: 'user-input', inputId: 'a', parts, output: broken })
    expect(refused).toMatchObject({ type: 'refused', code: 'invalid_schema' })
    await world.time.until(session.submit({ type: 'user-input', inputId: 'b', parts, output: NAMES }))
    expect(await world.time.until(session.turn('b').answer)).toMatchObject({ output: { names: ['Ann'] } })
  },
  'a turn is found again with its value, and so is another try, and what is said in place of its question': async ({
    createWorld,
  }) => {
    const steps = [1, 2, 3].map((count) => ({ text: JSON.stringify({ count }) }))
    const world = await createWorld({ steps })
    const session = await world.open()
    await world.time.until(session.send('count', { output: COUNT, inputId: 'a' }).answer)
    expect((await world.time.until(session.turn('a').answer)).output).toEqual({ count: 1 })
    const typed = await world.time.until(session.turn('a', { output: COUNT }).answer)
    expect(typed.output?.count).toBe(1)
    await world.time.until(session.rewind({ message: 't1', again: true }))
    expect((await world.time.until(session.turn('a').answer)).output).toEqual({ count: 2 })
    await world.time.until(session.rewind({ message: 'a', replace: 'count otherwise', inputId: 'b' }))
    expect((await world.time.until(session.turn('b').answer)).output).toEqual({ count: 3 })
  },
}
