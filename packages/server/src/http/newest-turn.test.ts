// The order in which a resuming page reads the past of an answer: each step's reasoning before its text.
import type { EventStream, SessionEvent } from '@baton/core'
import { expect, test } from 'vitest'
import { chain } from './newest-turn.ts'

const REST = { nextBatch: async () => undefined, leave: () => {} } as unknown as EventStream // no events follow

test.each<[string, string, string]>([
  ['a thought after its text', 'S1 T1 T2 R1', 'S1 R1 T1 T2'],
  ['two thoughts after their text', 'S1 T1 R1 R2', 'S1 R1 R2 T1'],
  ['a thought before the text of its step, and text in the step before', 'S1 T1 S2 R1 T2', 'S1 T1 S2 R1 T2'],
  ['thoughts in both steps', 'S1 T1 R1 S2 T2 R2', 'S1 R1 T1 S2 R2 T2'],
  ['a step without text', 'S1 R1 S2 T1 R2', 'S1 R1 S2 R2 T1'],
])('%s', async (_what, told, shown) => {
  const types = { S: 'step-started', T: 'text', R: 'reasoning' } as const
  const past = told.split(' ').map((name) => ({ type: types[name[0] as keyof typeof types], name }))
  const events = await chain(past as unknown as readonly SessionEvent[], REST).nextBatch() // the fields in use
  expect(events?.map((event) => (event as unknown as { readonly name: string }).name).join(' ')).toBe(shown)
})
