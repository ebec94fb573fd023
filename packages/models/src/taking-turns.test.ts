// Messages of two alternating speakers.
import { beforeEach, expect, test } from 'vitest'
import type { TakingTurns } from './taking-turns.ts'
import { createTakingTurns } from './taking-turns.ts'

/** Blocks in parentheses may not stand alone. */
const finish = (role: string, blocks: readonly string[]) =>
  blocks.every((block) => block.startsWith('(')) ? undefined : `${role}: ${blocks.join(' ')}`
let turns: TakingTurns<string, string, string>
beforeEach(() => {
  turns = createTakingTurns(finish)
})

test('what one says in a row is one message', () => {
  turns.say('user', ['a'])
  turns.say('user', ['b'])
  turns.say('model', ['c'])
  expect(turns.wire()).toEqual(['user: a b', 'model: c'])
})

test('a message that goes on after it was asked for', () => {
  turns.say('user', ['a'])
  expect(turns.wire()).toEqual(['user: a'])
  turns.say('user', ['b'])
  expect(turns.wire()).toEqual(['user: a b'])
})

test('who said nothing that may stand did not speak', () => {
  turns.say('user', ['a'])
  turns.say('model', ['(b)'])
  expect(turns.wire()).toEqual(['user: a'])
  turns.say('user', ['c'])
  turns.say('model', ['d'])
  turns.say('model', [])
  expect(turns.wire()).toEqual(['user: a c', 'model: d'])
})

test('not even at the beginning', () => {
  turns.say('model', ['(a)'])
  turns.say('user', ['b'])
  expect(turns.wire()).toEqual(['user: b'])
})
