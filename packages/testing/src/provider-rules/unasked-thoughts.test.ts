// A model that thinks without being asked, under the real host: its thoughts, whose text is left out, go back with its calls.
import type { HttpRequest, JsonObject } from '@baton/core'
import { defineAgent, isJsonObject, tool } from '@baton/core'
import { validateAnthropicRequest } from '../wires/index.ts'
import { createHost } from '@baton/host'
import { createAnthropicModel } from '@baton/models/anthropic'
import { expect, test } from 'vitest'

const THOUGHT = { type: 'thinking', thinking: '', signature: 'sig-1' }

function stream(stop: string, blocks: readonly JsonObject[]): Uint8Array {
  const events = [
    { type: 'message_start', message: { id: 'm', model: 'claude-opus-5-5', content: [], usage: { input_tokens: 5 } } },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: { ...block, signature: '' } },
      ...(typeof block['signature'] === 'string'
        ? [{ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature: block['signature'] } }]
        : []),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
  return new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}

test('thoughts without text stay with their signature', async () => {
  const bodies: JsonObject[] = []
  const answers = [
    stream('tool_use', [THOUGHT, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }]),
    stream('end_turn', [THOUGHT, { type: 'text', text: 'Done.' }]),
  ]
  const model = createAnthropicModel({
    model: 'claude-opus-5-5',
    apiKey: 'k',
    clock: { nowMs: () => 0 },
    transport: {
      post: (request: HttpRequest, _signal, onBytes) => {
        const body: unknown = JSON.parse(request.body)
        if (isJsonObject(body)) bodies.push(body)
        const head = { status: 200, headers: { 'content-type': 'text/event-stream' } }
        onBytes(answers[bodies.length - 1] ?? new Uint8Array(), head)
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
  expect((await session.send('look').answer).text).toBe('Done.')
  await host.stop()
  const [, second] = bodies
  expect(second?.['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: [THOUGHT, { type: 'tool_use', id: 'toolu_1' }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
  ])
  expect(bodies.flatMap((body) => validateAnthropicRequest(body))).toEqual([])
  expect(bodies.map((body) => [body['thinking'], body['output_config']])).toEqual([
    [{ type: 'adaptive' }, { effort: 'low' }],
    [{ type: 'adaptive' }, { effort: 'low' }],
  ])
})
