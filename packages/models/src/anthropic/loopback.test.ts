// The adapter over the real transport and a real connection: what a user of Baton runs, with a server of our own.
import type { ModelEvent, ModelRequest } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SYSTEM_TIME } from '../transport/deadlines.ts'
import { createUndiciTransport } from '../transport/undici-transport.ts'
import { createAnthropicModel } from './index.ts'

const request: ModelRequest = {
  instructions: 'Be brief.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'größe?' }] }],
  tools: [{ name: 'agent.spawn', description: 'Starts an agent.', inputSchema: { type: 'object' } }],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
}
const EVENTS = [
  { type: 'message_start', message: { model: 'm', content: [], usage: { input_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '🦀 ä' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'agent_-dot-spawn', input: {} },
  },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"prompt":"ö"}' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const STREAM = Buffer.from(EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))

let server: Server
let handler: (incoming: IncomingMessage, response: ServerResponse) => void
beforeEach(async () => {
  server = createServer((incoming, response) => {
    incoming.resume()
    handler(incoming, response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_1' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function model() {
  // A server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  const transport = createUndiciTransport({ variables: {} })
  return createAnthropicModel({
    model: 'm',
    apiKey: 'sk-0123456789',
    baseUrl: `http://127.0.0.1:${port}`,
    transport,
    clock: SYSTEM_TIME.clock,
  })
}

test('text and a call, sent in pieces of seven bytes', async () => {
  handler = (_incoming, response) => {
    for (let start = 0; start < STREAM.length; start += 7) response.write(STREAM.subarray(start, start + 7))
    response.end()
  }
  const answer = await model().run(request, () => undefined, new AbortController().signal)
  expect(answer.parts).toEqual([
    { type: 'text', text: '🦀 ä' },
    {
      type: 'call',
      name: 'agent.spawn',
      arguments: '{"prompt":"ö"}',
      state: { provider: 'anthropic', model: 'm', data: { id: 'toolu_1' } },
    },
  ])
  expect([answer.finish, answer.requestId]).toEqual(['tool-calls', 'req_1'])
})

test('an abort at the first text: the server sees the connection close', async () => {
  const closed = new Promise<void>((resolve) => {
    handler = (incoming, response) => {
      incoming.socket.on('close', () => resolve())
      response.write(STREAM.subarray(0, STREAM.length - 40))
    }
  })
  const aborter = new AbortController()
  const sink = (event: ModelEvent) => {
    if (event.type === 'text-delta') aborter.abort()
  }
  const thrown = await model()
    .run(request, sink, aborter.signal)
    .catch((error: unknown) => error)
  expect(isBatonError(thrown) && thrown.code).toBe('cancelled')
  await closed
})

test.each([
  ['the body ends early', false, 'model_cut_off'],
  ['the connection breaks', true, 'model_network_failed'],
])('%s', async (_name, breaks, code) => {
  handler = (incoming, response) => {
    response.write(STREAM.subarray(0, STREAM.length - 40), () => {
      if (breaks) incoming.socket.destroy()
      else response.end()
    })
  }
  const thrown = await model()
    .run(request, () => undefined, new AbortController().signal)
    .catch((error: unknown) => error)
  expect(isBatonError(thrown) && thrown.code).toBe(code)
})
