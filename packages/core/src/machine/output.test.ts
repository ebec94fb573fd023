// Answers to a schema: one that does not fit is asked for once more, with what is wrong; then the turn fails.
import { expect, test } from 'vitest'
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
    error: { code: 'invalid_output', message: 'the answer does not fit, twice: still none' },
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
