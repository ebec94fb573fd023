// Tools of the AI SDK: Baton's additions and rejections.
import { AsyncLocalStorage } from 'node:async_hooks'
import { createToolContext } from '@baton/core/testing'
import { jsonSchema, tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { playCalls } from '../shared/played-calls.test-kit.ts'
import { fromAiSdk } from './index.ts'

const Nothing = z.object({})
const context = createToolContext({ signal: new AbortController().signal })

test('around stands around each run, and what is ambient there reaches the tool, also while it yields', async () => {
  const tenant = new AsyncLocalStorage<string>()
  const seen: string[] = []
  const read = tool({
    inputSchema: z.object({ id: z.string() }),
    execute: async ({ id }) => `${tenant.getStore()} ${id}`,
  })
  const list = tool({
    inputSchema: Nothing,
    async *execute() {
      yield `${tenant.getStore()} 1`
      await Promise.resolve()
      yield `${tenant.getStore()} 2`
    },
  })
  const tools = fromAiSdk(
    { read, list },
    {
      around: async (run, { name, input, context: { principal } }) => {
        seen.push(`${name} ${JSON.stringify(input)}`)
        return tenant.run(`tenant of ${principal.id}`, run)
      },
    },
  )
  const { calls } = await playCalls(tools, [
    ['read', { id: 'a' }],
    ['list', {}],
  ])
  expect(calls).toEqual(['read ok: tenant of anonymous a', 'list ok: tenant of anonymous 2'])
  expect(seen).toEqual(['read {"id":"a"}', 'list {}'])
})

test('whatever a tool throws, the model reads its words', async () => {
  const throwing = (thrown: unknown) =>
    tool({
      inputSchema: Nothing,
      execute: (): string => {
        throw thrown
      },
    })
  const tools = fromAiSdk({
    error: throwing(new Error('the shop is closed')),
    text: throwing('closed'),
    object: throwing({ status: 503 }),
    late: tool({ inputSchema: Nothing, execute: (): Promise<string> => Promise.reject(new TypeError('late')) }),
    yields: tool({
      inputSchema: Nothing,
      async *execute() {
        yield 1
        throw new Error('in the middle')
      },
    }),
  })
  const { calls } = await playCalls(
    tools,
    Object.keys(tools).map((index) => [tools[Number(index)]?.name ?? '', {}]),
  )
  expect(calls).toEqual([
    'error error tool_failed: the shop is closed',
    'text error tool_failed: closed',
    'object error tool_failed: {"status":503}',
    'late error tool_failed: late',
    'yields error tool_failed: in the middle',
  ])
})

test('a program can give its tools another conversation', async () => {
  const inner = tool({ inputSchema: Nothing, execute: (_input, { messages }) => messages.length })
  const given = fromAiSdk({ inner }, { options: () => ({ messages: [{ role: 'user', content: 'Hello' }] }) })
  expect((await playCalls(given, [['inner', {}]])).calls).toEqual(['inner ok: 1'])
})

test('only a tool that reads the conversation fails when the store does', async () => {
  const reads = tool({ inputSchema: Nothing, execute: (_input, { messages }) => messages.length })
  const looksAway = tool({ inputSchema: Nothing, execute: () => 'ok', onInputAvailable: () => {} })
  const messages = () => Promise.reject(new Error('the store is away'))
  const [first, second] = fromAiSdk({ reads, looksAway })
  await expect(first?.execute?.({}, { ...context, messages })).rejects.toThrow('the store is away')
  expect(await second?.execute?.({}, { ...context, messages })).toBe('ok')
})

test.each([1, 'external', {}, Promise.resolve('yes'), true])('a needsApproval of %o asks', async (answer) => {
  const pay = { description: 'Pays', inputSchema: z.object({}), execute: () => 'paid' }
  const [asked] = fromAiSdk({ pay: { ...pay, needsApproval: () => answer } })
  const call = {
    session: 's',
    agent: 'a',
    principal: { id: 'p' },
    callId: 'c',
    services: {},
    messages: () => Promise.resolve([]),
  }
  expect(typeof asked?.approval === 'function' && (await asked.approval({}, call as never))).toBe(true)
  const [always] = fromAiSdk({ pay: { ...pay, needsApproval: 'always' } })
  expect(always?.approval).toBe(true)
})

test('where options give a context, a needsApproval that reads one is told that it is not known yet', async () => {
  const pay = tool({
    inputSchema: Nothing,
    needsApproval: (_input, about) => Reflect.get(about, 'context') !== undefined,
    execute: () => 'paid',
  })
  const { calls } = await playCalls(fromAiSdk({ pay }, { options: () => ({ context: {} }) }), [['pay', {}]])
  expect(calls[0]).toMatch(/^pay error invalid_arguments: .*"pay" reads its context in needsApproval/)
})

test('outputs that say an error, a denial or nothing that the AI SDK knows', async () => {
  const saying = (said: object) => ({
    inputSchema: jsonSchema({ type: 'object' }),
    execute: () => 1,
    toModelOutput: () => said,
  })
  const tools = fromAiSdk({
    text: saying({ type: 'text', value: 'one' }),
    json: saying({ type: 'json', value: { one: 1 } }),
    failed: saying({ type: 'error-text', value: 'it is broken' }),
    failedJson: saying({ type: 'error-json', value: { status: 500 } }),
    denied: saying({ type: 'execution-denied', reason: 'not today' }),
    address: saying({
      type: 'content',
      value: [{ type: 'file-url', url: 'https://example.com/a.pdf', mediaType: 'application/pdf' }],
    }),
    reference: saying({ type: 'content', value: [{ type: 'file-id', fileId: 'file_1' }] }),
    odd: saying({ type: 'odd' }),
  })
  const { calls } = await playCalls(
    tools,
    tools.map(({ name }) => [name, {}]),
  )
  expect(calls.slice(0, 6)).toEqual([
    'text ok: one',
    'json ok: {"one":1}',
    'failed error tool_failed: it is broken',
    'failedJson error tool_failed: {"status":500}',
    'denied error call_denied: not today',
    'address ok: [file]',
  ])
  expect(calls[6]).toMatch(/^reference error result_invalid: .* a part of its content is "file-id"/)
  expect(calls[7]).toMatch(/^odd error result_invalid: .* its output has the unknown type "odd"/)
})

test('a toModelOutput of version 5 that was not told of is noticed', async () => {
  const echo = {
    inputSchema: jsonSchema({ type: 'object' }),
    execute: () => 'one',
    toModelOutput: (value: unknown) => ({ type: 'json', value }),
  }
  const [unsaid] = fromAiSdk({ echo })
  await expect(unsaid?.execute?.({}, context)).rejects.toMatchObject({
    code: 'result_invalid',
    hint: expect.stringContaining('version: 5'),
  })
  const count = {
    ...echo,
    toModelOutput: (items: readonly number[]) => ({ type: 'text', value: items.map(String).join() }),
  }
  const [counting] = fromAiSdk({ count })
  await expect(counting?.execute?.({}, context)).rejects.toMatchObject({
    code: 'result_invalid',
    message: expect.stringMatching(/its toModelOutput threw: .*map/),
    hint: expect.stringContaining('version: 5'),
  })
  const [said] = fromAiSdk({ echo }, { version: 5 })
  expect(await said?.execute?.({}, context)).toBe('one')
})

test('onInputAvailable is called with the input before execute, as a method of its tool', async () => {
  const order: unknown[] = []
  const read = {
    inputSchema: z.object({ id: z.string() }),
    onInputAvailable(this: object, { input, toolCallId }: { readonly input: unknown; readonly toolCallId: string }) {
      order.push([this === read, input, toolCallId])
    },
    execute(this: object) {
      order.push(this === read)
      return 1
    },
  }
  await fromAiSdk({ read })[0]?.execute?.({ id: 'a' }, context)
  expect(order).toEqual([[true, { id: 'a' }, 'call_1_0'], true])
})

test('a call that is over ends what yields', async () => {
  const over = new AbortController()
  let isClosed = false
  const endless = tool({
    inputSchema: Nothing,
    async *execute() {
      try {
        for (let count = 0; ; count += 1) yield count
      } finally {
        isClosed = true
      }
    },
  })
  const [made] = fromAiSdk({ endless })
  const progress = (note: unknown): void => {
    if (note === 3) over.abort()
  }
  await expect(made?.execute?.({}, { ...context, signal: over.signal, progress })).rejects.toThrow(/abort/i)
  expect(isClosed).toBe(true)
})

test('settings hold for all tools, and byName for one', () => {
  const made = fromAiSdk(
    {
      read: tool({ inputSchema: Nothing, execute: () => 1 }),
      pay: tool({ inputSchema: Nothing, execute: () => 1, title: 'Pays' }),
    },
    { trust: 'untrusted', effect: 'pure', timeoutMs: 1000, byName: { pay: { effect: 'once', approval: true } } },
  )
  expect(
    made.map(({ name, trust, effect, timeoutMs, approval, title }) => [
      name,
      trust,
      effect,
      timeoutMs,
      approval,
      title,
    ]),
  ).toEqual([
    ['read', 'untrusted', 'pure', 1000, false, undefined],
    ['pay', 'untrusted', 'once', 1000, true, 'Pays'],
  ])
})

test('what cannot be used is refused, with the name of the tool and what to do', () => {
  const execute = (): number => 1
  const refused = (tools: object, options = {}): string => {
    try {
      fromAiSdk(tools as Parameters<typeof fromAiSdk>[0], options)
    } catch (thrown) {
      const { code, message } = thrown as { readonly code: string; readonly message: string }
      return `${code} ${message}`
    }
    return 'taken'
  }
  const search = { type: 'provider', id: 'openai.web_search', args: {}, inputSchema: Nothing }
  expect(refused({ search })).toBe(
    'invalid_tool fromAiSdk: "search": it is a tool that only one model provider can run (openai.web_search)',
  )
  expect(refused({ search: { ...search, type: 'provider-defined' } })).toMatch(/^invalid_tool .*openai\.web_search/)
  expect(refused({ late: { inputSchema: jsonSchema(Promise.resolve({ type: 'object' as const })), execute } })).toMatch(
    /^invalid_schema .* is a promise/,
  )
  expect(refused({ odd: { inputSchema: 'text', execute } })).toMatch(
    /^invalid_schema fromAiSdk: "odd": its input schema/,
  )
  expect(refused({ list: { inputSchema: z.array(z.string()), execute } })).toMatch(/^invalid_schema tool "list"/)
  expect(refused({ told: { description: () => 'x', inputSchema: Nothing, execute } })).toMatch(
    /^invalid_tool .*its description is a function/,
  )
  expect(refused({ one: 1 })).toMatch(/^invalid_tool fromAiSdk: "one": it must be a tool of the AI SDK, not/)
  expect(refused({ one: { inputSchema: Nothing, execute: 1 } })).toMatch(/^invalid_tool .*execute must be a function/)
  expect(refused({ one: { inputSchema: Nothing, execute } }, { byName: { two: {} } })).toMatch(
    /^invalid_tool .*byName has "two"/,
  )
  expect(refused({ one: { inputSchema: Nothing, execute } }, { messages: [] })).toMatch(
    /^invalid_tool fromAiSdk has no field "messages"/,
  )
  expect(refused({ one: { inputSchema: Nothing, execute } }, { version: 8 })).toMatch(
    /^invalid_tool .*must be 4, 5, 6 or 7, not 8/,
  )
  expect(refused({ inputSchema: Nothing, execute })).toMatch(/^invalid_tool .* by name, not one tool/)
  expect(refused(Promise.resolve({}))).toMatch(/^invalid_tool .* by name, not a promise/)
  expect(refused([{ inputSchema: Nothing, execute }])).toMatch(/^invalid_tool fromAiSdk takes an object of tools/)
})

test('retry of a set tries again the tools that may run twice', async () => {
  const runs = { read: 0, pay: 0 }
  const failing = (name: keyof typeof runs) => ({
    description: name,
    inputSchema: z.object({}),
    execute: () => {
      runs[name] += 1
      if (runs[name] === 1) throw new Error('not now')
      return 'done'
    },
  })
  const set = { read: failing('read'), pay: failing('pay') }
  const retry = { attempts: 2, baseMs: 0 }
  const tools = fromAiSdk(set, { retry, byName: { read: { effect: 'pure' } } })
  const { calls } = await playCalls(tools, [
    ['read', {}],
    ['pay', {}],
  ])
  expect(calls).toEqual(['read ok: done', expect.stringMatching(/^pay error .*not now/)])
  expect(runs).toEqual({ read: 2, pay: 1 })
  expect(() => fromAiSdk(set, { byName: { pay: { retry } } })).toThrow(/retry is for a tool that may run twice/)
})
