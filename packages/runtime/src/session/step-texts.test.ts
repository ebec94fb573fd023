// The texts of steps, from events that are cut, repeated or restarted.
import type { SessionEvent } from '@baton/core'
import { expect, test } from 'vitest'
import { StepTexts } from './step-texts.ts'

const OF = { message: 'm1', cursor: { pos: 1 } } as const

function takeAll(events: readonly SessionEvent[]): readonly (string | undefined)[] {
  const texts = new StepTexts()
  return events.map((event) => texts.take(event)?.text)
}

test('a cut of an earlier step leaves the step that is being written whole', () => {
  const told = takeAll([
    { ...OF, type: 'text', step: 2, offset: 0, text: 'The second step.' },
    { ...OF, type: 'text-cut', step: 1, keepChars: 3 },
    { ...OF, type: 'text-cut', step: 2, keepChars: 10 },
    { ...OF, type: 'step-finished', step: 2, finish: 'interrupted', usage: {}, interrupted: true },
  ])
  expect(told.at(-1)).toBe('The second')
})

test('text that comes twice stands once, and what an attempt said is void after a reset', () => {
  const told = takeAll([
    { ...OF, type: 'text', step: 1, offset: 0, text: 'void' },
    { ...OF, type: 'step-reset', step: 1, reason: 'gave-up' },
    { ...OF, type: 'text', step: 1, offset: 0, text: 'one ' },
    { ...OF, type: 'text', step: 1, offset: 0, text: 'one two' },
    { ...OF, type: 'step-finished', step: 1, finish: 'end', usage: {} },
  ])
  expect(told.at(-1)).toBe('one two')
})

test('an attempt that was given up leaves nothing to say, and nothing that is being written', () => {
  const texts = new StepTexts()
  const take = (event: SessionEvent) => texts.take(event)
  take({ ...OF, type: 'text', step: 1, offset: 0, text: 'void' })
  expect(texts.isWriting).toBe(true)
  take({ ...OF, type: 'step-reset', step: 1, reason: 'interrupted' })
  expect(texts.isWriting).toBe(false)
  expect(take({ ...OF, type: 'step-finished', step: 1, finish: 'end', usage: {} })).toBeUndefined()
})

test('only a text that was cut short says so', () => {
  const texts = new StepTexts()
  const end = { ...OF, type: 'step-finished', step: 1, usage: {} } as const
  texts.take({ ...OF, type: 'text', step: 1, offset: 0, text: 'whole' })
  expect(texts.take({ ...end, finish: 'end' })).toEqual({ message: 'm1', step: 1, text: 'whole' })
  texts.take({ ...OF, type: 'text', step: 1, offset: 0, text: 'half' })
  const cut = texts.take({ ...end, finish: 'interrupted', interrupted: true })
  expect(cut).toEqual({ message: 'm1', step: 1, text: 'half', interrupted: true })
})
