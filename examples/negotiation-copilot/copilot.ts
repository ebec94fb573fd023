// The agent: it listens, whispers to Ann when that helps her, and is silent otherwise.
import type { Model } from '@baton/host'
import { defineAgent, tool } from '@baton/host'

/** Cents a seat and year that Ann may accept. */
const LIMIT_CENTS = 7000

const compareOffer = tool({
  name: 'offer.compare',
  description: 'Compares an offer with what Ann may accept',
  input: {
    type: 'object',
    properties: { seats: { type: 'integer' }, years: { type: 'integer' }, cents: { type: 'integer' } },
    required: ['seats', 'years', 'cents'],
  },
  effect: 'pure',
  execute: ({ seats, years, cents }) => {
    const perSeat = Math.round(cents / seats / years)
    return {
      centsPerSeatAndYear: perSeat,
      limit: LIMIT_CENTS,
      overByPercent: Math.round((perSeat / LIMIT_CENTS - 1) * 100),
    }
  },
})

export function createCopilot(model: string | Model) {
  return defineAgent({
    name: 'negotiation-copilot',
    model,
    instructions:
      'You listen to a negotiation and whisper to Ann. Say one or two short sentences when they help her, and nothing ' +
      'otherwise: then answer with an empty text. Compare every offer before you speak of it.',
    tools: [compareOffer],
    settings: { maxOutputTokens: 200 },
  })
}
