// Cost of a long conversation if the provider caches what it has read: a window that moves by a quarter, compared with
// one moved by one exchange per turn.
import type { ModelRequest } from '@baton/core'
import { defineAgent, voice } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { createPriceOf } from '@baton/models/prices'
import { expect, test } from 'vitest'
import { CLAUDE, readThroughCache } from './prompt-cache.test-kit.ts'

const EXCHANGES = 60
const CHARS_PER_TOKEN = 4
const MODEL = 'anthropic/claude-sonnet-4-5'
/**
 * This model caches no shorter prefixes: platform.claude.com/docs/en/build-with-claude/prompt-caching, seen 2026-11.
 */
const LEAST_TOKENS = 1024
const WINDOW = 20
const INSTRUCTIONS = 'You are the voice of a railway station. Answer in short sentences. '.repeat(10)

test('60 exchanges cost less than half of what they cost in a window that moves each time', async () => {
  const model = createScriptedModel({ steps: (_, call) => ({ text: `Answer ${call}: ${'so it is, '.repeat(40)}` }) })
  const host = createHost({ agent: defineAgent({ name: 'talker', model, profile: voice, instructions: INSTRUCTIONS }) })
  const session = await host.session()
  for (let at = 0; at < EXCHANGES; at++) await session.send(`Question ${at}: ${'is it so? '.repeat(20)}`).answer
  await host.stop()
  const asked = model.requests
  // The same conversation, with the newest exchanges in each request.
  const whole = asked.flatMap(({ messages }, at) => messages.slice(at === 0 ? 0 : -2))
  const sliding = asked.map((request, at) => ({
    ...request,
    messages: whole.slice(Math.max(0, 2 * at + 2 - 2 * WINDOW), 2 * at + 1),
  }))
  expect(sliding.map(readNewest)).toEqual(asked.map(readNewest))
  const [steps, each] = [countCost(asked), countCost(sliding)]
  console.log(`${EXCHANGES} exchanges: ${show(steps)} in steps, ${show(each)} one by one`)
  expect(steps.dollars).toBeLessThan(each.dollars / 2)
})

/** Messages that both windows include in each request. */
function readNewest({ messages }: Pick<ModelRequest, 'messages'>): readonly string[] {
  return messages.slice(-WINDOW).map(({ role, parts }) => JSON.stringify({ role, parts }))
}

interface Cost {
  readonly dollars: number
  /** Without the answers. */
  readonly inputDollars: number
  readonly cachedShare: number
}

/** By the marks that the adapter sets, and the price list. Anything not read from the cache is written to it. */
function countCost(requests: readonly ModelRequest[]): Cost {
  const priceOf = createPriceOf()
  const reads = readThroughCache(requests, { ...CLAUDE, leastChars: LEAST_TOKENS * CHARS_PER_TOKEN })
  const outputTokens = toTokens(`Answer 59: ${'so it is, '.repeat(40)}`.length)
  let [micros, inputMicros, cached, all] = [0, 0, 0, 0]
  for (const { chars, knownChars } of reads) {
    const [inputTokens, cacheReadTokens] = [toTokens(chars), toTokens(knownChars)]
    const cacheWriteTokens = inputTokens < LEAST_TOKENS ? 0 : inputTokens - cacheReadTokens
    const usage = { inputTokens, cacheReadTokens, cacheWriteTokens }
    micros += priceOf(MODEL, { ...usage, outputTokens }) ?? Number.NaN
    inputMicros += priceOf(MODEL, { ...usage, outputTokens: 0 }) ?? Number.NaN
    cached += cacheReadTokens
    all += inputTokens
  }
  return { dollars: micros / 1e6, inputDollars: inputMicros / 1e6, cachedShare: cached / all }
}

function toTokens(chars: number): number {
  return Math.round(chars / CHARS_PER_TOKEN)
}

function show({ dollars, inputDollars, cachedShare }: Cost): string {
  const input = `$${inputDollars.toFixed(3)} of it for input, ${Math.round(cachedShare * 100)} % from the cache`
  return `$${dollars.toFixed(3)} (${input})`
}
