// Pinned definitions of a server's tools: new ones are pinned as is, up to a limit, and none is pushed out.
import type { Tool as McpTool } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { addPins, comparePins, isTooLarge } from './pins.ts'

const define = (name: string, description = ''): McpTool => ({ name, description, inputSchema: { type: 'object' } })

test('a server that names ever new tools brings no more at its bound, and its old pins stay', () => {
  let pins: readonly McpTool[] = [define('pay', 'harmless')]
  for (let list = 0; list < 10; list += 1) {
    const listed = [define('pay', 'changed'), define(`${list}_a`), define(`${list}_b`)]
    const { pins: after, leftOut } = addPins(pins, listed, 4)
    pins = after
    expect(leftOut).toHaveLength(list === 0 ? 0 : list === 1 ? 1 : 2)
  }
  expect(pins.map(({ name }) => name)).toEqual(['pay', '0_a', '0_b', '1_a'])
  expect(pins[0]?.description).toBe('harmless')
})

test('a definition that would fill the requests of the model is no tool', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 9_000 }, (_, at) => [`p${at}`, { type: 'string' as const }]),
  )
  expect(isTooLarge({ ...define('large'), inputSchema: { type: 'object', properties } })).toBe(true)
  expect(isTooLarge(define('usual', 'x'.repeat(100_000)))).toBe(false)
})

test.each<[string, Partial<McpTool>]>([
  ['title', { title: 'Other' }],
  ['description', { description: 'other' }],
  ['inputSchema', { inputSchema: { type: 'object', required: ['to'] } }],
  ['outputSchema', { outputSchema: { type: 'object' } }],
  ['annotations', { annotations: { readOnlyHint: true } }],
])('a tool whose %s changed waits for a person, and is offered as it was', (_field, change) => {
  const before = define('pay', 'harmless')
  const after = { ...before, ...change }
  expect(comparePins([after], [before])).toEqual([{ offered: before, waiting: after }])
  expect(comparePins([{ ...before, _meta: { at: 1 } }], [before])[0]).not.toHaveProperty('waiting')
})
