// An editor's tools while it leaves, while its session is restarted or the store fails, and while its calls end: renewals
// of the lease, claims and results.
import type { CallView, ErrorCode, LeaseClient, FrontSession } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { Outcome } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { ClientTools } from './client-tools.ts'

const CALL = {
  callId: 'c1',
  name: 'terminal',
  runs: 'client',
  status: 'waiting',
  holder: 'editor',
} as unknown as CallView // the fields in use

const DONE: Outcome = { type: 'ok', content: [] }

async function createWorld(callTool: (call: CallView, signal: AbortSignal) => Promise<Outcome>) {
  const asked: string[] = []
  const timers: (() => void)[] = []
  const waitsMs: number[] = []
  /** Codes that the next claims and results are refused with. */
  const refusals = { claim: [] as ErrorCode[], result: [] as ErrorCode[] }
  const offered: string[] = []
  const act = async (what: 'claim' | 'result', told: string): Promise<void> => {
    asked.push(told)
    const code = refusals[what].shift()
    if (code) throw new BatonError({ code, message: `refused: ${code}` })
  }
  const renewals: ((failure?: Error) => void)[] = []
  const gone = new Set<() => void>()
  const lease = {
    connection: 'editor',
    renew: () => {
      asked.push('renew')
      return new Promise<void>((resolve, reject) => {
        renewals.push((failure) => (failure ? reject(failure) : resolve()))
      })
    },
    detach: async () => void asked.push('detach'),
    claim: () => act('claim', 'claim'),
    result: (_callId: string, told: Outcome) => act('result', told.type === 'ok' ? 'result' : told.code),
    calls: () => offered.map((callId) => ({ callId })),
  } as unknown as LeaseClient
  const tools = await ClientTools.open({
    session: {
      client: () => Promise.resolve(lease),
      onClientsGone: (callback: () => void) => {
        gone.add(callback)
        return () => void gone.delete(callback)
      },
    } as unknown as FrontSession,
    client: 'editor',
    runs: undefined,
    timers: {
      start: (ms, fire) => {
        waitsMs.push(ms)
        timers.push(fire)
        return () => void (timers.includes(fire) && timers.splice(timers.indexOf(fire), 1))
      },
    },
    log: { info: (message) => void asked.push(message), warn: (message) => void asked.push(message) },
    callTool,
  })
  const settle = (): Promise<unknown> => new Promise((resolve) => void setImmediate(resolve))
  /** Fires the timer that was started last. */
  const passLast = async (): Promise<void> => {
    timers.pop()?.()
    await settle()
  }
  return { tools, asked, timers, waitsMs, refusals, offered, renewals, gone, settle, passLast }
}

test('a renewal that is under way when the editor leaves is the last one', async () => {
  const { tools, asked, timers, renewals, settle } = await createWorld(() => Promise.reject(new Error('not called')))
  for (const fire of timers.splice(0)) fire()
  const left = tools.leave()
  for (const answer of renewals) answer()
  await left
  await settle()
  expect([asked, timers]).toEqual([['renew', 'detach'], []])
})

test('a lease is renewed after a failure, at once after a restart of the session, and no more once it is closed here', async () => {
  const { tools, timers, asked, renewals, gone, settle } = await createWorld(() => Promise.reject(new Error('no call')))
  for (const fire of timers.splice(0)) fire()
  renewals[0]?.(new Error('the disk is full'))
  await settle()
  for (const fire of timers.splice(0)) fire()
  for (const tell of gone) tell()
  expect(asked.filter((what) => what === 'renew')).toHaveLength(3)
  tools.rest()
  for (const answer of renewals) answer()
  await settle()
  expect([timers, gone.size]).toEqual([[], 0])
})

test.each([
  [
    'has settled meanwhile is told, once: the model may have read that it may have run',
    (tools: ClientTools) => tools.take({ type: 'call', call: { ...CALL, status: 'settled' } } as never),
    ['claim', 'result'],
  ],
  ['belongs to a session that the editor has left is not told', (tools: ClientTools) => tools.leave(), ['claim']],
])('what the editor brings for a call that %s', async (_situation, end, expected) => {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const signals: AbortSignal[] = []
  const { tools, asked, settle } = await createWorld((_call, signal) => {
    signals.push(signal)
    return promise
  })
  tools.run(CALL)
  await settle()
  await Promise.resolve(end(tools))
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  resolve(DONE)
  await settle()
  expect(asked.filter((what) => what !== 'detach')).toEqual(expected)
})

test('a call whose claim fails for a moment is claimed again after longer and longer waits, and run once', async () => {
  const { tools, asked, waitsMs, refusals, settle, passLast } = await createWorld(() => Promise.resolve(DONE))
  refusals.claim.push('store_failed', 'queue_full')
  waitsMs.length = 0
  tools.run(CALL)
  tools.run(CALL) // its event is repeated
  await settle()
  expect([asked, waitsMs]).toEqual([['claim'], [1000]])
  await passLast()
  expect([asked, waitsMs]).toEqual([
    ['claim', 'claim'],
    [1000, 2000],
  ])
  await passLast()
  expect(asked).toEqual(['claim', 'claim', 'claim', 'result'])
})

test('a claim is tried nine times in all, and then the log says that the call could not be run', async () => {
  const { tools, asked, refusals, settle, passLast } = await createWorld(() => Promise.resolve(DONE))
  refusals.claim.push(...Array<ErrorCode>(20).fill('store_failed'))
  tools.run(CALL)
  await settle()
  for (let tries = 0; tries < 12; tries += 1) await passLast()
  expect(asked.filter((what) => what !== 'renew')).toEqual([
    ...Array<string>(9).fill('claim'),
    'a client tool call could not be run',
  ])
})

test.each<[ErrorCode, readonly string[]]>([
  ['call_over', ['claim']],
  ['call_not_offered', ['claim']],
  ['session_closed', ['claim', 'a client tool call could not be run']],
])('a claim that is refused with %s is not tried again', async (code, expected) => {
  const { tools, asked, timers, refusals, settle } = await createWorld(() => Promise.resolve(DONE))
  refusals.claim.push(code)
  const before = timers.length
  tools.run(CALL)
  await settle()
  expect([asked, timers.length]).toEqual([expected, before])
})

test('a call that is offered once more while its claim is refused is claimed again', async () => {
  const { tools, asked, refusals, offered, settle, passLast } = await createWorld(() => Promise.resolve(DONE))
  refusals.claim.push('store_failed', 'call_not_offered')
  tools.run(CALL)
  await settle()
  offered.push(CALL.callId)
  await passLast()
  await passLast()
  expect(asked).toEqual(['claim', 'claim', 'claim', 'result'])
})

test.each([
  ['settles', (tools: ClientTools) => tools.take({ type: 'call', call: { ...CALL, status: 'settled' } } as never)],
  ['is left by its editor', (tools: ClientTools) => tools.leave()],
])('a call that %s before its claim is tried again is not claimed', async (_situation, end) => {
  const { tools, asked, timers, refusals, settle } = await createWorld(() => Promise.resolve(DONE))
  refusals.claim.push('store_failed')
  tools.run(CALL)
  await settle()
  const waiting = timers.at(-1)
  await Promise.resolve(end(tools))
  await settle()
  expect(timers).not.toContain(waiting)
  expect(asked.filter((what) => what !== 'detach')).toEqual(['claim'])
})

test('a result that the session cannot take for a moment is told again, and the tool is not run again', async () => {
  let runs = 0
  const { tools, asked, refusals, settle, passLast } = await createWorld(() => {
    runs += 1
    return Promise.resolve(DONE)
  })
  refusals.result.push('store_failed', 'store_failed')
  tools.run(CALL)
  await settle()
  await passLast()
  await passLast()
  expect([asked, runs]).toEqual([['claim', 'result', 'result', 'result'], 1])
})

test.each<[ErrorCode, readonly string[]]>([
  ['invalid_event', ['claim', 'result', 'result_invalid']],
  ['result_invalid', ['claim', 'result', 'result_invalid']],
  ['input_too_large', ['claim', 'result', 'result_too_large']],
  ['session_closed', ['claim', 'result', 'a client tool call could not be run']],
])('a result that is refused with %s is told as a failure if that ends the call', async (code, expected) => {
  const { tools, asked, refusals, settle } = await createWorld(() => Promise.resolve(DONE))
  refusals.result.push(code)
  tools.run(CALL)
  await settle()
  expect(asked).toEqual(expected)
})
