// Sources of an answer: stored in its record, not an answer by themselves, and neither counted nor sent to a model.
import { TestSession } from '../testing/test-session.ts'
import { validateHistory } from '../testing/neutral-history.ts'
import { expect, test } from 'vitest'

const source = { type: 'source', id: 's1', url: 'https://example.org', title: 'A page', quote: 'its words' } as const

test('sources stand in the record of their step, and count nothing', () => {
  const session = new TestSession().user('go').says({ text: 'Blue.', more: [source] })
  const { parts, chars, textChars } = session.logged('step-finished')[0] ?? {}
  expect(parts).toEqual([source, { type: 'text', text: 'Blue.' }])
  expect([chars, textChars, session.fact('turn-finished').text]).toEqual([5, 5, 'Blue.'])
})

test('sources without a word are no answer: it is asked for again', () => {
  const session = new TestSession().user('go').says({ more: [source] })
  expect(session.fact('attempt-superseded').reason).toBe('empty')
  expect(session.says('Blue.').lines()).toEqual(['user: go', 'assistant: Blue.'])
})

test('an answer of which only sources are left after a cut says nothing any more', () => {
  const session = new TestSession().user('go').says({ text: 'Blue.', more: [source] })
  session.interrupt({ type: 'chars', chars: 0 })
  expect(session.lines()).toEqual(['user: go'])
  session.user('again').says({ text: 'Green.', more: [source], finish: 'pause' })
  expect(validateHistory(session.history.messages(0, Infinity))).toEqual([])
})

test('texts of a source that are cut in the middle of a character are told whole', () => {
  const cut = {
    type: 'source',
    id: 's',
    url: 'u\ud83d',
    title: 't\ud83d',
    mediaType: 'm\ud83d',
    quote: 'q\ud83d',
  } as const
  const session = new TestSession().user('go').says({ text: 'Blue.', more: [cut] })
  expect(session.logged('step-finished')[0]?.parts[0]).toEqual({
    type: 'source',
    id: 's',
    url: 'u\ufffd',
    title: 't\ufffd',
    mediaType: 'm\ufffd',
    quote: 'q\ufffd',
  })
})
