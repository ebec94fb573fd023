// Plays the model when there is no API key: it answers the newest message.
import type { Environment, Model } from '@baton/host'
import type { ScriptedStep } from '@baton/host/testing'
import { createScriptedModel } from '@baton/host/testing'

const TRAINS = `The next train to Oslo leaves at **9.40** from platform 3. It takes four hours and a half, and it has a dining car. There
is another one at 11.15, from platform 5. Shall I book a seat for you?`

const RULES: readonly (readonly [RegExp, ScriptedStep])[] = [
  [/has ended: /, { text: 'Your booking is done meanwhile: seat 14 in car 6. And the dining car opens at ten.' }],
  [/\bbook|\bseat|\byes\b/i, { text: 'Gladly.', calls: [{ name: 'seats.book', arguments: { train: '9.40' } }] }],
  [/\bfood|\beat|\bdining/i, { text: 'The dining car serves warm meals from ten on, and coffee all the time.' }],
  [/\bplatform/i, { text: 'Platform 3, behind the bookshop.' }],
  [/\btrain|\boslo|\bleave/i, { calls: [{ name: 'trains.find', arguments: { to: 'Oslo' } }] }],
]
const REST: ScriptedStep = { text: 'I can look up trains, and book seats. Where do you want to go?' }

/** Milliseconds between words, like a fast model. */
const WORD_MS = 40

export function createScriptedStation(timers: Environment['timers']): Model {
  return createScriptedModel({
    timers,
    steps: ({ messages }) => ({ ...chooseStep(messages), pieceMs: WORD_MS }),
  })
}

function chooseStep(
  messages: Parameters<Extract<ScriptSteps, (...given: never) => unknown>>[0]['messages'],
): ScriptedStep {
  const last = messages.at(-1)
  if (last?.role === 'tool')
    return JSON.stringify(last.parts).includes('seat')
      ? { text: 'Seat 14 in car 6 is yours. It is by the window.' }
      : { text: TRAINS.replaceAll('\n', ' ') }
  // A note about a booking may precede the person's message.
  const said = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
  const text = said.flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : ''))).join('\n')
  return RULES.find(([words]) => words.test(text))?.[1] ?? REST
}

type ScriptSteps = Parameters<typeof createScriptedModel>[0]['steps']
