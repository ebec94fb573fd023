// The end of an editor's output while answers are due.
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createLineStream } from './stdio.ts'

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('an answer is still due after the agent has asked something with the same id', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  output.resume()
  const { readable, writable } = createLineStream({
    input,
    output,
    messageBytes: 10_000,
    timers: { start: () => () => {} },
  })
  const [reader, writer] = [readable.getReader(), writable.getWriter()]
  input.end('{"jsonrpc":"2.0","id":1,"method":"session/load","params":{}}\n')
  expect(await reader.read()).toMatchObject({ value: { id: 1, method: 'session/load' } })
  let isOver = false
  const ended = reader.read().then(({ done }) => {
    isOver = done
  })
  await writer.write({ jsonrpc: '2.0', id: 1, method: 'fs/read_text_file', params: {} })
  await settle()
  expect(isOver).toBe(false)
  await writer.write({ jsonrpc: '2.0', id: 1, result: {} })
  await ended
  expect(isOver).toBe(true)
})
