// Runs a host on Claude answers that a test writes block by block, and records the requests it sends.
import type { HttpRequest, JsonObject } from '@baton/core/internal'
import { defineAgent, isJsonObject, tool } from '@baton/core/internal'
import { createHost } from '@baton/host'
import { createAnthropicModel } from '@baton/models/anthropic'

export function streamBlocks(reason: string, blocks: readonly JsonObject[], more: JsonObject = {}): Uint8Array {
  const events = [
    { type: 'message_start', message: { id: 'm', model: 'claude', content: [], usage: { input_tokens: 5 } } },
    ...blocks.flatMap((block, index) => [...listStart(block, index), { type: 'content_block_stop', index }]),
    { type: 'message_delta', delta: { stop_reason: reason, ...more }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
  return new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
}

/** A signature follows the start of its block. */
function listStart(block: JsonObject, index: number): readonly JsonObject[] {
  const { signature } = block
  const start = { type: 'content_block_start', index }
  if (signature === undefined) return [{ ...start, content_block: block }]
  return [
    { ...start, content_block: { ...block, signature: '' } },
    { type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } },
  ]
}

/** Answers after the given ones are "Done.". Returns the bodies of all requests. */
export async function playTurns(
  answers: readonly Uint8Array[],
  turns: number,
  name = 'claude-haiku-4-5',
): Promise<readonly JsonObject[]> {
  const bodies: JsonObject[] = []
  const done = streamBlocks('end_turn', [{ type: 'text', text: 'Done.' }])
  const model = createAnthropicModel({
    model: name,
    apiKey: 'k',
    clock: { nowMs: () => 0 },
    transport: {
      post: (request: HttpRequest, _signal, onBytes) => {
        const body: unknown = JSON.parse(request.body)
        if (isJsonObject(body)) bodies.push(body)
        const head = { status: 200, headers: { 'content-type': 'text/event-stream' } }
        onBytes(answers[bodies.length - 1] ?? done, head)
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
