// Messages from real servers: the request that an answer belongs to, and how odd questions and lists are read.
import type { JsonValue } from '@baton/core'
import { isSpecType } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { Exchange, OpenRequests } from './lenient-messages.ts'
import { readResult } from './lenient-results.ts'

const ask = (id: number, method = 'tools/list') => ({ jsonrpc: '2.0', id, method })
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' }
const ERROR = { jsonrpc: '2.0', id: null, error: { code: -32_601, message: 'Method not found' } }

function exchange(...sent: readonly object[]) {
  const open = new OpenRequests()
  const [own] = sent.map((message) => open.note(message)).filter((request) => request !== undefined)
  const told: string[] = []
  const tell = (what: string): void => void told.push(what)
  return { told, all: new Exchange({ open, tell }), one: new Exchange({ open, own, tell }) }
}

test('an answer without an id to a notification is not that of the request behind it', () => {
  const { all, told } = exchange(INITIALIZED, ask(1))
  expect(all.read(ERROR)).toEqual([])
  expect(told).toHaveLength(1)
  expect(all.read(ERROR)).toMatchObject([{ id: 1, error: { code: -32_601 } }])
})

test('once a later request is answered, an answer without an id is not for the notification before', () => {
  const { all } = exchange(INITIALIZED, ask(1), ask(2, 'ping'))
  expect(all.read({ id: 1, result: { tools: [] } })).toHaveLength(1)
  expect(all.read(ERROR)).toMatchObject([{ id: 2 }])
})

test('an answer without an id belongs to none of several requests', () => {
  expect(exchange(ask(1), ask(2)).all.read(ERROR)).toEqual([])
})

test('an unknown id belongs to the request of its response, if no other answer follows', () => {
  const { one } = exchange(ask(1, 'ping'))
  expect(one.read({ jsonrpc: '2.0', id: 99, result: {} })).toEqual([])
  expect(one.end()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  expect(one.end()).toEqual([])
})

test('a cancelled request waits for no answer', () => {
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  expect(exchange(ask(1), cancelled).all.read({ id: 1, result: {} })).toEqual([])
})

test('a message that nests beyond all measure breaks nothing', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`) as JsonValue
  const { all } = exchange(ask(1, 'tools/call'))
  expect(all.read({ id: 1, result: { content: [deep] } })).toHaveLength(1)
})

test('a form with what MCP has no words for is asked with the rest', () => {
  const properties = {
    name: { type: 'string', title: null, description: 5, default: null },
    email: { anyOf: [{ type: 'string', format: 'idn-email' }, { type: 'null' }], default: null, title: 'Mail' },
    age: { type: ['integer', 'null'], minimum: '3', default: 'old' },
    size: { enum: ['S', 'M'], enumNames: null },
    colour: { type: 'string', oneOf: [{ const: 'red' }, null] },
    note: null,
    tags: { items: { type: 'string', enum: ['a', 'b'] } },
  }
  const params = { message: 'Who?', requestedSchema: { properties, required: ['name', 7] } }
  const [asked] = exchange().all.read({ id: 'q', method: 'elicitation/create', params })
  expect(isSpecType.ElicitRequest(asked)).toBe(true)
  expect(asked).toMatchObject({
    params: {
      requestedSchema: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          email: { type: 'string', title: 'Mail' },
          age: { type: 'integer' },
          size: { type: 'string', enum: ['S', 'M'] },
          colour: { type: 'string', oneOf: [{ const: 'red', title: 'red' }] },
          note: { type: 'string' },
          tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
        },
        required: ['name'],
      },
    },
  })
})

test('a question with null in its fields can be asked', () => {
  const params = {
    message: null,
    mode: null,
    requestedSchema: { type: null, properties: null, required: null },
    _meta: null,
  }
  expect(exchange().all.read({ id: 'q', method: 'elicitation/create', params })).toEqual([
    {
      jsonrpc: '2.0',
      id: 'q',
      method: 'elicitation/create',
      params: { message: '', requestedSchema: { type: 'object', properties: {} } },
    },
  ])
})

test.each<[string, string, JsonValue, object]>([
  [
    'resources without names',
    'resources/list',
    { resources: [{ uri: 'a:b', name: null, mimeType: null }, { name: 'x' }] },
    { resources: [{ uri: 'a:b', name: 'a:b' }] },
  ],
  [
    'contents without an address',
    'resources/read',
    { contents: { text: 5, mimeType: null } },
    { contents: [{ uri: 'a:b', text: '5' }] },
  ],
  ['contents that are a text', 'resources/read', 'inside', { contents: [{ uri: 'a:b', text: 'inside' }] }],
  [
    'capabilities as PHP writes them',
    'initialize',
    { protocolVersion: '2025-06-18', capabilities: { tools: [], resources: [], logging: null }, serverInfo: [] },
    {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: 'unnamed', version: '0' },
    },
  ],
  [
    'capabilities of many forms',
    'initialize',
    {
      protocolVersion: '2025-06-18',
      capabilities: {
        tools: { listChanged: 'yes' },
        logging: true,
        completions: false,
        experimental: { a: null, b: true, c: { d: null } },
        tasks: { list: null, requests: { tools: { call: [] } } },
      },
      serverInfo: 'mine',
    },
    {
      protocolVersion: '2025-06-18',
      capabilities: {
        tools: {},
        logging: {},
        experimental: { b: {}, c: {} },
        tasks: { requests: { tools: { call: {} } } },
      },
      serverInfo: { name: 'mine', version: '0' },
    },
  ],
  [
    'a tool whose schema has null in its fields',
    'tools/list',
    {
      tools: [
        {
          name: 'a',
          inputSchema: { $schema: null, type: ['object', 'null'], properties: null, required: [1, 'q'], title: null },
          execution: { taskSupport: 'maybe' },
          annotations: [],
        },
      ],
    },
    { tools: [{ name: 'a', inputSchema: { type: 'object', required: ['q'] } }] },
  ],
  [
    'a version of the future',
    'initialize',
    { protocolVersion: '2031-01-01' },
    { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'unnamed', version: '0' } },
  ],
  [
    'a server without tools',
    'initialize',
    {
      protocolVersion: '2024-11-05',
      capabilities: { prompts: {} },
      serverInfo: { name: 'a', version: 1 },
      instructions: null,
    },
    { protocolVersion: '2024-11-05', capabilities: { prompts: {} }, serverInfo: { name: 'a', version: '1' } },
  ],
  [
    'a task with null in its fields',
    'tools/call',
    { task: { taskId: 't', status: 'working', statusMessage: null }, _meta: null },
    { task: { taskId: 't', status: 'working' } },
  ],
  [
    'a list of tools that is bare',
    'tools/list',
    [{ name: 'a', inputSchema: [] }],
    { tools: [{ name: 'a', inputSchema: { type: 'object' } }] },
  ],
])('%s', (_situation, method, result, read) => {
  expect(readResult({ id: 1, method, uri: 'a:b' }, result)).toEqual(read)
})

test('results of 2026-07-28 get the fields that they must have', () => {
  const request = { id: 1, isModern: true } as const
  expect(readResult({ ...request, method: 'tools/call' }, { content: 'x' })).toMatchObject({ resultType: 'complete' })
  expect(
    readResult({ ...request, method: 'tools/call' }, { resultType: 'input_required', inputRequests: null }),
  ).toEqual({ resultType: 'input_required' })
  expect(readResult({ ...request, method: 'tools/list' }, { tools: null, ttlMs: null })).toEqual({
    tools: [],
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
  })
})
