// Answers with a schema: an answer that does not fit is requested once more, with the reason; then the turn fails.
import { expect, test } from 'vitest'
import type { JsonObject } from '../json.ts'
import type { Saying } from '../testing/test-session.ts'
import { TestSession } from '../testing/test-session.ts'

/** An answer of an agent with an output schema. */
function answers(session: TestSession, text: string, issue: string | null, more: Saying = {}): TestSession {
  return session.send({ ...session.answer({ text, ...more }), output: { issue } })
}

const asked = () => new TestSession().user('How many?')

test('an answer that fits ends the turn, as the value alone', () => {
  const session = asked()
  session.says({ text: 'Let me look.', calls: ['read'] }).returns('call_1_0')
  answers(session, '{"n":3}', null)
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: '{"n":3}' })
  expect(session.logged('output-refused')).toEqual([])
})

test('one that does not fit is told what is wrong, in an entry of its own, and asked for again', () => {
  const session = answers(asked(), 'three', 'it is no JSON')
  expect(session.factTypes()).toEqual([
    'step-finished',
    'step-closed',
    'output-refused',
    'note-queued',
    'inputs-entered',
    'model-started',
  ])
  expect(session.fact('output-refused')).toEqual({ type: 'output-refused', step: 1, issue: 'it is no JSON' })
  const note =
    'Your answer does not fit the output schema: it is no JSON\nAnswer again, with the corrected JSON and nothing else.'
  expect(session.fact('note-queued')).toEqual({ type: 'note-queued', note: 1, text: note })
  const entries = [{ entry: 3, inputs: [], notes: [1], chars: note.length }]
  expect(session.fact('inputs-entered')).toEqual({ type: 'inputs-entered', exchange: 1, entries })
  expect(session.told()).toEqual(['user: How many?', 'assistant: three', `user: ${note}`])
  expect(session.state.notes).toEqual([])
  expect(session.state.phase).toBe('modelling')
})

test('the corrected answer ends the turn', () => {
  const session = answers(answers(asked(), 'three', 'it is no JSON'), '3', null)
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: '3' })
})

test('a second one that does not fit ends the turn with what is wrong', () => {
  const session = answers(answers(asked(), 'three', 'it is no JSON'), 'four', 'still none')
  expect(session.fact('turn-finished')).toMatchObject({
    outcome: 'failed',
    error: {
      code: 'invalid_output',
      message: 'the answer did not fit the output schema in 2 attempts: still none',
      issues: 'still none',
    },
  })
})

test('the next turn has a correction of its own', () => {
  const session = answers(answers(asked(), 'three', 'no JSON'), '3', null).user('And now?')
  answers(session, 'four', 'no JSON')
  expect(session.logged('output-refused')).toHaveLength(2)
  expect(session.state.phase).toBe('modelling')
})

test('a correction outlives a restart', () => {
  const session = answers(asked(), 'three', 'no JSON').restart()
  answers(session, 'four', 'no JSON')
  expect(session.fact('turn-finished').error?.code).toBe('invalid_output')
})

test('of a long list of what is wrong the model is told the beginning', () => {
  const session = answers(asked(), '{}', `/a is missing; ${'x'.repeat(9000)}`)
  const { issue } = session.fact('output-refused')
  expect(issue).toHaveLength(4000)
  expect(session.fact('note-queued').text).toContain(`${issue}\n`)
})

const NUMBER = { type: 'object', properties: { n: { type: 'number' } } }
const TEXT = { type: 'object', properties: { t: { type: 'string' } } }

/** The inputs of each turn, and the turn's schema. */
function listTurns(session: TestSession): readonly unknown[] {
  const turns: { inputs: string[]; output?: unknown }[] = []
  for (const { facts } of session.records)
    for (const fact of facts) {
      if (fact.type === 'turn-started') turns.push({ inputs: [], ...(fact.output && { output: fact.output }) })
      if (fact.type === 'inputs-entered') turns.at(-1)?.inputs.push(...fact.entries.flatMap(({ inputs }) => inputs))
    }
  return turns
}

test('an input brings its schema into its turn, and not into the next', () => {
  const session = new TestSession().user('How many?', { output: NUMBER })
  expect(session.state.turn?.output).toEqual(NUMBER)
  answers(session, '{"n":3}', null).user('Thanks')
  expect(session.state.turn?.output).toBeUndefined()
  expect(listTurns(session)).toEqual([{ inputs: ['u1'], output: NUMBER }, { inputs: ['u2'] }])
})

test('inputs share a turn with those that want the same, in the order in which they came', () => {
  const session = new TestSession().user('go')
  session
    .user('a', { output: NUMBER })
    .user('b', { output: { ...NUMBER } })
    .user('c')
    .user('d')
    .user('e', { output: TEXT })
  for (const text of ['done', '{"n":1}', 'words', '{"t":""}']) session.says(text)
  expect(listTurns(session)).toEqual([
    { inputs: ['u1'] },
    { inputs: ['u2', 'u3'], output: NUMBER },
    { inputs: ['u4', 'u5'] },
    { inputs: ['u6'], output: TEXT },
  ])
  expect(session.state.queue).toEqual([])
})

test('what happens beside an input comes along with it, whatever it wants', () => {
  const session = new TestSession().user('go')
  session.send({ type: 'urgent-event', inputId: 'e1', name: 'door', delivery: 'queue' }).user('a', { output: NUMBER })
  session.send({ type: 'urgent-event', inputId: 'e2', name: 'bell', delivery: 'queue' }).says('done')
  expect(listTurns(session)).toEqual([{ inputs: ['u1'] }, { inputs: ['e1', 'u2', 'e2'], output: NUMBER }])
})

test('an input steers into a turn of the same schema, and waits for the end of another', () => {
  const session = new TestSession().user('a', { output: NUMBER }).says({ text: '', calls: ['read'] })
  session.user('more', { delivery: 'steer' }).user('b', { output: NUMBER, delivery: 'steer' })
  session.user('c', { output: TEXT, delivery: 'steer' }).user('d', { delivery: 'steer' })
  session.returns('call_1_0')
  expect(session.state.queue.map(({ inputId }) => inputId)).toEqual(['u4', 'u5'])
  expect(session.state.turn?.output).toEqual(NUMBER)
  answers(session, '{"n":1}', null)
  answers(session, '{"t":""}', null)
  session.says('words')
  expect(listTurns(session)).toEqual([
    { inputs: ['u1', 'u2', 'u3'], output: NUMBER },
    { inputs: ['u4'], output: TEXT },
    { inputs: ['u5'] },
  ])
})

test('a schema counts in the queue, and has a limit of its own', () => {
  const session = new TestSession({ limits: { queueChars: 200 } }).user('go')
  session.user('a', { output: { type: 'object', description: 'x'.repeat(100) } })
  expect(session.state.queue[0]?.heldChars).toBeGreaterThan(100)
  const large = { type: 'object', description: 'x'.repeat(32_768) }
  const refuse = (output: JsonObject): unknown =>
    session.refusal({ type: 'user-input', inputId: 'x', parts: [{ type: 'text', text: 'x' }], output })
  expect(refuse(large)).toBe('input_too_large')
  expect(refuse({ type: 'array' })).toBe('invalid_schema')
  expect(refuse({ type: 'object', description: 'x'.repeat(100) })).toBe('queue_full')
})
