// An agent whose single turn covers everything a version 2 client must get right: reasoning, text in pieces, a client
// tool and a server tool in one step, an approval, a question, and three steps. The effect of each tool may happen only
// once.
import type { Agent, Timers } from '@baton/core/internal'
import { defineAgent, delegate, tool } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'

export interface HomeAgentOptions {
  readonly timers: Timers
  /** Called when a server tool has acted in a session. */
  readonly onEffect: (tool: 'note' | 'pay', session: string) => void
  /** Milliseconds between two pieces of text; 2 by default, so that each piece is a separate event. */
  readonly pieceMs?: number
}

const CARD = { type: 'object', properties: { card: { type: 'string' } }, required: ['card'] } as const
const NO_INPUT = { type: 'object', properties: {} } as const

const STEPS: readonly ScriptedStep[] = [
  {
    reasoning: 'They want a picture.',
    pieces: ['One ', 'moment, ', 'I ', 'take ', 'a picture 📷', '.'],
    calls: [
      { name: 'camera', arguments: {} },
      { name: 'note', arguments: {} },
    ],
  },
  { pieces: ['Now ', 'I ', 'pay ', 'and ', 'ask.'], calls: [{ name: 'pay', arguments: {} }] },
  { pieces: ['All ', 'is ', 'done', ', really', '.'] },
]

/** The text of a whole turn. */
export const HOME_TEXT = STEPS.map(({ pieces = [] }) => pieces.join('')).join('\n\n')

/** The home agent, two levels below a boss. */
export function createHomeTree(options: HomeAgentOptions): Agent {
  const clerk = createCaller('clerk', createHomeAgent(options))
  return createCaller('boss', clerk)
}

function createCaller(name: string, below: Agent): Agent {
  const model = createScriptedModel({
    steps: ({ messages }) => {
      const last = messages.at(-1)
      const isTold = last?.role === 'tool'
      return isTold
        ? { text: `${name} heard ${JSON.stringify(last.parts)}` }
        : { calls: [{ name: below.name, arguments: { task: 'Do it.' } }] }
    },
  })
  return defineAgent({ name, model, tools: [delegate({ agent: below, description: 'Does it' })] })
}

export function createHomeAgent({ timers, onEffect, pieceMs = 2 }: HomeAgentOptions): Agent {
  const camera = tool({ name: 'camera', description: 'Takes a picture', input: NO_INPUT, effect: 'once' })
  const note = tool({
    name: 'note',
    description: 'Notes',
    input: NO_INPUT,
    effect: 'once',
    execute: (_, { session }) => {
      onEffect('note', session)
      return 'noted'
    },
  })
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: NO_INPUT,
    effect: 'once',
    approval: true,
    execute: async (_, { ask, session }) => {
      const { card } = await ask({ message: 'Which card?', schema: CARD })
      onEffect('pay', session)
      return `paid by the ${card} card`
    },
  })
  // Derived from what the model already said in the turn: a later server continues where the first one stopped.
  const model = createScriptedModel({
    timers,
    steps: ({ messages }) => {
      const asked = messages.findLastIndex(({ role }) => role === 'user')
      const said = messages.slice(asked).filter(({ role }) => role === 'assistant').length
      return { ...STEPS[said], pieceMs }
    },
  })
  return defineAgent({ name: 'home', model, tools: [camera, note, pay] })
}
