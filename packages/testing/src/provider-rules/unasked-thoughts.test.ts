// A model that thinks without being asked, under the real host: its thinking, with the text omitted, is sent back with
// its calls.
import { expect, test } from 'vitest'
import { validateAnthropicRequest } from '../wires/index.ts'
import { playTurns, streamBlocks } from './played-claude.test-kit.ts'

const THOUGHT = { type: 'thinking', thinking: '', signature: 'sig-1' }

test('thoughts without text stay with their signature', async () => {
  const answers = [
    streamBlocks('tool_use', [THOUGHT, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }]),
    streamBlocks('end_turn', [THOUGHT, { type: 'text', text: 'Done.' }]),
  ]
  const bodies = await playTurns(answers, 1, 'claude-opus-5-5')
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
