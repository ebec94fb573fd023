// Results that handlers of client tools return, as the server gets them.
import { expect, test } from 'vitest'
import { runTool } from './client-tools.ts'

const context = { callId: 'c1', name: 'look', signal: new AbortController().signal }

test.each<[string, unknown]>([
  ['Response', new Response('x')],
  ['Map', new Map([['a', 1]])],
  ['Error', new Error('no camera')],
])('a %s is refused: the model would read {}', async (name, returned) => {
  expect(await runTool(() => returned, {}, context)).toEqual({
    error: expect.stringContaining(`"look" returned a value of ${name}, which JSON cannot write`) as string,
  })
})

class Point {
  readonly x = 1
}

test.each<[unknown, unknown]>([
  [{}, {}],
  [Object.create(null), {}],
  [new Point(), { x: 1 }],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
  [undefined, null],
])('%o is a result', async (returned, output) => {
  expect(await runTool(() => returned, {}, context)).toEqual({ output })
})

test('bytes and a result of MCP that says isError are refused as well', async () => {
  expect(await runTool(() => Uint8Array.of(1, 2), {}, context)).toEqual({
    error: '"look" returned a value of Uint8Array, which JSON cannot write; return a plain object, or text',
  })
  const failed = { content: [{ type: 'text', text: 'no camera' }], isError: true }
  expect(await runTool(() => failed, {}, context)).toEqual({
    error: expect.stringContaining('no camera') as string,
  })
  expect(await runTool(() => ({ content: 'a', isError: true }), {}, context)).toEqual({
    output: { content: 'a', isError: true },
  })
})
