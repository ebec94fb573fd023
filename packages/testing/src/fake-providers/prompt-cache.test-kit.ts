// The prompt caches of Anthropic and Bedrock, by their rules: marked prefixes are stored, and looked up only at marks;
// for Claude also up to 20 blocks earlier.
import type { ModelRequest } from '@baton/core'
import { encodeAnthropicRequest } from '@baton/models/internal'
import { encodeBedrockRequest } from '@baton/models/internal'
import { expect } from 'vitest'

export interface CacheRules {
  /** The blocks of a request in reading order, each as text, and whether it is marked. */
  readonly listBlocks: (request: ModelRequest) => readonly Block[]
  readonly lookBack: number
  /** UTF-16 units of the shortest prefix that is stored. */
  readonly leastChars: number
}

interface Block {
  readonly text: string
  readonly isMarked: boolean
}

export const CLAUDE: CacheRules = {
  lookBack: 20,
  leastChars: 0,
  listBlocks: (request) => {
    const {
      tools = [],
      system = [],
      messages,
    } = encodeAnthropicRequest(request, { model: 'claude-haiku-4-5', cache: '5m' })
    const said = messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block })))
    return [...tools, ...system, ...said].map((block) => {
      const { cache_control: mark, ...rest } = block as { readonly cache_control?: unknown } // the part that matters here
      return { text: JSON.stringify(rest), isMarked: mark !== undefined }
    })
  },
}

export const NOVA: CacheRules = {
  lookBack: 0,
  leastChars: 0,
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

/** For each request: its blocks, those read from the cache, and their UTF-16 units. */
export interface CacheRead {
  readonly blocks: number
  readonly known: number
  readonly chars: number
  readonly knownChars: number
}

export function readThroughCache(
  requests: readonly ModelRequest[],
  { listBlocks, lookBack, leastChars }: CacheRules,
): readonly CacheRead[] {
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
    for (const mark of marks) {
      const prefix = prefixes[mark] ?? ''
      if (prefix.length >= leastChars) kept.add(prefix)
    }
    const last = Math.max(-1, ...known)
    const countChars = (prefix: string | undefined): number => prefix?.length ?? 0
    return {
      blocks: blocks.length,
      known: last + 1,
      chars: countChars(prefixes.at(-1)),
      knownChars: countChars(prefixes[last]),
    }
  })
}
