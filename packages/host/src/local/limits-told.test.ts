// Every limit that takes effect in a turn is reported: as an event, on the answer, or as the turn's error. The page
// about limits lists the actual defaults.
import { readFile } from 'node:fs/promises'
import type { SessionEventOf } from '@baton/core/internal'
import { DEFAULT_LIMITS } from '@baton/core/machine'
import { expect, test } from 'vitest'
import type { TestWorldOptions } from './test-world.test-kit.ts'
import { act, createTestWorld, listCalls, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

const usage = { inputTokens: 8, outputTokens: 2 }
const again = { ...listCalls('act'), usage }
const end = { text: 'done', usage }

test.each<[SessionEventOf<'limit'>['limit'], Partial<TestWorldOptions>, string]>([
  ['rounds', { limits: { toolRounds: 1 } }, 'limit'],
  ['calls', { limits: { callsPerTurn: 1 }, steps: [{ ...listCalls('act', 'act'), usage }, end] }, 'end'],
  ['tokens', { limits: { turnTokens: 9 } }, 'turn_tokens_exceeded'],
  ['cost', { limits: { turnCostMicros: 4 }, host: { priceOf: () => 5 } }, 'turn_cost_exceeded'],
  ['time', { limits: { turnMs: 1000 }, steps: [{ text: 'Well', hangs: 'until-aborted' }] }, 'turn_time_exceeded'],
  ['output', { steps: [{ text: 'cut', finish: 'max-tokens', usage }] }, 'max-tokens'],
])('the limit of %s is told when it bites', async (limit, init, outcome) => {
  const world = createTestWorld({ tools: [act(() => 'ok')], steps: [again, end], ...init })
  const session = await world.open()
  const turn = session.send('go')
  const ended = await world.time.until(
    turn.answer.then(
      ({ stop, limits }) => ({ outcome: stop, limits }),
      ({ code }: { code: string }) => ({ outcome: code, limits: [limit] }),
    ),
  )
  expect(ended).toEqual({ outcome, limits: [limit] })
  const told: unknown[] = []
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'live') break
    if (event.type === 'limit' && event.reached) told.push(event.limit)
  }
  expect(told).toEqual([limit])
})

test.each<[SessionEventOf<'limit'>['limit'], Partial<TestWorldOptions>, used: number, max: number]>([
  ['rounds', { limits: { toolRounds: 5 } }, 4, 5],
  ['calls', { limits: { callsPerTurn: 5 } }, 4, 5],
  ['tokens', { limits: { turnTokens: 50 } }, 40, 50],
])('the limit of %s is told once when four fifths are used', async (limit, init, used, max) => {
  const world = createTestWorld({ tools: [act(() => 'ok')], steps: [again, again, again, again, end], ...init })
  const session = await world.open()
  const turn = session.send('go')
  expect(await world.time.until(turn.answer)).toMatchObject({ text: 'done', stop: 'end', limits: [] })
  const told: unknown[] = []
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'live') break
    if (event.type === 'limit') told.push([event.limit, event.reached, event.used, event.max])
  }
  expect(told).toEqual([[limit, false, used, max]])
})

test.each([
  [{ text: 'four' }, 'answer'],
  [{ text: 'four!' }, 'model_answer_too_large'],
  [{ text: 'well', calls: [{ name: 'act', arguments: {} }] }, 'model_answer_too_large'],
])('an answer of more than limits.answerChars is not taken: %j', async (step, outcome) => {
  const world = createTestWorld({ tools: [act(() => 'ok')], limits: { answerChars: 4 }, steps: [step, end] })
  const session = await world.open()
  const ended = await world.time.until(
    session.send('go').answer.then(
      () => 'answer',
      ({ code, message }: { code: string; message: string }) =>
        message.includes('limits.answerChars') ? code : message,
    ),
  )
  expect(ended).toBe(outcome)
})

test('the page of the limits has the defaults that hold, of every limit', async () => {
  const page = await readFile(new URL('../../../../docs/context.md', import.meta.url), 'utf8')
  const table = page.split('## What a turn may take')[1]?.split('\n## ')[0] ?? ''
  const told: Record<string, number> = {}
  for (const [, names = '', defaults = ''] of table.matchAll(/^\| (`.*?) \| (.*?) \|/gm))
    for (const [index, [, name = '']] of [...names.matchAll(/`(\w+)`/g)].entries())
      told[name] = readDefault(defaults.split(/, (?=\d)/)[index] ?? '')
  expect(told).toEqual(DEFAULT_LIMITS)
})

const UNITS: Readonly<Record<string, number>> = { minutes: 60_000, MiB: 1024 * 1024 }

function readDefault(text: string): number {
  const [, digits = '', unit = ''] = /^([\d,]+) ?(\w*)/.exec(text) ?? []
  if (digits === '') return Number.MAX_SAFE_INTEGER // "none"
  return Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? 1)
}
