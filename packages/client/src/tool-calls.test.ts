// Results that handlers of a client of version 1 return, as the server gets them.
import { expect, test } from 'vitest'
import { createToolCalls } from './tool-calls.ts'

async function run(returned: unknown) {
  const calls = createToolCalls({ look: () => returned })
  return await calls.run({ callId: 'c1', name: 'look', arguments: '{}' } as never) // the fields that it reads
}

test.each<[string, unknown]>([
  ['Response', new Response('x')],
  ['Map', new Map([['a', 1]])],
  ['Error', new Error('no camera')],
  ['Uint8Array', Uint8Array.of(1, 2)],
])('a %s is refused: the model would read {}', async (name, returned) => {
  expect(await run(returned)).toEqual({
    callId: 'c1',
    result: null,
    error: expect.stringContaining(`"look" returned a value of ${name}, which JSON cannot write`) as string,
  })
})

test('a result of MCP that says isError is an error with its text', async () => {
  const failed = { content: [{ type: 'text', text: 'no camera' }], isError: true }
  expect(await run(failed)).toMatchObject({ result: null, error: expect.stringContaining('no camera') as string })
})

test.each<[unknown, string]>([
  [{}, '{}'],
  ['plain text', 'plain text'],
  [undefined, 'null'],
  [new Date(0), '"1970-01-01T00:00:00.000Z"'],
])('%o is a result', async (returned, result) => {
  expect(await run(returned)).toEqual({ callId: 'c1', result, error: null })
})
