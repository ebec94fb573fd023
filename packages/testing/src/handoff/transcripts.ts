// Conversations before they switch providers: kinds of exchanges, and the tools they need.
import type { Session, Tool, UserInput } from '@baton/core'
import { tool } from '@baton/core'
import type { Said } from './parties.ts'

export interface Exchange {
  readonly name: string
  readonly asks: UserInput
  /** The model's answers until the turn ends. */
  readonly said: readonly Said[]
  /** Runs once it has ended. */
  readonly afterwards?: (session: Session) => Promise<unknown>
}

const LOOK = { tool: /sky/, input: { place: 'the "sky" 🦀' } }
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const EXCHANGES: readonly Exchange[] = [
  { name: 'text', asks: 'Hello', said: [{ text: 'Hello to you.' }] },
  { name: 'reasoning', asks: 'Think', said: [{ reasoning: 'I think about it.', text: 'Done thinking.' }] },
  { name: 'one call', asks: 'Look', said: [{ text: 'One moment.', calls: [LOOK] }, { text: 'Blue.' }] },
  {
    name: 'parallel calls after reasoning',
    asks: 'Look twice',
    said: [
      { reasoning: 'Two looks.', calls: [LOOK, LOOK] },
      { reasoning: 'Both are there.', text: 'Blue, twice.' },
    ],
  },
  {
    name: 'calls one after another',
    asks: 'Look and look again',
    said: [{ reasoning: 'First.', calls: [LOOK] }, { reasoning: 'Again.', calls: [LOOK] }, { text: 'Still blue.' }],
  },
  { name: 'a call without arguments', asks: 'Now', said: [{ calls: [{ tool: /now/, input: {} }] }, { text: 'Noon.' }] },
  {
    name: 'a call that fails',
    asks: 'Break',
    said: [{ calls: [{ tool: /break/, input: {} }] }, { text: 'It broke.' }],
  },
  {
    name: 'an image as a result',
    asks: 'Show',
    said: [{ calls: [{ tool: /show/, input: {} }, LOOK] }, { text: 'A pixel.' }],
  },
  {
    name: 'an image of the user',
    asks: [
      { type: 'text', text: 'What is this?' },
      { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: PIXEL } },
    ],
    said: [{ text: 'A pixel.' }],
  },
  {
    name: 'an answer that was interrupted',
    asks: 'Talk',
    said: [{ reasoning: 'A story.', text: 'Once upon a time there was a crab.' }],
    afterwards: (session) => session.interrupt({ heard: { type: 'chars', chars: 9 } }),
  },
]

export function createHandoffTools(): readonly Tool[] {
  const plain = { type: 'object', properties: {} } as const
  const place = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] } as const
  const pure = { effect: 'pure' } as const
  const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: PIXEL } } as const
  return [
    tool({
      ...pure,
      name: 'sky.look',
      description: 'Looks at a place.',
      input: place,
      execute: () => ({ color: 'blue' }),
    }),
    tool({ ...pure, name: 'time.now', description: 'The time.', input: plain, execute: () => '' }),
    tool({
      ...pure,
      name: 'screen.show',
      description: 'The screen.',
      input: plain,
      execute: () => ({ content: [image] }),
    }),
    tool({
      ...pure,
      name: 'vase.break',
      description: 'Breaks.',
      input: plain,
      execute: () => {
        throw new Error('it is broken')
      },
    }),
    tool({ ...pure, name: 'phone.look', description: 'What the phone sees.', input: plain }),
  ]
}
