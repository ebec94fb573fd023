// An editor's tools while it leaves, while its session is restarted, and while its calls end: what is renewed and told.
import type { CallView, LeaseClient, FrontSession } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { ClientTools } from './client-tools.ts'

const CALL = {
  callId: 'c1',
  name: 'terminal',
  runs: 'client',
  status: 'waiting',
  holder: 'editor',
} as unknown as CallView // the fields in use

async function createWorld(callTool: (call: CallView, signal: AbortSignal) => Promise<never>) {
  const asked: string[] = []
  const timers: (() => void)[] = []
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
    claim: async () => void asked.push('claim'),
    result: async () => void asked.push('result'),
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
      start: (_ms, fire) => {
        timers.push(fire)
        return () => void timers.splice(timers.indexOf(fire), 1)
      },
    },
    log: { info: (message) => void asked.push(message), warn: (message) => void asked.push(message) },
    callTool,
  })
  const settle = (): Promise<unknown> => new Promise((resolve) => void setImmediate(resolve))
  return { tools, asked, timers, renewals, gone, settle }
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
  const { promise, resolve } = Promise.withResolvers<never>()
  const signals: AbortSignal[] = []
  const { tools, asked, settle } = await createWorld((_call, signal) => {
    signals.push(signal)
    return promise
  })
  tools.run(CALL)
  await settle()
  await Promise.resolve(end(tools))
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  resolve({ type: 'ok', content: [] } as never)
  await settle()
  expect(asked.filter((what) => what !== 'detach')).toEqual(expected)
})
