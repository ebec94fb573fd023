// What a provider's prompt cache knows of the requests of long conversations, by the rules of Anthropic and of Bedrock: marked
// prefixes are kept, and looked up at marks alone, with Claude up to 20 blocks further back.
import type { Agent, ModelRequest } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { encodeAnthropicRequest } from '@baton/models/anthropic'
import { encodeBedrockRequest } from '@baton/models/bedrock'
import { describe, expect, test } from 'vitest'

interface Rules {
  /** The blocks of a request in the order in which they are read, each as text, and whether it is marked. */
  readonly listBlocks: (request: ModelRequest) => readonly Block[]
  readonly lookBack: number
}

interface Block {
  readonly text: string
  readonly isMarked: boolean
}

const CLAUDE: Rules = {
  lookBack: 20,
  listBlocks: (request) => {
    const {
      tools = [],
      system = [],
      messages,
    } = encodeAnthropicRequest(request, { model: 'claude-haiku-4-5', cache: '5m' })
    const said = messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block })))
    return [...tools, ...system, ...said].map((block) => {
      const { cache_control: mark, ...rest } = block as { readonly cache_control?: unknown } // the part that counts here
      return { text: JSON.stringify(rest), isMarked: mark !== undefined }
    })
  },
}

const NOVA: Rules = {
  lookBack: 0,
  listBlocks: (request) => {
    const { system = [], messages } = encodeBedrockRequest(request, { model: 'amazon.nova-pro-v1:0', cache: '5m' })
    const said = messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block })))
    const blocks: Block[] = []
    for (const block of [...system, ...said])
      if ('cachePoint' in block) blocks.push({ text: blocks.pop()?.text ?? '', isMarked: true })
      else blocks.push({ text: JSON.stringify(block), isMarked: false })
    return blocks
  },
}

/** Of each request, the blocks that it has and those that it reads from the cache. */
interface Read {
  readonly blocks: number
  readonly known: number
}

function readThroughCache(requests: readonly ModelRequest[], { listBlocks, lookBack }: Rules): readonly Read[] {
  const kept = new Set<string>()
  return requests.map((request) => {
    const blocks = listBlocks(request)
    const prefixes = blocks.map((_, at) =>
      blocks
        .slice(0, at + 1)
        .map(({ text }) => text)
        .join('\n'),
    )
    const marks = blocks.flatMap(({ isMarked }, at) => (isMarked ? [at] : []))
    expect(marks.length).toBeLessThanOrEqual(4)
    const known = marks.flatMap((mark) =>
      Array.from({ length: lookBack + 1 }, (_, back) => mark - back).filter((at) => kept.has(prefixes[at] ?? '')),
    )
    for (const mark of marks) kept.add(prefixes[mark] ?? '')
    return { blocks: blocks.length, known: Math.max(0, ...known.map((at) => at + 1)) }
  })
}

/** What the model was asked in a conversation of so many questions; `steps` says what it answers. */
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
