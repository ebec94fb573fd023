// A provider's prompt cache across the requests of long conversations.
import type { Agent, ModelRequest } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { describe, expect, test } from 'vitest'
import { CLAUDE, NOVA, readThroughCache } from './prompt-cache.test-kit.ts'

/** Requests of a conversation with this many questions; `steps` provides the answers. */
async function converse(
  questions: number,
  steps: (request: ModelRequest, call: number) => ScriptedStep,
  window: Partial<Agent['window']> = {},
): Promise<readonly ModelRequest[]> {
  const model = createScriptedModel({ steps })
  const look = tool({
    name: 'look',
    description: 'Looks',
    input: { type: 'object', properties: { at: { type: 'string' } } },
    effect: 'pure',
    execute: ({ at }: { at?: string }) => `nothing at ${at}`.padEnd(400, '.'),
  })
  const agent = defineAgent({ name: 'talker', model, instructions: 'Be brief.', tools: [look], window })
  const host = createHost({ agent })
  const session = await host.session()
  for (let at = 0; at < questions; at++) await session.send(`Question ${at}`).answer
  await host.stop()
  return model.requests
}

const answer = (_: ModelRequest, call: number): ScriptedStep => ({ text: `Answer ${call}` })

describe.each([
  ['Claude', CLAUDE, 2],
  ['Nova', NOVA, 1],
])('%s', (_name, rules, fixed) => {
  test('reads all that the request before had, as long as the window does not move', async () => {
    const reads = readThroughCache(await converse(10, answer), rules)
    reads.forEach(({ known }, at) => expect([at, known]).toEqual([at, reads[at - 1]?.blocks ?? 0]))
  })

  test('reads it across a step of more calls than it looks back over', async () => {
    const calls = Array.from({ length: 15 }, (_, at) => ({ name: 'look', arguments: { at: `${at}` } }))
    const reads = readThroughCache(await converse(1, (_, call) => (call < 3 ? { calls } : { text: 'Done.' })), rules)
    expect(reads).toHaveLength(4)
    reads.forEach(({ known }, at) => expect([at, known]).toEqual([at, reads[at - 1]?.blocks ?? 0]))
  })

  test('reads instructions and tools when the window has moved, and all again in the requests after that', async () => {
    const requests = await converse(40, answer, { exchanges: 8, summarise: false })
    const reads = readThroughCache(requests, rules)
    const moved = requests.map(
      ({ messages }, at) => at > 0 && messages.length <= (requests[at - 1]?.messages.length ?? 0),
    )
    expect(moved.filter(Boolean)).toHaveLength(11)
    reads.forEach(({ known }, at) => {
      expect([at, known]).toEqual([at, moved[at] ? fixed : (reads[at - 1]?.blocks ?? 0)])
    })
  })

  test('reads what stands before a summary that was made within a turn', async () => {
    const requests = await converse(
      1,
      ({ instructions }, call) => {
        if (instructions !== 'Be brief.') return { text: 'It looked and found nothing.' }
        return call < 12 ? { calls: [{ name: 'look', arguments: { at: `${call}` } }] } : { text: 'Done.' }
      },
      { contextTokens: 1000, reserveTokens: 200 },
    )
    const asked = requests.filter(({ instructions }) => instructions === 'Be brief.')
    const reads = readThroughCache(asked, rules)
    const summarised = asked.map(({ messages }) => JSON.stringify(messages).includes('[Summary'))
    const first = summarised.indexOf(true)
    expect(first).toBeGreaterThan(2)
    // Claude looks back to the end of the turn's first request, the question.
    expect(reads[first]?.known).toBe(rules.lookBack > 0 ? fixed + 1 : fixed)
    expect(reads[first + 1]?.known).toBe(reads[first]?.blocks)
  })
})
