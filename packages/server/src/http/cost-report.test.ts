// Bounds of a cost report, and what it says about them.
import type { FactOf, SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { CostReport } from './cost-report.ts'

const FAILURES = 501

function failTurn(turn: number): SessionRecord {
  const error = { code: 'model_auth_failed', message: 'x'.repeat(600) }
  const fact = { type: 'turn-finished', turn, outcome: 'failed', error } as unknown as FactOf<'turn-finished'> // the fields that the report reads
  return { pos: turn, nowMs: turn, facts: [fact] } as unknown as SessionRecord // the fields that the report reads
}

test('500 failures are listed, the newest first, with short messages; all are counted', async () => {
  const report = new CostReport({ fromMs: 0, toMs: FAILURES + 1 })
  const log = async function* (): AsyncIterable<SessionRecord> {
    for (let turn = 0; turn < FAILURES; turn += 1) yield await Promise.resolve(failTurn(turn))
  }
  await report.add({ id: 's', principal: 'ann' }, log())
  const { failed, failures } = report.view()
  expect([failed.length, failed[0]?.atMs, failed.at(-1)?.atMs]).toEqual([500, 499, 0])
  expect(failed[0]).toMatchObject({ session: 's', principal: 'ann', code: 'model_auth_failed' })
  expect(failed[0]?.message).toHaveLength(500)
  expect(failures).toMatchObject([{ code: 'model_auth_failed', count: FAILURES }])
})

test('a log that is not read to its end is said to be cut, and one that just fits is not', async () => {
  const play = async (count: number): Promise<readonly [number, boolean]> => {
    const report = new CostReport({ fromMs: 0, toMs: 10 })
    report.records = 499_997 // of other logs
    const log = async function* (): AsyncIterable<SessionRecord> {
      for (let turn = 0; turn < count; turn += 1) yield await Promise.resolve(failTurn(turn))
    }
    await report.add({ id: 's', principal: 'ann' }, log())
    return [report.view().failed.length, report.isCut]
  }
  expect(await play(3)).toEqual([3, false])
  expect(await play(4)).toEqual([3, true])
})

test('a call that began before the period, and ends in it, counts with its whole duration', async () => {
  const record = (nowMs: number, fact: object): SessionRecord =>
    ({ pos: nowMs, nowMs, facts: [fact] }) as unknown as SessionRecord // the fields that the report reads
  const log = [
    record(1000, { type: 'session-opened', agent: 'shop' }),
    record(2000, { type: 'step-finished', calls: [{ callId: 'c', name: 'pay' }], usage: { inputTokens: 5 } }),
    record(3000, { type: 'call-started', callId: 'c' }),
    record(9000, { type: 'call-settled', callId: 'c', settlement: { type: 'ok' } }),
  ]
  const report = new CostReport({ fromMs: 5000, toMs: 10_000 })
  await report.add(
    { id: 's', principal: 'ann' },
    (async function* () {
      yield* await Promise.resolve(log)
    })(),
  )
  const { tools, rows } = report.view()
  expect(tools).toEqual([
    { name: 'pay', agent: 'shop', calls: 1, failed: 0, ms: { median: 6000, p95: 6000, max: 6000 } },
  ])
  expect(rows).toEqual([])
})
