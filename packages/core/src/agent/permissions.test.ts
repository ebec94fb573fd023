// Patterns of permissions, and invalid patterns.
import { expect, test } from 'vitest'
import { defineAgent } from './agent.ts'
import type { Permissions } from './permissions.ts'
import { findToolRefusal, mayUseExternalModels, mayUseNetwork } from './permissions.ts'

test.each([
  ['fs.*', 'fs.write', true],
  ['fs.*', 'fs.', true],
  ['fs.*', 'fsx', false],
  ['*', '', true],
  ['*.read', 'order.read', true],
  ['*.read', 'order.reader', false],
  ['a*b*c', 'a1b2c', true],
  ['a*b*c', 'abc', true],
  ['a*b*c', 'acb', false],
  ['aa*aa', 'aaa', false],
  ['a**b', 'ab', true],
  ['fs.write', 'fs.write', true],
  ['fs.write', 'FS.write', false],
  ['fs.?rite', 'fs.write', false],
  ['.+', 'fs', false],
])('the pattern %s and the name %s: %s', (pattern, name, isAllowed) => {
  expect(findToolRefusal([{ allow: [pattern] }], name) === undefined).toBe(isAllowed)
  expect(findToolRefusal([{ deny: [pattern] }], name) === undefined).toBe(!isAllowed)
})

test('a pattern of many stars against a long name ends', () => {
  expect(findToolRefusal([{ deny: ['*a'.repeat(120) + 'b'] }], 'a'.repeat(100_000))).toBe(undefined)
})

test('deny wins over allow, and each of several permissions must allow a tool', () => {
  const permissions: Permissions[] = [{ allow: ['fs.*', 'web.*'], deny: ['fs.write'] }, { allow: ['fs.*'] }]
  expect(findToolRefusal(permissions, 'fs.read')).toBe(undefined)
  expect(findToolRefusal(permissions, 'fs.write')).toBe('"fs.write" denies it')
  expect(findToolRefusal(permissions, 'web.fetch')).toBe('no pattern in allow matches it')
})

test('an empty allow leaves nothing', () => {
  expect(findToolRefusal([{ allow: [] }], 'fs.read')).toBe('no pattern in allow matches it')
})

test('without the network no external model is asked', () => {
  expect([mayUseNetwork([{}]), mayUseExternalModels([{}])]).toEqual([true, true])
  expect([mayUseNetwork([{ externalModels: false }]), mayUseExternalModels([{ externalModels: false }])]).toEqual([
    true,
    false,
  ])
  expect([mayUseNetwork([{}, { network: false }]), mayUseExternalModels([{}, { network: false }])]).toEqual([
    false,
    false,
  ])
})

test.each([
  [{ alow: ['fs.*'] }, 'has no field "alow"; it is called "allow" here'],
  [{ allow: 'fs.*' }, 'permissions.allow must be a list of patterns'],
  [{ deny: ['fs.*', 7] }, 'permissions.deny must hold names of tools'],
  [{ deny: [''] }, 'permissions.deny must hold names of tools'],
  [{ deny: [undefined] }, 'permissions.deny must hold names of tools'],
  [{ network: 'false' }, 'permissions.network must be true or false, not "false"'],
  [{ externalModels: 0 }, 'permissions.externalModels must be true or false, not 0'],
])('%j is refused', (permissions, message) => {
  expect(() => defineAgent({ name: 'a', permissions: permissions as never })).toThrow(message)
})

test('an agent made from another one keeps its permissions', () => {
  const agent = defineAgent({ name: 'a', permissions: { deny: ['fs.*'] } })
  expect(defineAgent({ ...agent, name: 'b', model: [] }).permissions).toEqual([{ deny: ['fs.*'] }])
})
