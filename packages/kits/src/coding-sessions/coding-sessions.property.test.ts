// Hostile session files: whatever they contain, the tools return the promised shape and lose no line.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolContext } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { codingSessionTools } from './index.ts'
import {
  createStore,
  idOf,
  user,
  writeClaudeCode,
  writeCodex,
  writeGemini,
  writeGeminiLines,
  writeOpenCodeFiles,
  writeOpenCodeRows,
} from './session-files.test-kit.ts'

const words = [
  ...`type user assistant system summary custom-title customTitle
 message content text tool_use tool_result input id name usage input_tokens timestamp cwd isSidechain session_meta payload response_item event_msg function_call function_call_output call_id output token_count info arguments total_token_usage exec_command_end changes patch_apply_end
 gemini info error toolCalls args result status functionResponse response thoughts subject tokens cached $set $rewindTo messages kind subagent summary
 kind data part role time created state completed callID tool step-finish reasoning cache synthetic mime modelID __proto__ constructor`.split(
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
  fc
    .record({
      id: word,
      type: fc.constantFrom('gemini', 'user', 'error'),
      content: value,
      timestamp: value,
      toolCalls: fc.array(fc.dictionary(word, value), { maxLength: 3 }),
      thoughts: value,
      tokens: value,
    })
    .map((one) => JSON.stringify(one)),
  fc
    .record({
      type: fc.constantFrom('tool', 'text', 'file', 'step-finish', 'retry'),
      callID: word,
      text: value,
      state: fc.dictionary(word, value),
      time: value,
      tokens: value,
    })
    .map((one) => JSON.stringify(one)),
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' ')),
)

const said = (text: string) => ({ id: 'the last', type: 'user', timestamp: '2026-05-01T00:00:00Z', content: text })

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns the texts of all pages. */
async function readAll(
  run: (name: string, input: object) => Promise<unknown>,
  sessionId: string,
): Promise<readonly string[]> {
  const texts: string[] = []
  for (let startLine: number | undefined = 1; startLine !== undefined;) {
    const page = pageShape.parse(await run('session.read', { sessionId, startLine, maxEvents: 200 }))
    texts.push(...page.events.map(({ text }) => text))
    startLine = page.next?.startLine
  }
  return texts
}

const pageShape = z.object({
  events: z.array(z.object({ text: z.string() })),
  next: z.object({ startLine: z.int() }).optional(),
})

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
    // Results must survive a round trip through a host's log.
    expect(JSON.parse(JSON.stringify(result))).toEqual(result)
    return result
  }
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
        writeClaudeCode(store, 1, [user(0, 'first'), ...lines, user(1, 'the last word')])
        writeCodex(store, 2, lines)
        writeGemini(store, 3, [...lines.map(parse), said('the last word')])
        writeGeminiLines(store, 4, [...lines, said('the last word')])
        const own = { info: { role: 'user' }, parts: [...lines, { type: 'text', text: 'the last word' }] }
        const messages = [...lines.slice(0, 4).map((info) => ({ info, parts: lines.slice(4, 6) })), own]
        rmSync(store.opencode, { recursive: true })
        mkdirSync(store.opencode)
        writeOpenCodeFiles(store, 5, messages)
        writeOpenCodeRows(store, 6, messages)
        expect(await run('session.list', {})).toMatchObject({ truncated: false })
        expect(await run('session.search', { pattern: 'last word' })).toMatchObject({ totalMatches: 5 })
        await run('session.search', { pattern: '.' })
        await run('session.analyze', {})
        await run('session.read', { sessionId: idOf(2), provider: 'codex' })
        for (const sessionId of [idOf(1), idOf(3), idOf(4), 'ses_5', 'ses_6'])
          expect(await readAll(run, sessionId)).toContain('the last word')
      }),
      { numRuns: chooseCount({ quick: 5, landing: 15, deep: 500 }) },
    )
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
})
