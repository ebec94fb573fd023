// Hostile session files: whatever stands in them, the tools answer in the shape that they promise, and lose no line.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolContext } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { codingSessionTools } from './index.ts'
import { createStore, idOf, user, writeClaudeCode, writeCodex } from './session-files.test-kit.ts'

const words = [
  ...`type user assistant system summary custom-title customTitle
 message content text tool_use tool_result input id name usage input_tokens timestamp cwd isSidechain session_meta payload response_item event_msg function_call function_call_output call_id output token_count info arguments total_token_usage exec_command_end changes patch_apply_end __proto__ constructor`.split(
    /\s+/,
  ),
  '\u001B[31m',
  '\uD800',
]
const word = fc.constantFrom(...words)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    word,
    fc.constantFrom(null, true, -1, 1e300, 3, '2026-05-01T00:00:00Z', '+275760-09-13T00:00:00.000Z'),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(word, tie('any'), { maxKeys: 5 }),
  ),
})).any
const line = fc.oneof(
  value.map((one) => JSON.stringify(one)),
  fc.dictionary(word, value, { maxKeys: 6 }).map((one) => JSON.stringify(one)),
  fc
    .record({ type: word, timestamp: value, message: fc.record({ role: value, content: value, usage: value }) })
    .map((one) => JSON.stringify(one)),
  fc
    .record({ type: fc.constantFrom('response_item', 'event_msg'), payload: fc.dictionary(word, value) })
    .map((one) => JSON.stringify(one)),
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' ')),
)

test('any line gives an answer of the promised shape, and what follows it is still read', async () => {
  const place = mkdtempSync(join(tmpdir(), 'baton-sessions-'))
  const store = createStore(place)
  const tools = codingSessionTools(store)
  const run = async (name: string, input: object): Promise<unknown> => {
    const tool = tools.find((candidate) => candidate.name === name)
    if (!tool?.execute || !(tool.input instanceof z.ZodType) || !(tool.output instanceof z.ZodType))
      throw new Error(name)
    const result: unknown = await tool.execute(tool.input.parse(input), createToolContext())
    expect(tool.output.parse(result)).toEqual(result)
    // What a host writes into its log.
    expect(JSON.parse(JSON.stringify(result))).toEqual(result)
    return result
  }
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
        writeClaudeCode(store, 1, [user(0, 'first'), ...lines, user(1, 'the last word')])
        writeCodex(store, 2, lines)
        expect(await run('session.list', {})).toMatchObject({ truncated: false })
        expect(await run('session.search', { pattern: 'last word' })).toMatchObject({ totalMatches: 1 })
        await run('session.search', { pattern: '.' })
        await run('session.analyze', {})
        await run('session.read', { sessionId: idOf(2), provider: 'codex' })
        const read = await run('session.read', { sessionId: idOf(1), provider: 'claude-code', maxEvents: 200 })
        expect(read).toHaveProperty(
          'events',
          expect.arrayContaining([expect.objectContaining({ text: 'the last word' })]),
        )
      }),
      { numRuns: chooseCount({ quick: 100, deep: 500 }) },
    )
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}, 300_000)
