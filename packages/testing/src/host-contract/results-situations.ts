// Results of server tools of any size and kind, and thrown errors. Each settles its call once.
import { expect } from 'vitest'
import { act, createCyclic, listCalls, never, resultsTold } from './situation-parts.ts'
import type { Situations, Stage } from './situation.ts'
import { forEachRow } from './situation.ts'

/** Plays one turn in which the model calls `act` once; returns what it read as the result. */
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

export const RESULT_SITUATIONS: Situations = {
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
    const { isError, text } = await readResult(stage, () => createCyclic())
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
}

/** Situations that take a second each, played by the nightly. */
export const LARGE_RESULT_SITUATIONS: Situations = {
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
}
