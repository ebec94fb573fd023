// The index of accepted inputs agrees with the state's own list, however that list was built.
import { expect, test } from 'vitest'
import { seenAt, SeenInputs } from './check.ts'
import type { Input } from './index.ts'
import { initialState } from './index.ts'
import type { State } from './state.ts'

const REMEMBERED = 256

function ask(inputId: string): Input {
  return { type: 'user-input', inputId, parts: [{ type: 'text', text: 'a question' }] }
}

function accept(state: State, inputId: string): State {
  const pos = state.pos + 1
  return { ...state, pos, recentInputs: [...state.recentInputs, { inputId, pos }].slice(-REMEMBERED) }
}

test('an id is found for as long as it is remembered, and then may come again', () => {
  const seen = new SeenInputs()
  let state = initialState('s')
  for (let serial = 0; serial < 3 * REMEMBERED; serial++) {
    const back = [1, 15, 16, 17, 255, 256, 257].map((distance) => ask(`in-${serial - distance}`))
    for (const input of [ask(`in-${serial}`), ...back]) expect(seen.find(state, input)).toBe(seenAt(state, input))
    state = accept(state, `in-${serial}`)
  }
  expect(seen.find(state, ask(`in-${2 * REMEMBERED - 1}`))).toBeUndefined()
  expect(seen.find(state, ask(`in-${2 * REMEMBERED}`))).toBe(2 * REMEMBERED - 1 + 1)
  state = accept(state, 'in-0')
  expect(seen.find(state, ask('in-0'))).toBe(state.pos)
})

test('an id comes again in the moment in which it is forgotten', () => {
  const seen = new SeenInputs()
  let state = initialState('s')
  for (let serial = 0; serial < REMEMBERED; serial++) state = accept(state, `in-${serial}`)
  expect(seen.find(state, ask('in-0'))).toBe(0)
  state = accept(state, 'in-0')
  expect(seen.find(state, ask('in-0'))).toBe(state.pos)
})

test('a state whose decision was dropped, or of another session, is looked at anew', () => {
  const seen = new SeenInputs()
  let state = initialState('s')
  for (let serial = 0; serial < 40; serial++) state = accept(state, `in-${serial}`)
  const dropped = accept(state, 'dropped')
  expect(seen.find(dropped, ask('dropped'))).toBe(dropped.pos)
  expect(seen.find(state, ask('dropped'))).toBeUndefined()
  const other = accept(state, 'other')
  expect(seen.find(other, ask('dropped'))).toBeUndefined()
  expect(seen.find(other, ask('other'))).toBe(other.pos)
})
