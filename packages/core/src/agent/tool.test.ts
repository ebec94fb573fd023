// Definitions that `tool` accepts and refuses. Errors of the compiler are marked at the line.
import { z } from 'zod'
import { expect, test } from 'vitest'
import type { ToolContext } from './tool.ts'
import { tool } from './tool.ts'

const BASE = { name: 'door', description: 'Opens', input: z.object({ seconds: z.number() }) } as const
const output = z.object({ status: z.enum(['open', 'closed']), tags: z.array(z.string()) })

test('a literal that is returned fits an output of literals, without any "as const"', () => {
  const tools = [
    tool({ ...BASE, output, execute: () => ({ status: 'open', tags: ['a'] }) }),
    tool({ ...BASE, output, execute: async () => ({ status: 'open', tags: [] }) }),
    tool({ ...BASE, output, execute: ({ seconds }) => ({ status: seconds > 0 ? 'open' : 'closed', tags: [] }) }),
    tool({
      ...BASE,
      output,
      execute: () => (Math.random() > 2 ? Promise.reject(new Error()) : { status: 'open', tags: [] }),
    }),
    tool({ ...BASE, output, fallback: (_, { principal }) => ({ status: 'closed', tags: [principal.id] }) }),
    // @ts-expect-error no such status
    tool({ ...BASE, output, execute: () => ({ status: 'ajar', tags: [] }) }),
    // @ts-expect-error nor here
    tool({ ...BASE, output, fallback: (_, { principal }) => ({ status: 'ajar', tags: [principal.id] }) }),
  ]
  expect(tools.every(({ execute, fallback }) => execute ?? fallback)).toBe(true)
})

test('services are told by the type of the context', () => {
  interface Services {
    readonly doors: { open(): string }
  }
  const door = tool({ ...BASE, execute: (_, { services }: ToolContext<Services>) => services.doors.open() })
  expect(door.effect).toBe('once')
})

test('a fallback stands for a client, so a tool of the server has none', () => {
  // @ts-expect-error one of the two
  expect(() => tool({ ...BASE, execute: () => 1, fallback: () => 2 })).toThrow(
    'fallback is for a tool that a client runs',
  )
  expect(() => tool({ ...BASE, fallback: 'later' as never })).toThrow(/fallback must be a function/)
})

test('a result that JSON cannot write does not compile', () => {
  class Point {
    x = 1

    norm(): number {
      return this.x
    }
  }
  const fine = [
    tool({
      ...BASE,
      execute: () => ({ at: new Date(0), name: 'a', message: 'b', list: [[1], null], none: undefined }),
    }),
    tool({ ...BASE, execute: () => new Point() }),
    tool({ ...BASE, execute: () => JSON.parse('1') as unknown }),
    tool({ ...BASE, execute: () => ({ content: [{ type: 'text', text: 'a' }] }) }),
    tool({ ...BASE, execute: () => undefined }),
    tool({ ...BASE, execute: () => Promise.reject(new Error('no door')) }),
  ]
  const lost = [
    // @ts-expect-error await response.json()
    tool({ ...BASE, execute: () => fetch('https://example.com') }),
    // @ts-expect-error Object.fromEntries(map)
    tool({ ...BASE, execute: () => new Map([['a', 1]]) }),
    // @ts-expect-error [...set]
    tool({ ...BASE, execute: async () => ({ tags: new Set(['a']) }) }),
    // @ts-expect-error its message, or throw it
    tool({ ...BASE, execute: () => new TypeError('no door') }),
    // @ts-expect-error also in one of several
    tool({ ...BASE, execute: ({ seconds }) => (seconds > 0 ? 'open' : new Error('no door')) }),
    // @ts-expect-error Array.from(bytes)
    tool({ ...BASE, execute: () => ({ rows: [{ bytes: new Uint8Array(2) }] }) }),
    // @ts-expect-error what JSON writes of a Buffer is a list of numbers
    tool({ ...BASE, execute: async () => Buffer.from('ab') }),
    // @ts-expect-error inside as well
    tool({ ...BASE, execute: () => ({ file: Buffer.from('ab') }) }),
    // @ts-expect-error a function
    tool({ ...BASE, execute: () => () => 1 }),
    // @ts-expect-error a promise inside
    tool({ ...BASE, execute: () => ({ a: Promise.resolve(1) }) }),
    // @ts-expect-error nor here
    tool({ ...BASE, fallback: () => new Headers() }),
  ]
  expect([...fine, ...lost]).toHaveLength(17)
})

test.each([
  ['a list', ['mia'], 'deciders must be a plain object, not an array'],
  ['nobody', {}, 'deciders need people, roles or notAsker: true'],
  ['a role', { role: 'manager' }, 'it is called "roles" here'],
  ['more than there are', { people: ['mia', 'tom'], needed: 3 }, 'needed is 3, but only 2 people may decide'],
])('deciders that are %s are refused, with what to write', (_, deciders, message) => {
  expect(() => tool({ ...BASE, approval: true, deciders: deciders as never, execute: () => 1 })).toThrow(
    expect.objectContaining({
      code: 'invalid_tool',
      message: expect.stringContaining(message) as string,
      hint: expect.stringContaining("{ people: ['mia', 'tom', 'eve'], needed: 2 }") as string,
    }),
  )
})

test('deciders of a tool that asks nobody are refused: its calls would run', () => {
  const deciders = { roles: ['manager'] }
  expect(() => tool({ ...BASE, deciders, execute: () => 1 })).toThrow(
    expect.objectContaining({
      code: 'invalid_tool',
      message: 'tool "door": it has deciders, but approval does not say when they are asked',
      hint: 'Write approval: true, a function of the input, or false if only a policy asks.',
    }),
  )
  for (const approval of [true, false, () => true])
    expect(tool({ ...BASE, deciders, approval, execute: () => 1 }).deciders).toEqual(deciders)
})
