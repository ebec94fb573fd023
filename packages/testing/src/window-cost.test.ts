// What a long conversation costs where the provider keeps what it has read: a window that moves by a quarter, beside one that
// moves by one exchange with each turn.
import { defineAgent, voice } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { createPriceOf } from '@baton/models/prices'
import { expect, test } from 'vitest'

const EXCHANGES = 60
const CHARS_PER_TOKEN = 4

test('60 exchanges cost less than half of what they cost in a window that moves each time', async () => {
  const model = createScriptedModel({ steps: (_, call) => ({ text: `Answer ${call}: ${'so it is, '.repeat(40)}` }) })
  const host = createHost({ agent: defineAgent({ name: 'talker', model, profile: voice }) })
  const session = await host.session()
  for (let at = 0; at < EXCHANGES; at++) await session.send(`Question ${at}: ${'is it so? '.repeat(20)}`).answer
  const all = await session.messages({ limit: 200 })
  await host.stop()
  const asked = model.requests.map(({ messages }) => messages.map(({ role, parts }) => JSON.stringify({ role, parts })))
  // The same conversation, of which each request has the newest 20 exchanges.
  const whole = asked.flatMap((messages, at) => messages.slice(at === 0 ? 0 : -2))
  const sliding = asked.map((_, at) => whole.slice(Math.max(0, 2 * at + 1 - 39), 2 * at + 1))
  expect(all.messages).toHaveLength(2 * EXCHANGES)
  expect(sliding.at(-1)?.slice(-20)).toEqual(asked.at(-1)?.slice(-20))
  const [steps, each] = [countCost(asked), countCost(sliding)]
  console.log(`${EXCHANGES} exchanges: ${show(steps)} in steps, ${show(each)} one by one`)
  expect(steps.dollars).toBeLessThan(each.dollars / 2)
})

/** Each request reads what it has in common with the one before from the provider's cache, and writes the rest into it. */
function countCost(requests: readonly (readonly string[])[]): {
  readonly dollars: number
  readonly cachedShare: number
} {
  const priceOf = createPriceOf()
  let [micros, cached, all] = [0, 0, 0]
  let before: readonly string[] = []
  for (const messages of requests) {
    const differs = messages.findIndex((message, at) => message !== before[at])
    const known = toTokens(messages.slice(0, differs < 0 ? messages.length : differs))
    const input = toTokens(messages)
    micros +=
      priceOf('anthropic/claude-haiku-4-5', {
        inputTokens: input,
        outputTokens: 0,
        cacheReadTokens: known,
        cacheWriteTokens: input - known,
      }) ?? Number.NaN
    cached += known
    all += input
    before = messages
  }
  return { dollars: micros / 1e6, cachedShare: cached / all }
}

function toTokens(messages: readonly string[]): number {
  return Math.round(messages.join('').length / CHARS_PER_TOKEN)
}

function show({ dollars, cachedShare }: ReturnType<typeof countCost>): string {
  return `$${dollars.toFixed(4)} (${Math.round(cachedShare * 100)} % from the cache)`
}
