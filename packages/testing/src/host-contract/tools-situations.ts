// Server tools through the Session API: whatever a tool does, its call settles once and the turn ends.
import type { JsonValue } from '@baton/core'
import { tool } from '@baton/core'
import { expect } from 'vitest'
import { z } from 'zod'
import { act, CALL, listCalls, never, resultsTold } from './situation-parts.ts'
import type { Situations, Stage } from './situation.ts'
import { forEachRow } from './situation.ts'

/** One turn in which the model calls `act` once; gives what it is told of the result. */
async function readResult({ createWorld }: Stage, execute: () => unknown) {
  const world = await createWorld({ tools: [act(execute)], steps: [listCalls('act'), { text: 'done' }] })
  const session = await world.open()
  const answer = await world.time.until(session.send('go').answer)
  expect(answer.text).toBe('done')
  expect(await world.facts('call-settled')).toHaveLength(1)
  return { ...resultsTold(world.model)[0], world }
}

const hostile = {
  toString: () => {
    throw new Error('no text either')
  },
}

const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic

export const TOOL_SITUATIONS: Situations = {
  'a tool that throws what cannot be looked at fails alone': async ({ createWorld }) => {
    const odd = new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw new Error('not to be looked at')
        },
      },
    )
    const tools = [
      act(() => Promise.reject(odd as Error), { name: 'odd' }),
      act(() => 'paid', { name: 'pay', effect: 'once' }),
    ]
    const world = await createWorld({ tools, steps: [listCalls('odd', 'pay'), { text: 'done' }] })
    const session = await world.open()
    expect((await world.time.until(session.send('go').answer)).text).toBe('done')
    expect(resultsTold(world.model)).toMatchObject([{ isError: true }, { isError: false, text: 'paid' }])
    expect(world.warnings).toEqual([])
  },
  'an image of a result is read as strictly as one of an input': async ({ createWorld }) => {
    const wrong = [
      { type: 'image', mediaType: 'text/html', source: { type: 'url', url: 'file:///etc/passwd' } },
      { type: 'image', mediaType: 'image/png\r\nX: y', source: { type: 'base64', data: 'AAAA' } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ]
    for (const part of wrong) {
      const world = await createWorld({
        tools: [act(() => ({ content: [part] }))],
        steps: [listCalls('act'), { text: 'done' }],
      })
      await world.time.until((await world.open()).send('go').answer)
      expect((await world.facts('call-settled'))[0]?.settlement).toMatchObject({
        type: 'error',
        code: 'result_invalid',
      })
    }
  },
  ...forEachRow(
    'a tool that throws %s is an error for the model, and the turn goes on',
    [
      [
        'an error',
        () => {
          throw new Error('broken')
        },
        'Error: broken',
      ],
      [
        'nothing at all',
        () => {
          throw undefined
        },
        'Error: unknown',
      ],
      [
        'a string',
        () => {
          throw 'just words'
        },
        'Error: just words',
      ],
      [
        'an object',
        () => {
          throw { reason: 'quota' }
        },
        'Error: {"reason":"quota"}',
      ],
      [
        'an object without a prototype',
        () => {
          throw Object.assign(Object.create(null), { a: 1n })
        },
        'Error: unknown',
      ],
      [
        'an object that cannot be shown',
        () => {
          throw hostile
        },
        'Error: {}',
      ],
      [
        'a symbol',
        () => {
          throw Symbol('odd')
        },
        'Error: Symbol(odd)',
      ],
      [
        'an error whose message is no text',
        () => {
          throw Object.assign(new Error(), { message: 42 })
        },
        'Error: 42',
      ],
      ['a rejection', () => Promise.reject(new Error('late')), 'Error: late'],
    ],
    async (stage, [, execute, told]) => {
      expect(await readResult(stage, execute)).toMatchObject({ isError: true, text: told })
    },
  ),
  ...forEachRow<[string, unknown, boolean, string]>(
    'a tool that returns %s',
    [
      ['undefined', undefined, false, 'null'],
      ['a number', 0, false, '0'],
      ['an empty text', '', false, ''],
      ['a function', () => 1, true, 'Error: the result is a function, which is not JSON'],
      ['a symbol', Symbol('x'), true, 'Error: the result is a symbol, which is not JSON'],
      ['a BigInt', 1n, true, 'Error: the result is not JSON: Do not know how to serialize a BigInt'],
      ['an object whose content is no content', { content: ['a', 1] }, false, '{"content":["a",1]}'],
      ['parts that are broken', { content: [{ type: 'text' }] }, false, '{"content":[{"type":"text"}]}'],
      ['parts with more on them', { content: [{ type: 'text', text: 'x', big: 1n }] }, false, 'x'],
    ],
    async (stage, [, value, isError, text]) => {
      expect(await readResult(stage, () => value)).toMatchObject({ isError, text })
    },
  ),
  'a tool that returns a cyclic value is an error for the model': async (stage) => {
    const { isError, text } = await readResult(stage, () => cyclic)
    expect(isError).toBe(true)
    expect(text).toContain('the result is not JSON: Converting circular structure')
  },
  'an image that a tool returns goes to the model as an image': async (stage) => {
    const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'iVBORw0KGgo=' } }
    const { world } = await readResult(stage, () => ({ content: [{ type: 'text', text: 'see' }, image] }))
    expect(world.model.requests[1]?.messages.at(-1)?.parts[0]).toMatchObject({
      content: [{ type: 'text', text: 'see' }, image],
    })
  },
  'a megabyte of result is bounded, and the model reads on to its end': async ({ createWorld }) => {
    const large = Array.from({ length: 40_000 }, (_, line) => `{"line":${line},"said":"\\"😀"}`).join('\n')
    const read: string[] = []
    const world = await createWorld({
      tools: [act(() => large)],
      limits: { toolRounds: 200, callsPerTurn: 200 },
      steps: (request, call) => {
        if (call === 0) return listCalls('act')
        const told = request.messages.at(-1)?.parts[0]
        const text = told?.type === 'result' && told.content[0]?.type === 'text' ? told.content[0].text : ''
        expect(text.length).toBeLessThan(16_384)
        const note = text.slice(text.lastIndexOf('\n[') + 1)
        read.push(text.slice(0, text.lastIndexOf('\n[')))
        const next = /result\.read (\{.*\})\]$/.exec(note)?.[1]
        return next ? { calls: [{ name: 'result.read', arguments: next }] } : { text: `${note} done` }
      },
    })
    const session = await world.open()
    const answer = await world.time.until(session.send('go').answer)
    expect(answer.text).toMatch(/of \d+\. This is the end\] done$/)
    expect(read.join('')).toBe(large)
    const declared = world.model.requests.map(({ tools }) => tools.map(({ name }) => name))
    expect(declared[0]).toEqual(['act'])
    expect(declared[1]).toEqual(['act', 'result.read'])
  },
  'a result that the store cannot keep still reaches the model, with its head': async ({ createWorld }) => {
    for (const put of [never, () => Promise.reject(new Error('disk full'))]) {
      const world = await createWorld({
        tools: [act(() => 'x'.repeat(50_000))],
        steps: [listCalls('act'), { text: 'done' }],
        blobs: { put },
      })
      const session = await world.open()
      await world.time.until(session.send('go').answer)
      const [told] = resultsTold(world.model)
      expect(told?.isError).toBe(false)
      expect(told?.text).toMatch(/^x{12288}\n\[characters 0 to 12288 of 50000\. The rest could not be kept\]$/)
      await world.host.stop()
    }
  },
  'a tool that hangs settles at its deadline, and the turn ends': async ({ createWorld }) => {
    const world = await createWorld({
      tools: [act(never, { timeoutMs: 5000 })],
      steps: [listCalls('act'), { text: 'done' }],
    })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.pass(4999)
    expect(session.phase).toBe('calling')
    await world.time.pass(1)
    expect((await turn.answer).text).toBe('done')
    expect(resultsTold(world.model)).toEqual([{ isError: true, text: 'Error: tool_result_timeout' }])
  },
  'a tool that ignores its signal and finishes late is logged, and changes nothing': async ({ createWorld }) => {
    const late = Promise.withResolvers<string>()
    const signals: boolean[] = []
    const slow = act(
      async (_, { signal }) => {
        signal.addEventListener('abort', () => signals.push(true))
        return await late.promise
      },
      { timeoutMs: 1000 },
    )
    const world = await createWorld({ tools: [slow], steps: [listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    expect(signals).toEqual([true])
    late.resolve('too late')
    await world.time.settle()
    expect(await world.facts('result-ignored')).toMatchObject([{ callId: CALL, reason: 'late', preview: 'too late' }])
    expect(await world.facts('call-settled')).toHaveLength(1)
  },
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
      // As most tools in the world still say: it must not make the schema unusable.
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
  'a schema that cannot be compiled, throws or hangs costs its own call only': async ({ createWorld }) => {
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
        tool({ name: 'a', description: 'a', input: broken, execute: () => 1 }),
        tool({ name: 'b', description: 'b', input: throws, execute: () => 2 }),
        tool({ name: 'c', description: 'c', input: standard(never), execute: () => 3 }),
        act(() => 4),
      ],
      steps: [listCalls('a', 'b', 'c', 'act'), { text: 'done' }],
    })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    const told = resultsTold(world.model).map(({ text }) => text)
    expect(told[0]).toContain("could not be checked: can't resolve reference http://nowhere/a.json")
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
      tools: [act(() => ({ name: 'no id' }), { output }), act(() => cyclic, { name: 'cyclic', output })],
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
  'calls run at once, eight at most, and their results go back in the order of the calls': async ({ createWorld }) => {
    const gates = Array.from({ length: 10 }, () => Promise.withResolvers<string>())
    const running: number[] = []
    const tools = gates.map((gate, index) =>
      act(
        async () => {
          running.push(index)
          return await gate.promise
        },
        { name: `t${index}` },
      ),
    )
    const names = tools.map(({ name }) => name)
    const world = await createWorld({ tools, steps: [listCalls(...names), { text: 'done' }] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    expect(running).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    gates[7]?.resolve('r7')
    await world.time.settle()
    expect(running).toHaveLength(9)
    gates.toReversed().forEach((gate, index) => gate.resolve(`r${9 - index}`))
    await world.time.until(turn.answer)
    expect(resultsTold(world.model).map(({ text }) => text)).toEqual(names.map((_, index) => `r${index}`))
  },
  'a tool that wants no other beside it waits, and all wait for it': async ({ createWorld }) => {
    let running = 0
    const most: number[] = []
    const execute = async (): Promise<void> => {
      most.push((running += 1))
      await Promise.resolve()
      running -= 1
    }
    const tools = [act(execute, { name: 'a', parallel: false }), act(execute, { name: 'b', parallel: false })]
    const world = await createWorld({ tools, steps: [listCalls('a', 'b', 'a'), { text: 'done' }] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    expect(most).toEqual([1, 1, 1])
  },
  'a tool gets its context: who, where, which call, services, and a signal of its own': async ({ createWorld }) => {
    const contexts: unknown[] = []
    const look = act((_, { signal, log, progress, plan, ask, ...plain }) => {
      contexts.push({ ...plain, aborted: signal.aborted, log: typeof log.info, acts: [progress, plan, ask].length })
    })
    const services = { github: 'token of ann' }
    const world = await createWorld({
      tools: [look],
      steps: [listCalls('act'), { text: 'done' }],
      catalog: { services },
    })
    const session = await world.host.session('s', { principal: { id: 'ann' } })
    await session.send('go').answer
    expect(contexts).toEqual([
      {
        session: 's',
        agent: 'tested',
        principal: { id: 'ann' },
        callId: CALL,
        turn: 1,
        attempt: 1,
        idempotencyKey: 's/call_id2_1_0',
        aborted: false,
        services,
        log: 'function',
        acts: 3,
      },
    ])
  },
  'progress reaches who watches; what is too long, no JSON or too late does not, and harms nothing': async ({
    createWorld,
  }) => {
    const later: ((note: JsonValue) => void)[] = []
    const noted = act((_, { progress }) => {
      const note = { done: 1 }
      progress(note)
      note.done = 2
      progress('x'.repeat(5000))
      progress(cyclic as never)
      progress(1n as never)
      progress((() => {}) as never)
      later.push(progress)
      return 'fine'
    })
    const world = await createWorld({ tools: [noted], steps: [listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    const turn = session.send('go')
    const notes: unknown[] = []
    for await (const event of turn) {
      if (event.type === 'call-progress') notes.push(event.note)
      if (event.type === 'call' && event.call.result) later[0]?.('too late')
    }
    expect(notes).toEqual([{ done: 1 }])
    expect(resultsTold(world.model)[0]?.text).toBe('fine')
    expect(world.warnings.filter((warning) => warning.includes('progress'))).toHaveLength(4)
  },
}
