// Calls over one connection to a 2025 server: a call's key, notes, questions and end.
import type { ToolContext } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Tool as McpTool } from '@modelcontextprotocol/client'
import { afterEach, expect, test } from 'vitest'
import { Connection } from './connection.ts'
import { describeLoss, wasUnread } from './failure.ts'
import type { Shop } from './shop-server.test-kit.ts'
import { PAY, startShop } from './shop-server.test-kit.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

async function start(shop: Shop = {}) {
  const server = await startShop(shop)
  const timers = new Set<() => void>()
  const delays = new Map<() => void, number>()
  /** Lets the timers of this length fire. Returns their number. */
  const pass = (ms: number): number => {
    const due = [...timers].filter((timer) => delays.get(timer) === ms)
    for (const timer of due) {
      timers.delete(timer)
      timer()
    }
    return due.length
  }
  const ended: Connection[] = []
  const connection = await Connection.open(
    {
      name: 'shop',
      config: { url: server.url },
      timers: {
        start: (ms, callback) => {
          timers.add(callback)
          delays.set(callback, ms)
          return () => void timers.delete(callback)
        },
      },
      log: { info: () => {}, warn: () => {} },
      messageBytes: 100_000,
      connectMs: 10_000,
      onEnd: (one) => void ended.push(one),
      onToolsChanged: () => {},
    },
    new AbortController().signal,
  )
  ends.push(server.stop, () => connection.close())
  const stop = new AbortController()
  const progress: unknown[] = []
  const context = (more: Partial<ToolContext> = {}): ToolContext =>
    ({
      idempotencyKey: 'key-1',
      signal: stop.signal,
      progress: (note: unknown) => void progress.push(note),
      ...more,
    }) as Partial<ToolContext> as ToolContext // the only fields used
  const pay = (more?: Partial<ToolContext>) => connection.call(PAY as McpTool, {}, context(more))
  return { ...server, connection, timers, pass, ended, stop, progress, pay }
}

const QUESTION = { message: 'Which size?', requestedSchema: { type: 'object' as const, properties: {} } }

test('a call that is sent again has the key of the first one', async () => {
  const { pay, keys } = await start()
  await pay()
  await pay()
  await pay({ idempotencyKey: 'key-2' })
  expect(keys).toEqual(['key-1', 'key-1', 'key-2'])
})

test('the first note of a call is passed on at once, and nothing of it after its end', async () => {
  const { pay, progress, timers } = await start({ notes: [1, 2, 3] })
  expect(await pay()).toMatchObject({ content: [{ text: 'paid' }] })
  expect(progress[0]).toEqual({ progress: 1 })
  expect([...timers]).toEqual([])
})

test('a server that reports, falls silent and reports again is heard again', async () => {
  const gate = Promise.withResolvers<void>()
  const { pay, progress, pass } = await start({
    notes: [1, 2, 3],
    pauses: (note) => (note === 3 ? gate.promise : undefined),
  })
  const paid = pay()
  await expect.poll(() => (pass(50), progress.length)).toBe(2)
  // Nothing has come since the last note.
  await expect.poll(() => pass(50)).toBe(0)
  gate.resolve()
  await paid
  expect(progress).toEqual([{ progress: 1 }, { progress: 2 }, { progress: 3 }])
})

test('a question without a call goes to the oldest running one, and to no one after its end', async () => {
  const gate = Promise.withResolvers<void>()
  const { pay, connection, read } = await start({
    answers: (_tool, asked) => (asked < 3 ? gate.promise : Promise.resolve()),
  })
  const asked: string[] = []
  const ask = (who: string) =>
    ({ ask: async () => (asked.push(who), { size: who }) }) as unknown as Partial<ToolContext>
  const calls = [pay(ask('first'))]
  await expect.poll(() => read['pay']).toBe(1)
  calls.push(pay(ask('second')))
  await expect.poll(() => read['pay']).toBe(2)
  await pay(ask('third'))
  expect(await connection.answerAlone(QUESTION)).toEqual({ action: 'accept', content: { size: 'first' } })
  gate.resolve()
  await Promise.all(calls)
  expect(await connection.answerAlone(QUESTION)).toEqual({ action: 'cancel' })
  expect(asked).toEqual(['first'])
})

test.each([
  ['cancelled', { action: 'cancel' }],
  ['store_failed', 'store_failed'],
] as const)('a question whose call ends with %s meanwhile', async (code, answer) => {
  const gate = Promise.withResolvers<void>()
  const { pay, connection, read } = await start({ answers: () => gate.promise })
  const call = pay({ ask: () => Promise.reject(new BatonError({ code, message: 'no' })) })
  await expect.poll(() => read['pay']).toBe(1)
  const told = await connection.answerAlone(QUESTION).catch((thrown: BatonError) => thrown.code)
  expect(told).toEqual(answer)
  gate.resolve()
  await call
})

test('a call that is stopped says so, and that it may have taken effect', async () => {
  const { pay, stop, read } = await start({ answers: () => new Promise(() => {}) })
  const call = pay().catch((thrown: unknown) => thrown)
  await expect.poll(() => read['pay']).toBe(1)
  stop.abort()
  expect(await call).toMatchObject({
    code: 'cancelled',
    message: 'the call was stopped before MCP server "shop" answered; it may have taken effect',
  })
})

test('a list with a wrong tool in it keeps the right ones of all its pages', async () => {
  const pages: Readonly<Record<string, { readonly tools: readonly object[]; readonly nextCursor?: string }>> = {
    first: { tools: [PAY, { name: 5 }], nextCursor: 'second' },
    second: { tools: [{ ...PAY, name: 'send' }] },
  }
  const { connection } = await start({ lists: (_asked, cursor) => pages[cursor ?? 'first'] })
  const tools = await connection.listTools(new AbortController().signal)
  expect(tools.map(({ name }) => name)).toEqual(['pay', 'send'])
})

test('a call over a connection that was closed before has not taken effect', async () => {
  const { pay, connection, read } = await start()
  await connection.close()
  const failure: unknown = await pay().catch((thrown: unknown) => thrown)
  expect(failure).toMatchObject({ code: 'api_unavailable' })
  expect([describeLoss(failure) === failure, wasUnread(failure)]).toEqual([true, true])
  expect(read['pay']).toBe(0)
})

test('a closed connection is not reported as one that ended by itself', async () => {
  const { connection, ended } = await start()
  await connection.close()
  connection.endNow()
  expect(ended).toEqual([])
})
