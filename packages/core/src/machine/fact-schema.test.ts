// Valid and invalid records, from any writer.
import { describe, expect, test } from 'vitest'
import { isBatonError } from '../errors.ts'
import { TestSession } from '../testing/test-session.ts'
import { apply } from './apply.ts'
import { initialState } from './state.ts'
import type { SessionRecord } from './record.ts'
import { checkRecord, followRecord } from './record.ts'

const sound: SessionRecord = {
  version: 1,
  pos: 0,
  nowMs: 5,
  epoch: 1,
  input: { type: 'pause' },
  facts: [{ type: 'session-paused' }],
}

function findIssue(value: unknown): string | undefined {
  try {
    checkRecord(value)
    return undefined
  } catch (cause) {
    return isBatonError(cause) ? `${cause.code}: ${cause.message}` : String(cause)
  }
}

/** An eventful session, as read from a store. */
function converse(): readonly SessionRecord[] {
  const session = new TestSession({ window: { exchanges: 2, keepExchanges: 1, summarise: true } })
  session
    .attach()
    .user('one')
    .says({ text: 'I look', calls: ['read', { name: 'put', approval: true }, 'look'] })
  session.send(session.approval('call_1_1', 'approve')).returns('call_1_0').returns('call_1_1')
  session.clientReturns('call_1_2', 'seen').says('Found').user('two').says('2').restart(1000)
  session.send({ type: 'urgent-event', inputId: 'e', name: 'offer', detail: { a: 1 } }).says('yes')
  session.send({ type: 'transcript', inputId: 't', speaker: 'ann', text: 'bye' }).fire('batch').says('bye')
  return JSON.parse(JSON.stringify(session.records)) as readonly SessionRecord[]
}

describe('a number that nobody can count on is refused', () => {
  test.each<[Partial<Record<keyof SessionRecord, unknown>>, string]>([
    [
      { epoch: 2 ** 53 },
      'log_damaged: record 0 is not a record: epoch must be a safe whole number, not 9007199254740992',
    ],
    [{ epoch: 1e300 }, 'log_damaged: record 0 is not a record: epoch must be a safe whole number, not 1e+300'],
    [{ epoch: 0.5 }, 'log_damaged: record 0 is not a record: epoch must be a safe whole number, not 0.5'],
    [{ pos: '0' }, 'log_damaged: a record is not a record: pos must be a safe whole number, not "0"'],
    [
      { nowMs: 8.64e15 + 1 },
      'log_damaged: record 0 is not a record: nowMs must be milliseconds of a date, not 8640000000000001',
    ],
    [{ nowMs: null }, 'log_damaged: record 0 is not a record: nowMs must be milliseconds of a date, not null'],
    [{ facts: {} }, 'log_damaged: record 0 is not a record: facts must be a list, not an object'],
    [{ facts: [null] }, 'log_damaged: record 0 is not a record: facts[0] must be an object, not null'],
    [{ input: undefined }, 'log_damaged: record 0 is not a record: input is missing'],
    [
      { facts: [{ type: 'turn-started' }] },
      'log_damaged: record 0 is not a record: facts[0] (turn-started).turn is missing',
    ],
    [
      { facts: [{ type: 'input-accepted', inputId: 'a', body: { type: 'user', parts: [{ type: 'text' }] } }] },
      'log_damaged: record 0 is not a record: facts[0] (input-accepted).body.parts[0].text is missing',
    ],
  ])('%j', (change, issue) => expect(findIssue({ ...sound, ...change })).toBe(issue))
})

test.each([null, undefined, 'x', 1, [], {}])('%j is no record', (value) => {
  expect(findIssue(value)).toContain('log_damaged')
  expect(() => followRecord({ pos: -1, epoch: 0 }, value as never)).toThrow('is not a record')
})

test('a fact of a newer version is told as that, and never becomes the state', () => {
  const newer = { ...sound, facts: [{ type: 'session-cloned', from: 'x' }] }
  expect(findIssue(newer)).toBe(
    'log_version_unknown: record 0 has a fact that this version of Baton does not know: "session-cloned"',
  )
  expect(() => apply(initialState('s'), { type: 'session-cloned' } as never)).toThrow('does not know: "session-cloned"')
  expect(() => apply(initialState('s'), { type: 'constructor' } as never)).toThrow('does not know')
})

test('fields that are new are let be', () => {
  expect(findIssue({ ...sound, origin: 'x', facts: [{ type: 'session-paused', by: 'ann' }] })).toBeUndefined()
})

test('of a session everything is a record; without a field, or with one of another kind, it is none', () => {
  const records = converse()
  for (const record of records) expect(findIssue(record)).toBeUndefined()
  let refused = 0
  let taken = 0
  const kept = new Set<string>()
  for (const record of records)
    for (const [index, fact] of record.facts.entries())
      for (const name of Object.keys(fact).filter((key) => key !== 'type')) {
        const { [name]: _, ...without } = fact as unknown as Record<string, unknown>
        for (const changed of [without, { ...fact, [name]: Symbol.iterator }]) {
          const facts = record.facts.map((one, at) => (at === index ? changed : one))
          if (findIssue({ ...record, facts }) === undefined) {
            taken += 1
            kept.add(`${fact.type}.${name}`)
          } else refused += 1
        }
      }
  console.log(`${refused} changes of facts refused, ${taken} taken: ${[...kept].join(', ')}`)
  // Optional fields may be missing; no field may be of another kind, except fields that hold any JSON.
  expect(taken).toBeLessThan(refused / 10)
  expect([...kept].sort()).toMatchInlineSnapshot(`
    [
      "client-attached.asks",
      "client-attached.claims",
      "client-attached.reportsPlayback",
      "input-accepted.untilMs",
    ]
  `)
})

test('each field of a part is checked, also the optional ones', () => {
  const step = converse().find(({ facts }) => facts.some(({ type }) => type === 'step-finished'))
  const fact = step?.facts.find((one) => one.type === 'step-finished')
  const state = { provider: 'p', model: 'm', data: {} }
  const parts: readonly Record<string, unknown>[] = [
    { type: 'text', text: 't', state },
    { type: 'reasoning', text: 't', state },
    { type: 'call', callId: 'c', name: 'n', arguments: '{}', state },
    { type: 'source', id: 's', url: 'u', title: 't', mediaType: 'm', quote: 'q' },
    { type: 'provider', state },
  ]
  const find = (part: Record<string, unknown>): string | undefined =>
    findIssue({ ...step, facts: [{ ...fact, parts: [part] }] })
  for (const part of parts) {
    expect(find(part)).toBeUndefined()
    for (const name of Object.keys(part))
      expect({ name, issue: find({ ...part, [name]: 5 }) }).toMatchObject({ issue: expect.any(String) })
  }
})
