// Bounty reviews with a local Reddit and local pages: valid and invalid submissions, decisions by a person, and the
// cost limit.
import { createMemoryStore, importSession } from '@baton/host'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LocalBounty } from './local-bounty.ts'
import { startLocalBounty } from './local-bounty.ts'
import type { ReviewOptions } from './review.ts'
import { reviewSubmission } from './review.ts'
import { findEvidence } from './reviewer.ts'
import { createScriptedReviewer } from './scripted-reviewer.ts'

let local: LocalBounty
beforeAll(async () => {
  local = await startLocalBounty()
})
afterAll(async () => {
  await local.close()
})

const SCAN = 'scan_text_for_malicious_content'
const READ = 'get_content_details'
const LOOK = 'analyze_image_for_visual_requirements'
const ASK = 'answer.approve'

async function judge(which: keyof LocalBounty['submissions'], change: Partial<ReviewOptions> = {}) {
  return await reviewSubmission({
    ...local,
    model: createScriptedReviewer(local.bounty),
    id: `submission-${which}`,
    submission: local.submissions[which],
    decide: () => Promise.reject(new Error('nobody is to be asked')),
    ...change,
  })
}

test.each([
  ['good', 'valid', [SCAN, READ, LOOK]],
  ['page', 'valid', [SCAN, READ, LOOK]],
  ['small', 'invalid', [SCAN, READ, LOOK]],
  ['removed', 'invalid', [SCAN, READ]],
  ['orders', 'invalid', [SCAN]],
  // Its hidden instruction is invisible to readers, and tools do not show it to the model.
  ['trap', 'invalid', [SCAN]],
] as const)('the submission "%s" is %s, with its calls as evidence, the scan first', async (which, verdict, names) => {
  const review = await judge(which)
  expect(review.verdict.verdict).toBe(verdict)
  expect(review.calls.map(({ name }) => name)).toEqual(names)
  expect(review.evidence).toEqual(review.calls.map(({ callId }) => callId))
})

test.each([
  ['approve', 'invalid'],
  ['deny', 'unclear'],
] as const)('where confidence is low a person may %s, and the verdict is %s', async (decision, expected) => {
  const asked: string[] = []
  const decide = (question: string) => {
    asked.push(question)
    return Promise.resolve(decision)
  }
  const { verdict, calls } = await judge('vague', { decide })
  expect(verdict).toMatchObject({ verdict: expected, confidence: 0.4 })
  expect(calls.at(-1)?.name).toBe(ASK)
  expect(asked).toEqual(['Confirm "invalid": it does not say what a lease is for'])
})

test('every call behind a verdict is exported, with what it was given and what it said', async () => {
  const { exported, calls } = await judge('good')
  const store = createMemoryStore()
  expect(await importSession(store, exported)).toBe('submission-good')
  const all = exported.join('\n')
  for (const { callId } of calls) expect(all).toContain(callId)
  expect(all).toMatch(/1200.{0,20}800/)
  expect(all).toContain('A lease ends by itself')
})

test('a submission is judged once: asked again, it has the same verdict, and no tool runs', async () => {
  const store = createMemoryStore()
  const first = await judge('good', { store })
  const again = await judge('good', { store, model: createScriptedReviewer({ text: ['other'], image: [] }) })
  expect(again.verdict).toEqual(first.verdict)
})

test('Reddit is asked as it wants to be asked', async () => {
  await judge('good', { id: 'asked' })
  expect(local.violations).toEqual([])
})

test('a review that costs too much ends', async () => {
  await expect(judge('good', { priceOf: () => 30_000 })).rejects.toMatchObject({ code: 'turn_cost_exceeded' })
})

test('a verdict that cites what was never called, or gave no result, is told', () => {
  const verdict = { verdict: 'valid', confidence: 1, requirements: [], reasons: ['x'] } as const
  const calls = [SCAN, READ, READ, LOOK].map((name, index) => ({ callId: `call_${index}`, name, ok: name !== LOOK }))
  const cited = { ...verdict, requirements: [], reasons: ['x'], evidence: [`${READ}#2`, SCAN, LOOK, `${SCAN}#2`] }
  expect(findEvidence(cited, calls)).toEqual({ callIds: ['call_2', 'call_0'], missing: [LOOK, `${SCAN}#2`] })
})
