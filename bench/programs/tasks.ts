// The inputs of each of the ten programs, the model's script, and the expected output. All three libraries use the same
// provider and must print the same text.
import type { FakeAnswer, FakeRequest } from '@baton/testing/fake-anthropic'

export interface Task {
  readonly name: string
  /** A readable description of the program. */
  readonly does: string
  /** Runs one after another in one folder: arguments, standard input, and the expected output. */
  readonly runs: readonly { readonly words?: readonly string[]; readonly typed?: string; readonly prints: string }[]
  readonly answer: (request: FakeRequest) => FakeAnswer
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
/** Present in the folder of every run. */
export const FILES = { 'plan.png': PNG } as const

export const TASKS: readonly Task[] = [
  {
    name: 'hello',
    does: 'one question, one answer',
    runs: [{ prints: 'Hello there.\n' }],
    answer: () => ({ text: 'Hello there.' }),
  },
  {
    name: 'streaming',
    does: 'an answer while it is written',
    runs: [{ prints: 'Once upon a time there was a city.\n' }],
    answer: () => ({ text: 'Once upon a time there was a city.' }),
  },
  {
    name: 'tool',
    does: 'a tool with a Zod schema (TypeBox for pi)',
    runs: [{ prints: '717710 people live in Oslo.\n' }],
    answer: ({ results: [result] }) =>
      result === undefined
        ? { calls: [{ name: 'population', input: { city: 'Oslo' } }] }
        : { text: `${/\d+/.exec(result)?.[0]} people live in Oslo.` },
  },
  {
    name: 'client-tool',
    does: 'a tool that runs on the user’s side of a connection',
    runs: [{ prints: 'You are in Oslo.\n' }],
    answer: ({ results: [result] }) =>
      result === undefined
        ? { calls: [{ name: 'place', input: {} }] }
        : { text: result.includes('Oslo') ? 'You are in Oslo.' : 'I do not know.' },
  },
  {
    name: 'approval',
    does: 'a tool that a person approves or denies',
    runs: [
      { typed: 'y\n', prints: 'approve? refund { cents: 2000 }\nRefunded 2000.\n' },
      { typed: 'n\n', prints: 'approve? refund { cents: 2000 }\nNothing was refunded.\n' },
    ],
    answer: ({ results: [result] }) => {
      if (result === undefined) return { calls: [{ name: 'refund', input: { cents: 2000 } }] }
      return { text: result.includes('refunded') ? 'Refunded 2000.' : 'Nothing was refunded.' }
    },
  },
  {
    name: 'structured-output',
    does: 'an answer that is a value of a schema',
    runs: [{ prints: 'angry\n' }],
    answer: ({ body: { tools } }) => {
      const input = { mood: 'angry' }
      return Array.isArray(tools) ? { calls: [{ name: 'answer', input }] } : { text: JSON.stringify(input) }
    },
  },
  {
    name: 'persistence',
    does: 'several turns, and a restart between them',
    runs: [
      { words: ['I am Ann.'], prints: 'Hello, Ann.\n' },
      { words: ['Who am I?'], prints: 'You are Ann.\n' },
    ],
    answer: ({ body }) => {
      if (!says(body, 'Who am I?')) return { text: 'Hello, Ann.' }
      return { text: says(body, 'I am Ann.') && says(body, 'Hello, Ann.') ? 'You are Ann.' : 'I do not know.' }
    },
  },
  {
    name: 'abort',
    does: 'an answer that the user stops, and a question after it',
    runs: [{ prints: 'After "Once up": there was a city.\n' }],
    answer: ({ body }) => {
      // The server writes seven characters, and then nothing until the program disconnects.
      if (!says(body, 'Shorter, please.')) return { text: 'Once upon a time', stallAfter: 4 }
      return { text: says(body, 'Once up') ? 'After "Once up": there was a city.' : 'After what?' }
    },
  },
  {
    name: 'fallback',
    does: 'another model where the first one fails',
    runs: [{ prints: 'Hello from claude-haiku-4-5.\n' }],
    answer: ({ model }) =>
      model === 'claude-opus-4-5' ? { status: 404, message: `model: ${model}` } : { text: `Hello from ${model}.` },
  },
  {
    name: 'images',
    does: 'a picture beside the question',
    runs: [{ words: ['plan.png'], prints: 'A picture.\n' }],
    answer: ({ body }) => ({ text: says(body, PNG.toString('base64')) ? 'A picture.' : 'I see nothing.' }),
  },
]

function says(body: FakeRequest['body'], text: string): boolean {
  return JSON.stringify(body['messages']).includes(text)
}

export const LIBRARIES = ['baton', 'ai-sdk', 'pi'] as const
export type Library = (typeof LIBRARIES)[number]
