// Tools that Anthropic runs, under the real host: whatever became of their calls, fifty later turns are legal.
import type { HttpRequest, JsonObject } from '@baton/core'
import { defineAgent, isJsonObject, tool } from '@baton/core'
import { createHost } from '@baton/host'
import { createAnthropicModel } from '@baton/models/anthropic'
import { expect, test } from 'vitest'
import { validateAnthropicRequest } from '../wires/index.ts'

const CONTAINER = { id: 'container_1', expires_at: '2026-11-28T00:00:00Z' }
const SEARCH = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: {} }
const RAN = { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: {} }
const CALL = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'look',
  input: {},
  caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' },
}
const TEXT = { type: 'text', text: 'Done.' }

function stream(reason: string, blocks: readonly JsonObject[], more: JsonObject = {}): Uint8Array {
  const events = [
    { type: 'message_start', message: { id: 'm', model: 'claude-haiku-4-5', content: [], usage: { input_tokens: 5 } } },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: reason, ...more }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
  return new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}

async function playTurns(answers: readonly Uint8Array[], turns: number): Promise<readonly JsonObject[]> {
  const bodies: JsonObject[] = []
  const model = createAnthropicModel({
    model: 'claude-haiku-4-5',
    apiKey: 'k',
    clock: { nowMs: () => 0 },
    transport: {
      post: (request: HttpRequest, _signal, onBytes) => {
        const body: unknown = JSON.parse(request.body)
        if (isJsonObject(body)) bodies.push(body)
        const head = { status: 200, headers: { 'content-type': 'text/event-stream' } }
        onBytes(answers[bodies.length - 1] ?? stream('end_turn', [TEXT]), head)
        return Promise.resolve(head)
      },
    },
  })
  const look = tool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    execute: () => 'blue',
  })
  const host = createHost({ agent: defineAgent({ name: 'a', model, tools: [look] }) })
  const session = await host.session('s')
  for (let turn = 0; turn < turns; turn++) await session.send(`turn ${turn}`).answer
  await host.stop()
  return bodies
}

test.each([
  ['cut off by the limit of tokens', [stream('max_tokens', [TEXT, SEARCH])]],
  ['cut off alone', [stream('max_tokens', [SEARCH])]],
  ['paused, and then done', [stream('pause_turn', [SEARCH]), stream('end_turn', [RAN, TEXT])]],
  ['paused, and never done', [stream('pause_turn', [SEARCH]), stream('end_turn', [TEXT])]],
  [
    'waiting for a tool of ours',
    [stream('tool_use', [SEARCH, CALL], { container: CONTAINER }), stream('end_turn', [RAN, TEXT])],
  ],
  ['waiting in a container that was never told', [stream('tool_use', [SEARCH, CALL])]],
])('a call that was %s', async (_name, answers) => {
  const bodies = await playTurns(answers, 51)
  expect(bodies.length).toBeGreaterThan(50)
  expect(bodies.flatMap((body) => validateAnthropicRequest(body))).toEqual([])
})

test('the container of an answer goes back, in its turn and in later ones', async () => {
  const waiting = stream('tool_use', [SEARCH, CALL], { container: CONTAINER })
  const bodies = await playTurns([waiting, stream('end_turn', [RAN, TEXT])], 2)
  expect(bodies.map((body) => body['container'])).toEqual([undefined, 'container_1', 'container_1'])
})
