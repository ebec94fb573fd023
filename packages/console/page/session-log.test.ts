// The log of a session in the page: read in pages, then what is new, with the logs of its children.
import type { SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import type { Api, LogPage } from './api.ts'
import { findOutcome, findTaint, keepRequests } from './inbox-requests.ts'
import type { WaitingApproval } from './api.ts'
import { readLog } from './kept-log.test-kit.ts'
import { CHILDREN_MAX, createLogReader } from './session-log.ts'

/** A server's log route over records, two a page. */
function serve(logs: Readonly<Record<string, readonly SessionRecord[]>>) {
  const asked: string[] = []
  const log = (id: string, part: Parameters<Api['log']>[1], path: readonly string[] = []): Promise<LogPage> => {
    const from = 'from' in part ? part.from : 0
    const key = [id, ...path].join('/')
    asked.push(`${key} from ${from}`)
    const all = logs[key]
    if (!all) return Promise.reject(new Error('no such log'))
    const records = all.filter(({ pos }) => pos >= from).slice(0, 2)
    const next = from + records.length
    return Promise.resolve({ records, next, more: next <= (all.at(-1)?.pos ?? -1) })
  }
  return { log, asked }
}

test('all pages are read, and then only what is new', async () => {
  const records = readLog('client-claims')
  const logs = { s: records.slice(0, 5) }
  const { log, asked } = serve(logs)
  const reader = createLogReader({ log }, 's')
  expect((await reader.readOn()).records).toEqual(records.slice(0, 5))
  asked.length = 0
  logs.s = [...records]
  expect((await reader.readOn()).records).toEqual(records)
  expect(asked[0]).toBe('s from 5')
  const last = await reader.readOn()
  expect((await reader.readOn()).timeline).toBe(last.timeline)
})

test('children are read with their parent, an ended one once, and one without a log is left out', async () => {
  const records = readLog('tree')
  const call = records.flatMap(({ facts }) => facts).find((fact) => fact.type === 'child-begun')?.callId ?? ''
  const { log, asked } = serve({ s: records, [`s/${call}`]: readLog('tree-child') })
  const reader = createLogReader({ log }, 's')
  const { children } = await reader.readOn()
  expect([...children.keys()]).toEqual([call])
  asked.length = 0
  await reader.readOn()
  expect(asked.filter((one) => one.startsWith('s/'))).toEqual([])
  const { children: none } = await createLogReader({ log: serve({ s: records }).log }, 's').readOn()
  expect([...none.keys()]).toEqual([])
})

test('a child that ends between two looks is read to its end', async () => {
  const records = readLog('tree')
  const child = readLog('tree-child')
  const call = records.flatMap(({ facts }) => facts).find((fact) => fact.type === 'child-begun')?.callId ?? ''
  const closes = records.findIndex(({ facts }) => facts.some(({ type }) => type === 'child-closed'))
  const logs = { s: records.slice(0, closes), [`s/${call}`]: child.slice(0, 3) }
  const reader = createLogReader(serve(logs), 's')
  expect((await reader.readOn()).recordsBelow.get(call)).toEqual(child.slice(0, 3))
  Object.assign(logs, { s: records, [`s/${call}`]: child })
  expect((await reader.readOn()).recordsBelow.get(call)).toEqual(child)
})

test('more children than the page reads are left out, and it says so', async () => {
  const records = readLog('tree')
  const { log } = serve({ s: records })
  // Each child has a child.
  const endless = (id: string, part: Parameters<Api['log']>[1]): Promise<LogPage> => log(id, part)
  const { children, isCut } = await createLogReader({ log: endless }, 's').readOn()
  expect([children.size, isCut]).toEqual([CHILDREN_MAX, true])
  expect((await createLogReader({ log }, 's').readOn()).isCut).toBe(false)
})

test('who decided a request that has left the inbox', async () => {
  const records = readLog('approval-denied')
  const approvalId = records
    .flatMap(({ facts }) => facts)
    .find((fact) => fact.type === 'approval-requested')?.approvalId
  const request = { session: 's', approvalId } as WaitingApproval // the fields that are read
  const whole: LogPage = { records, next: records.length, more: false }
  expect(await findOutcome({ log: () => Promise.resolve(whole) }, request)).toMatch(/^denied by anonymous/)
  expect(await findOutcome({ log: () => Promise.reject(new Error('not allowed')) }, request)).toBe('no longer waits')
})

test('what has left the inbox stays below the open requests', () => {
  const one = { session: 's', approvalId: 'a' } as WaitingApproval // the fields that are read
  const two = { session: 's', approvalId: 'b' } as WaitingApproval // the fields that are read
  const kept = keepRequests([one, two], [])
  expect(keepRequests([two], kept).map(({ request, isGone }) => [request.approvalId, isGone])).toEqual([
    ['b', false],
    ['a', true],
  ])
  // A look missed the request, which is open as before and is listed once.
  expect(
    keepRequests([one, two], keepRequests([two], kept)).map(({ request, isGone }) => [request.approvalId, isGone]),
  ).toEqual([
    ['a', false],
    ['b', false],
  ])
})

test('strangers’ results before a request, by its log', async () => {
  const records = readLog('taint')
  const asked = records.flatMap(({ facts }) => facts).find((fact) => fact.type === 'approval-requested')
  const request = { session: 's', approvalId: asked?.approvalId, callId: asked?.callId } as WaitingApproval // the fields that are read
  const taint = await findTaint(serve({ s: records }), request)
  expect(taint.length).toBeGreaterThan(0)
})
