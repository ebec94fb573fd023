// "Where is my call" in words, for logs that are cut where something is open.
import type { SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { keptLogs, readLog } from './kept-log.test-kit.ts'
import { readTimeline } from './timeline.ts'
import { findOpenCalls } from './where-is-my-call.ts'

/** The lines `after` milliseconds after the last of the records up to the one with this fact. */
function linesAt(records: readonly SessionRecord[], type: string, after: number): readonly string[] {
  const at = records.findIndex(({ facts }) => facts.some((fact) => fact.type === type))
  const { rows, clients, lastMs } = readTimeline(records.slice(0, at + 1))
  return findOpenCalls(rows, clients, lastMs + after).map(({ name, words }) => `${name} — ${words}`)
}

test('a call that a client has claimed: who, since when, the end of the lease, and what then', () => {
  expect(linesAt(readLog('client-claims'), 'call-claimed', 12_000)).toEqual([
    'look — running on the client web of anonymous for 12 s; its lease ends in 48 s, and another client may take it then; the call fails in 9 min 48 s',
  ])
})

test('a call that was offered and not claimed', () => {
  expect(linesAt(readLog('client-lease-ends'), 'call-offered', 3000)).toEqual([
    'look — offered to the client slow of anonymous 3 s ago and not claimed yet; the call fails in 9 min 57 s',
  ])
})

test('a call that no client can run', () => {
  expect(linesAt(readLog('client-claims'), 'call-clock-set', 1500)).toEqual([
    'look — waiting 1.5 s for a client that has the tool: none is connected; the call fails in 9 min 58 s',
  ])
})

test('a call that waits for a person', () => {
  expect(linesAt(readLog('approval-edited'), 'approval-requested', 60_000)).toEqual([
    expect.stringMatching(
      /^act — waiting 1 min for a person’s approval; it is denied in 9 min unless someone decides$/,
    ),
  ])
})

test('a call that needs two approvals, after the first', () => {
  const [line] = linesAt(readLog('approval-of-two'), 'approval-given', 0)
  expect(line).toMatch(/ — waiting .+ for 2 approvals from .+; \w+ approved it already; it is denied in /)
})

test('a tool that asks', () => {
  const [line] = linesAt(readLog('questions'), 'question-asked', 2000)
  expect(line).toMatch(/ — waiting 2 s for an answer to “.+”; it continues without one in .+$/)
})

test('a model that is asked again later', () => {
  expect(linesAt(readLog('retry'), 'attempt-superseded', 100)).toEqual([
    'the model — scripted/model failed (model_overloaded: busy); it is asked again in 343 ms',
  ])
})

test('a once tool that runs: its outcome is unknown if its time ends', () => {
  const [line] = linesAt(readLog('restart-of-once-call'), 'call-started', 0)
  expect(line).toMatch(/ — running on the server for 0 ms; its outcome becomes unknown in .+$/)
})

test('a once tool for a client: before it is claimed it only fails, and afterwards no other client may run it', () => {
  const once = (name: string): readonly SessionRecord[] =>
    JSON.parse(
      JSON.stringify(readLog(name)).replaceAll(/"effect":"\w+"/g, '"effect":"once"'),
    ) as readonly SessionRecord[] // as it was
  expect([
    ...linesAt(once('client-lease-ends'), 'call-offered', 3000),
    ...linesAt(once('client-claims'), 'call-claimed', 12_000),
  ]).toEqual([
    'look — offered to the client slow of anonymous 3 s ago and not claimed yet; the call fails in 9 min 57 s',
    'look — running on the client web of anonymous for 12 s; its lease ends in 48 s, and no other client may run it then; its outcome becomes unknown in 9 min 48 s',
  ])
})

test('what has ended has no line', () => {
  for (const name of keptLogs()) {
    const records = readLog(name)
    const { rows, clients, lastMs } = readTimeline(records)
    const open = rows.filter(({ kind, toMs }) => kind === 'call' && toMs === undefined).map(({ id }) => id)
    const lines = findOpenCalls(rows, clients, lastMs)
    expect(lines.filter(({ row }) => row.startsWith('call_')).map(({ row }) => row)).toEqual(open)
  }
})
