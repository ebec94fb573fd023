// Every rule in a comment has a mutant that breaks it, and a test that detects the mutant.
import { expect, test } from 'vitest'
import { UNPLAYED } from './rule-list.ts'
import { listNew, listRules, listStale } from './rules.ts'

/** This number may only shrink. */
const UNPLAYED_MAX = 0

test('each rule in a comment of core, runtime, host and server is planted as a mistake, or only explains', () => {
  expect(listRules().length).toBeGreaterThan(100)
  expect(listNew()).toEqual([])
})

test('no row is of a comment that has gone', () => {
  expect(listStale()).toEqual([])
})

test('rules whose mistake no test was seen to notice get fewer', () => {
  expect(UNPLAYED.length).toBeLessThanOrEqual(UNPLAYED_MAX)
})
