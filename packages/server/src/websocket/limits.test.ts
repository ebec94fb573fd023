// Counts of connections and turns by address and principal: an ended connection is not counted, and a session is
// counted once.
import { expect, test } from 'vitest'
import { DEFAULT_CONNECTION_LIMITS, Quotas } from './limits.ts'

const clock = { nowMs: () => 0 }
const connect = (session?: string) => ({ busySession: () => session })

test('a connection that has ended makes room for its address and for its principal', () => {
  const quotas = new Quotas({ ...DEFAULT_CONNECTION_LIMITS, addressConnections: 2, principalConnections: 1 }, clock)
  const ann = { address: '10.0.0.1', principal: 'ann' }
  const close = quotas.open(ann, connect())
  expect(quotas.checkConnection({ ...ann, address: '10.0.0.2' })).toBe('a principal may have 1 connections at once')
  const closeOther = quotas.open({ address: '10.0.0.1', principal: 'bob' }, connect())
  expect(quotas.checkConnection({ address: '10.0.0.1', principal: 'eve' })).toBe(
    'an address may have 2 connections at once',
  )
  close()
  expect(quotas.checkConnection(ann)).toBeUndefined()
  closeOther()
  expect(quotas.checkConnection({ address: '10.0.0.1', principal: undefined })).toBeUndefined()
})

test('a session at work counts once, however many follow it, and takes more itself', () => {
  const quotas = new Quotas({ ...DEFAULT_CONNECTION_LIMITS, addressTurns: 2, principalTurns: 1 }, clock)
  const origin = { address: '10.0.0.1', principal: undefined }
  for (const session of ['s', 's', undefined]) quotas.open(origin, connect(session))
  expect(quotas.checkTurn(origin, 't')).toBeUndefined()
  quotas.open(origin, connect('t'))
  expect([quotas.checkTurn(origin, 's'), quotas.checkTurn(origin, 'u')]).toEqual([
    undefined,
    'an address may have 2 turns at once; wait until one ends',
  ])
  quotas.open({ address: '10.0.0.9', principal: 'ann' }, connect('a'))
  expect(quotas.checkTurn({ address: '10.0.0.8', principal: 'ann' }, 'b')).toBe(
    'a principal may have 1 turns at once; wait until one ends',
  )
})
