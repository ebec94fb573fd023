// Invariants of a journey, whatever was killed: the page shows what the log has, each effect happened once, each call
// is settled once, and the log knows of every request to the model.
import type { SessionRecord } from '@baton/core/machine'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Shown } from './chat-web.test-kit.ts'
import { countNotices, readLog, readShown } from './chat-web.test-kit.ts'

/** Calls that ran when their server died: it is unknown whether they had an effect, and they do not run again. */
export async function expectEffects(page: Page, url: string, effects: readonly string[]): Promise<void> {
  const logged = await readLog(page, url)
  const texts = (shown: readonly Shown[]) => shown.map((one) => one.texts)
  await expect.poll(async () => texts(await readShown(page))).toEqual(texts(logged))
  const [said, answer, ...more] = logged
  expect([said?.texts, more]).toEqual([['go'], []])
  const [look, theme, notice, saved] = answer?.calls ?? []
  expect([look, effects.includes('look')]).toEqual(['output-available', true])
  const saves = effects.filter((tool) => tool === 'note.save').length
  for (const [state, count] of [
    [saved, saves],
    [notice, await countNotices(page)],
  ] as const) {
    expect(state).toBeOneOf(['output-available', 'output-error'])
    expect(count).toBeOneOf(state === 'output-available' ? [1] : [0, 1])
  }
  // A page continues to show its own action, even if it was too late.
  const [, shown] = await readShown(page)
  expect(shown?.calls[1]).toBeOneOf(['output-available', theme])
  expect([shown?.calls[0], shown?.calls[3]]).toEqual([look, saved])
}

/** Model answers, and calls, in a turn. */
const STEPS = 4
const CALLS = 4

/** Each request belongs to an attempt that the log has begun, and each answer was requested. */
export function checkRequests(log: readonly SessionRecord[], requests: number): void {
  expect(countFacts(log, 'step-finished')).toBe(STEPS)
  expect(requests).toBeGreaterThanOrEqual(STEPS)
  expect(requests).toBeLessThanOrEqual(countFacts(log, 'model-started'))
}

export function checkSettlements(log: readonly SessionRecord[]): void {
  const settled = listSettlements(log).map(({ callId }) => callId)
  expect([settled.length, new Set(settled).size]).toEqual([CALLS, CALLS])
}

export function countUnknown(log: readonly SessionRecord[]): number {
  return listSettlements(log).filter(({ settlement }) => settlement.type === 'unknown').length
}

const listSettlements = (log: readonly SessionRecord[]) =>
  log.flatMap(({ facts }) => facts.flatMap((fact) => (fact.type === 'call-settled' ? fact : [])))

function countFacts(log: readonly SessionRecord[], type: SessionRecord['facts'][number]['type']): number {
  return log.flatMap(({ facts }) => facts.filter((fact) => fact.type === type)).length
}
