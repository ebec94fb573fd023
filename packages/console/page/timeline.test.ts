// The timeline of kept logs: one row for each logical thing, and the same rows however much of the log has been read.
import { expect, test } from 'vitest'
import { keptLogs, readLog } from './kept-log.test-kit.ts'
import { readTimeline, withChildren } from './timeline.ts'
import type { TimelineRow } from './timeline-row.ts'
import { OPEN_STATES } from './timeline-row.ts'

/** `kind title: state` for each row, indented by its depth; without the notes about clients. */
function outline(rows: readonly TimelineRow[]): readonly string[] {
  return rows
    .filter(({ id }) => !id.includes('-client-') && !id.includes('session-opened'))
    .map(({ kind, title, state, depth }) => `${'  '.repeat(depth)}${kind} ${title}: ${state}`)
}

test.each(keptLogs())('%s: every row is unique, below its parent, and has records that exist', (name) => {
  const records = readLog(name)
  const { rows, byId, newest } = readTimeline(records)
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  expect(byId.size).toBe(rows.length)
  expect(newest).toBe(records.at(-1)?.pos)
  for (const row of rows) {
    const above = row.parent === undefined ? -1 : rows.findIndex(({ id }) => id === row.parent)
    expect(above).toBeLessThan(rows.indexOf(row))
    expect(above >= 0).toBe(row.parent !== undefined)
    expect(row.records.every((pos) => records[pos]?.pos === pos)).toBe(true)
    expect(row.toMs === undefined).toBe(OPEN_STATES.has(row.state))
    for (const [index, { fromMs, toMs }] of row.segments.entries()) {
      expect(toMs ?? Infinity).toBeGreaterThanOrEqual(fromMs)
      expect(row.segments[index + 1]?.fromMs ?? toMs).toBe(toMs)
    }
  }
})

test.each(keptLogs())('%s: the rows of a part of the log stay, in their order, when more of it is read', (name) => {
  const records = readLog(name)
  const whole = readTimeline(records).rows.map(({ id }) => id)
  for (let count = 1; count < records.length; count += 1) {
    const some = readTimeline(records.slice(0, count)).rows.map(({ id }) => id)
    expect(whole.filter((id) => some.includes(id))).toEqual(some)
  }
})

test('every call of a kept log has one row, and each of its records is in it', () => {
  for (const name of keptLogs()) {
    const records = readLog(name)
    const calls = records.flatMap(({ facts }) =>
      facts.flatMap((fact) => (fact.type === 'step-finished' ? fact.calls : [])),
    )
    const { rows } = readTimeline(records)
    expect(
      rows
        .filter(({ kind }) => kind === 'call')
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(calls.map(({ callId }) => callId).toSorted())
    for (const { callId } of calls) {
      const told = records.filter(({ facts }) =>
        facts.some((fact) => fact.type === 'call-settled' && fact.callId === callId && fact.via === undefined),
      )
      const row = rows.find(({ id }) => id === callId)
      expect(row?.records).toEqual(expect.arrayContaining(told.map(({ pos }) => pos)))
    }
  }
})

test('a model that fails is asked again: two attempts below one step, and the pause between them is a wait', () => {
  const { rows } = readTimeline(readLog('retry'))
  expect(outline(rows)).toEqual([
    'input go: info',
    'turn turn 1: ok',
    '  step step 1: ok',
    '    attempt scripted/model: superseded',
    '    attempt scripted/model: ok',
  ])
  const step = rows.find(({ kind }) => kind === 'step')
  expect(step?.segments.map(({ state, fromMs, toMs }) => [state, (toMs ?? 0) - fromMs])).toEqual([
    ['running', 0],
    ['time', 443],
    ['ok', 0],
  ])
  expect(step?.marks.map(({ text }) => text)).toEqual([
    'attempt 1: failed (model_overloaded: busy), asked again in 443 ms',
  ])
})

test('another model answers after the failure of the first: the row of the attempt names it', () => {
  const { rows } = readTimeline(readLog('fallback-model'))
  const attempts = rows.filter(({ kind }) => kind === 'attempt')
  expect(attempts.map(({ state }) => state)).toEqual(['superseded', 'ok'])
  expect(attempts[0]?.outcome).toContain('the next model is asked')
  expect(new Set(attempts.map(({ title }) => title)).size).toBe(2)
})

test('a person edits the arguments: the row has both, who decided, and the wait', () => {
  const { rows } = readTimeline(readLog('approval-edited'))
  const call = rows.find(({ kind }) => kind === 'call')
  expect(call?.call?.edited).toBe('{"euro":1}')
  expect(call?.call?.arguments).not.toBe(call?.call?.edited)
  expect(call?.marks.map(({ text }) => text)).toEqual(['changed and approved by anonymous'])
  expect(call?.state).toBe('ok')
})

test('two of three people approve: each is named', () => {
  const { rows } = readTimeline(readLog('approval-of-two'))
  const call = rows.find(({ kind }) => kind === 'call')
  expect(call?.marks).toHaveLength(2)
  expect(call?.marks[0]?.text).toMatch(/approved it, 1 more to go$/)
  expect(call?.call?.approvals[0]?.given).toHaveLength(1)
})

test('the lease of a client ends: its call waits, and another client brings the result', () => {
  const { rows, clients } = readTimeline(readLog('client-lease-ends'))
  const call = rows.find(({ kind }) => kind === 'call')
  expect(call?.segments.map(({ state, note }) => `${state}: ${note}`)).toEqual([
    'client: offered to slow',
    'client: waiting for a client: slow is gone',
    'ok: running on other',
  ])
  expect(call?.call?.offeredTo).toEqual(['slow', 'other'])
  expect(clients.get('slow')?.isAttached).toBe(false)
  expect(rows.map(({ title }) => title)).toContain('client slow is gone: its lease ended')
})

test('a result that comes late stays with its call', () => {
  const { rows } = readTimeline(readLog('late-result'))
  const late = rows.flatMap(({ marks }) => marks.filter(({ kind }) => kind === 'late'))
  expect(late).toHaveLength(1)
  expect(late[0]?.text).toMatch(/^a result was ignored \(late\): /)
})

test('a model that has read a stranger’s text: the next call says from where', () => {
  const { rows } = readTimeline(readLog('taint'))
  const calls = rows.filter(({ kind }) => kind === 'call')
  const first = calls.find(({ call }) => call?.provenance?.trust === 'untrusted')
  expect(first?.taint).toEqual([])
  const later = calls[calls.indexOf(first ?? calls[0]!) + 1]
  expect(later?.taint).toEqual([{ name: first?.title, row: first?.id }])
})

test('the calls of a child stand below the call that it works for', () => {
  const timeline = readTimeline(readLog('tree'))
  const call = timeline.rows.find(({ call }) => call?.child)
  const rows = withChildren(timeline.rows, new Map([[call?.id ?? '', readTimeline(readLog('tree-child'))]]))
  const inner = rows.find(({ path, title }) => path !== undefined && title === 'pay')
  expect(inner?.id).toMatch(new RegExp(`^${call?.id}/call_`))
  expect(inner?.depth).toBe((call?.depth ?? 0) + 1 + 2)
  expect(rows.filter(({ path }) => path === undefined)).toEqual(timeline.rows)
  expect(call?.call?.child?.stop).toBe('end')
})

test('a call that goes on in the background is open until its task settles', () => {
  const records = readLog('task-settled')
  const ended = records.findIndex(({ facts }) => facts.some(({ type }) => type === 'task-settled'))
  const before = readTimeline(records.slice(0, ended)).rows.find(({ kind }) => kind === 'call')
  expect([before?.state, before?.toMs]).toEqual(['running', undefined])
  const after = readTimeline(records).rows.find(({ kind }) => kind === 'call')
  expect(after?.state).toBe('ok')
  expect(after?.call?.task).toBe('settled')
})
