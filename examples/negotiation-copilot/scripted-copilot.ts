// Plays the model when there is no API key: it answers the newest message.
import type { Environment, Model } from '@baton/host'
import type { ScriptedStep } from '@baton/host/testing'
import { createScriptedModel } from '@baton/host/testing'

const RULES: readonly (readonly [RegExp, ScriptedStep])[] = [
  [/OFFER_WITHDRAWN/, { text: 'The offer is gone. Ask what a shorter term would cost.' }],
  [
    /DEADLINE_MOVED/,
    {
      text: 'You have until five. Say that you need an hour, and use it: the discount for paying up front is worth more.',
      pieceMs: 250,
    },
  ],
  [/OFFER_RECEIVED/, { calls: [{ name: 'offer.compare', arguments: { seats: 400, years: 3, cents: 9_600_000 } }] }],
  [/two years/, { text: 'Two years suit you. Ask for 65 euros a seat.', pieceMs: 80 }],
  [/discount/, { text: 'Ask how much, before you name a figure.', pieceMs: 80 }],
]
const SILENCE: ScriptedStep = { text: '' }

export function createScriptedCopilot(timers: Environment['timers']): Model {
  return createScriptedModel({
    timers,
    steps: ({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool')
        return { text: 'That is a seventh above your limit. Let him explain the price.', pieceMs: 80 }
      const said = (last?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n')
      return RULES.find(([words]) => words.test(said))?.[1] ?? SILENCE
    },
  })
}
