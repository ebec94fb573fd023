// An editor's tools while it leaves: no lease is renewed, and no result is sent that has no recipient.
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
  const renewals: (() => void)[] = []
  const lease = {
    connection: 'editor',
    renew: () => {
      asked.push('renew')
      return new Promise<void>((resolve) => void renewals.push(resolve))
    },
    detach: async () => void asked.push('detach'),
    claim: async () => void asked.push('claim'),
    result: async () => void asked.push('result'),
  } as unknown as LeaseClient
  const tools = await ClientTools.open({
    session: { client: () => Promise.resolve(lease) } as unknown as FrontSession,
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
  return { tools, asked, timers, renewals, settle }
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

test.each([
  [
    'has settled otherwise',
    (tools: ClientTools) => tools.take({ type: 'call', call: { ...CALL, status: 'settled' } } as never),
  ],
  ['whose editor has left', (tools: ClientTools) => tools.leave()],
])('what the editor brings for a call that %s is not told', async (_situation, end) => {
  const { promise, resolve } = Promise.withResolvers<never>()
  const { tools, asked, settle } = await createWorld(() => promise)
  tools.run(CALL)
  await settle()
  await Promise.resolve(end(tools))
  resolve({ type: 'ok', content: [] } as never)
  await settle()
  expect(asked.filter((what) => what !== 'detach')).toEqual(['claim'])
})
