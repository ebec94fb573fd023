// Acts of a session and its rows: the operator may do them, and they reach the session of the row.
import { expect, test } from 'vitest'
import type { Power } from './api.ts'
import { readLog } from './kept-log.test-kit.ts'
import { listActs, listRowActs } from './session-acts.ts'
import type { Store } from './store.ts'
import { readTimeline } from './timeline.ts'

/** Opens a page for an operator with these powers. `acts` lists the requests to the server. */
function open(...powers: readonly Power[]) {
  const acts: unknown[][] = []
  const act = (...given: readonly unknown[]): Promise<object> => {
    acts.push([...given])
    return Promise.resolve({})
  }
  const store = { api: { act }, may: (power: Power) => powers.includes(power) } as unknown as Store // all that acts use
  return { acts, place: { session: 's', store, readOn: () => {} } }
}

const tree = readLog('tree')
const begun = tree.findIndex(({ facts }) => facts.some(({ type }) => type === 'child-begun'))
/** While another agent works for a call. */
const running = readTimeline(tree.slice(0, begun + 1)).rows

test('a delegated call is cancelled as a call of its own session, and rows of agents below offer nothing', async () => {
  const { acts, place } = open('act')
  const row = running.find(({ call }) => call?.child)
  if (!row?.call) throw new Error('no call is delegated')
  const [cancel, ...others] = listRowActs(row, place)
  expect([cancel?.does, others]).toEqual(['Cancel the task', []])
  await cancel?.run()
  expect(acts).toEqual([['s', `tasks/${row.call.callId}/cancel`]])
  for (const below of [row, ...running.filter(({ kind }) => kind === 'input')])
    expect(listRowActs({ ...below, path: ['call_1_0'] }, place)).toEqual([])
})

test('a message can be gone back to, and a call that has ended is not cancelled', async () => {
  const { acts, place } = open('act')
  const { rows } = readTimeline(tree)
  const offered = rows.flatMap((row) => listRowActs(row, place))
  expect(offered.map(({ does }) => does)).toEqual(['Rewind to here'])
  await offered[0]?.run()
  expect(acts).toMatchObject([['s', 'rewind', { message: expect.any(String) as string }]])
})

test.each<[readonly Power[], readonly string[]]>([
  [['see'], []],
  [['see', 'decide'], []],
  [['act'], ['Interrupt', 'Fork', 'Cancel the task', 'Rewind to here']],
  [['export'], ['Export']],
  [['remove'], ['Remove']],
])('with the powers %j a running session and its rows offer %j', (powers, offered) => {
  const { place } = open(...powers)
  const acts = [...listActs({ ...place, rows: running }), ...running.flatMap((row) => listRowActs(row, place))]
  expect(acts.map(({ does }) => does).toSorted()).toEqual(offered.toSorted())
})
