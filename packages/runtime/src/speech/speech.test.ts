// Sentences of an answer that was not accepted: they are void, and those of the next one replace them.
import type { EventBody, SessionEvent } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { Speech } from './speech.ts'

test('an answer that is not taken takes its sentences back, and the next one begins at their place', () => {
  const speech = new Speech()
  const of = (step: number) => ({ message: 't1', step })
  const say = (step: number, text: string): readonly EventBody[] => [
    { type: 'text', ...of(step), offset: 0, text },
    { type: 'step-finished', ...of(step), finish: 'end', usage: {} },
    { type: 'step-closed', ...of(step) },
  ]
  const bodies: readonly EventBody[] = [
    { type: 'message-added', message: { role: 'assistant', id: 't1', turn: 1, exchange: 1, atMs: 0 } },
    ...say(1, 'Let me look. Now.'),
    ...say(2, 'It is valid.'),
    { type: 'output-refused', ...of(2), issue: 'it cites nothing', by: 'check' },
    { type: 'step-reset', ...of(2), reason: 'refused' },
    ...say(3, 'It is invalid.'),
  ]
  const told = bodies.flatMap((body) => speech.take({ ...body, cursor: { pos: 1 } } as SessionEvent)) // it has a cursor
  expect(told.map(({ frame }) => (frame.type === 'sentence' ? [frame.index, frame.text, frame.start] : frame))).toEqual(
    [
      [0, 'Let me look.', 0],
      [1, 'Now.', 12],
      [2, 'It is valid.', 19],
      { type: 'sentences.dropped', message: 't1', step: 2, index: 2 },
      [2, 'It is invalid.', 19],
    ],
  )
})
