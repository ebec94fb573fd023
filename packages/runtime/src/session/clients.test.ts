// A program that runs client tools, and whose session continues without it: it was too slow for its events, or the session
// was opened again.
import type { ClientHandlers } from '@baton/core/internal'
import type { Input, OpenCall } from '@baton/core/machine'
import { expect, test, vi } from 'vitest'
import type { SessionEngine } from '../engine.ts'
import { attachProgramClient } from './clients.ts'
import { EVENTS_MAX } from './reader.ts'
import { openStream } from './stream.test-kit.ts'

async function attach(
  submit: (input: Input) => Promise<void> = () => Promise.resolve(),
  handlers: ClientHandlers = {},
  { calls, isClaimed }: { readonly calls?: () => readonly object[]; readonly isClaimed?: () => boolean } = {},
) {
  const { stream, state, history, publish, append } = openStream()
  const submitted: Input[] = []
  const warned: string[] = []
  const engine = {
    session: 's',
    stream,
    state: () => (calls ? { ...state(), step: { calls: calls() } } : state()),
    history: () => Object.assign(history(), { openCall: () => CALL }),
    world: {
      spec: { limits: { resultChars: 1000 } },
      tools: [],
      log: { warn: (message: string) => void warned.push(message) },
    },
    submit: async (inputs: readonly Input[]) => {
      submitted.push(...inputs)
      for (const input of inputs) await submit(input)
      return inputs.map(() => ({ type: 'accepted', pos: 0, ...(isClaimed?.() && { again: true }) }))
    },
  } as unknown as SessionEngine // only what a client without calls needs
  const principal = { id: 'ann' }
  const client = await attachProgramClient({ engine, principal, handlers, connection: 'app', onDetach: () => {} })
  const listAttachments = (): readonly Input[] => submitted.filter(({ type }) => type === 'client-attached')
  return { stream, publish, append, client, warned, listAttachments }
}

/** The call that the program is offered. */
const CALL = { callId: 'c1', name: 'look', arguments: '{}', settled: false } as unknown as OpenCall // the fields in use

test('a program that missed that its session was opened again attaches again', async () => {
  const { publish, listAttachments } = await attach()
  expect(listAttachments()).toHaveLength(1)
  publish({ type: 'host-restarted', downMs: 0 })
  for (let index = 0; index <= EVENTS_MAX; index++) publish({ type: 'session-described', title: `${index}` })
  await expect.poll(listAttachments).toHaveLength(2)
})

test('a program that could not be attached again is attached when its session was restarted once more', async () => {
  let attempts = 0
  const { publish, warned, listAttachments } = await attach(async ({ type }) => {
    if (type !== 'client-attached') return
    attempts += 1
    if (attempts === 2) throw new Error('the disk is full')
  })
  publish({ type: 'host-restarted', downMs: 0 })
  await expect.poll(() => warned).toEqual(['the client of a program could not be attached again'])
  publish({ type: 'host-restarted', downMs: 0 })
  await expect.poll(listAttachments).toHaveLength(3)
})

test('a program that detaches while it is behind reads nothing more', async () => {
  const attached = Promise.withResolvers<void>()
  let isFirst = true
  const { stream, publish, append, client, listAttachments } = await attach(async ({ type }) => {
    if (type === 'client-attached' && !isFirst) await attached.promise
    isFirst = false
  })
  const opened = vi.spyOn(stream, 'joinNow')
  publish({ type: 'host-restarted', downMs: 0 })
  stream.startAfter(append({ type: 'session-described', title: 'elsewhere' }).pos)
  await expect.poll(listAttachments).toHaveLength(2)
  const detached = client.detach()
  attached.resolve()
  await detached
  await new Promise((resolve) => setImmediate(resolve))
  expect(opened).not.toHaveBeenCalled()
})

test('a result counts although its session was opened again and the program has not read of it', async () => {
  const { promise: seen, resolve: see } = Promise.withResolvers<string>()
  let isAttached = false
  let handled = 0
  const told: boolean[] = []
  const submit = async ({ type }: Input): Promise<void> => {
    if (type === 'client-attached') isAttached = true
    // The session ignores it otherwise.
    if (type === 'tool-result') told.push(isAttached)
    await Promise.resolve()
  }
  const look = (): Promise<string> => {
    handled += 1
    return seen
  }
  const { stream, append } = await attach(submit, { look })
  stream.publishRecord(append({ type: 'call-offered', callId: 'c1', connection: 'app', offer: 1 }))
  await expect.poll(() => handled).toBe(1)
  isAttached = false
  see('a garden')
  await expect.poll(() => told).toEqual([true])
})

test('a program that was too slow runs a call once that it finds in the list of open calls and reads of as well', async () => {
  const renewed = Promise.withResolvers<void>()
  let renewals = 0
  const claims: Input[] = []
  let handled = 0
  const look = (): string => {
    handled += 1
    return 'a garden'
  }
  const offered = { callId: 'c1', state: 'offered', offer: { connection: 'app', number: 1 } }
  const { publish, stream, append } = await attach(
    async (input) => {
      if (input.type === 'call-claimed') claims.push(input)
      if (input.type === 'client-attached' && (renewals += 1) === 2) await renewed.promise
    },
    { look },
    { calls: () => (handled === 0 ? [offered] : []), isClaimed: () => claims.length > 1 },
  )
  for (let index = 0; index <= EVENTS_MAX; index++) publish({ type: 'session-described', title: `${index}` })
  await expect.poll(() => renewals).toBe(2)
  stream.publishRecord(append({ type: 'call-offered', callId: 'c1', connection: 'app', offer: 1 }))
  renewed.resolve()
  await expect.poll(() => claims.length).toBe(2)
  await new Promise((resolve) => setImmediate(resolve))
  expect(handled).toBe(1)
})
