// Tools that Anthropic runs, under the real host: whatever happened to their calls, fifty later turns are valid.
import { expect, test } from 'vitest'
import { validateAnthropicRequest } from '../wires/index.ts'
import { playTurns, streamBlocks } from './played-claude.test-kit.ts'

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

test.each([
  ['cut off by the limit of tokens', [streamBlocks('max_tokens', [TEXT, SEARCH])]],
  ['cut off alone', [streamBlocks('max_tokens', [SEARCH])]],
  ['paused, and then done', [streamBlocks('pause_turn', [SEARCH]), streamBlocks('end_turn', [RAN, TEXT])]],
  ['paused, and never done', [streamBlocks('pause_turn', [SEARCH]), streamBlocks('end_turn', [TEXT])]],
  [
    'waiting for a tool of ours',
    [streamBlocks('tool_use', [SEARCH, CALL], { container: CONTAINER }), streamBlocks('end_turn', [RAN, TEXT])],
  ],
  ['waiting in a container that was never told', [streamBlocks('tool_use', [SEARCH, CALL])]],
])('a call that was %s', async (_name, answers) => {
  const bodies = await playTurns(answers, 51)
  expect(bodies.length).toBeGreaterThan(50)
  expect(bodies.flatMap((body) => validateAnthropicRequest(body))).toEqual([])
})

test('the container of an answer goes back, in its turn and in later ones', async () => {
  const waiting = streamBlocks('tool_use', [SEARCH, CALL], { container: CONTAINER })
  const bodies = await playTurns([waiting, streamBlocks('end_turn', [RAN, TEXT])], 2)
  expect(bodies.map((body) => body['container'])).toEqual([undefined, 'container_1', 'container_1'])
})
