// Limits of a turn, and how a program learns about them.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { createPriceOf } from '@baton/models/prices'

const look = tool({
  name: 'look',
  description: 'Looks around',
  input: { type: 'object' },
  effect: 'pure',
  execute: () => 'nothing new',
})
const model = createScriptedModel({
  // It would look forever. When its rounds are used up, it must answer without tools.
  steps: ({ toolChoice }) =>
    toolChoice.type === 'none' ? { text: 'I found nothing.' } : { calls: [{ name: 'look', arguments: {} }] },
})
const agent = defineAgent({
  name: 'scout',
  model,
  tools: [look],
  limits: { toolRounds: 5, turnMs: 60_000, turnTokens: 100_000, turnCostMicros: 250_000 }, // a quarter of a dollar
  window: { contextTokens: 32_000, summarise: true, keepExchanges: 5 },
})
// A cost limit needs the model's price, in dollars per million tokens.
const host = createHost({ agent, priceOf: createPriceOf({ 'scripted/model': { input: 1, output: 5 } }) })
const session = await host.session('search')
const turn = session.send('Find something new.')
for await (const event of turn)
  if (event.type === 'limit') console.log(event.limit, `${event.used} of ${event.max}`, event.reached)
const { text, stop, limits, forgotten } = await turn.answer
console.log(text, stop, limits, forgotten)
await host.stop()
