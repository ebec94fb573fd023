// The first event for a reader of the newest turn, also if the turn begins in the record that ends the previous one.
import type { EventCursor, Session, SessionEvent } from '@baton/core/internal'
import { defineAgent, tool } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from './create-host.ts'

/** Reads all past events. */
async function readPast(session: Session, from: 'turn' | EventCursor): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = []
  for await (const event of session.events({ from })) {
    if (event.type === 'live') break
    events.push(event)
  }
  return events
}

/** A session of two turns, the second of which waited for the first. */
async function openAfterTwo(delivery: 'queue' | 'interrupt') {
  const gate = Promise.withResolvers<void>()
  const wait = tool({
    name: 'wait',
    description: 'Waits',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => gate.promise,
  })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.length === 1 ? { calls: [{ name: 'wait', arguments: {} }] } : { text: `answer ${messages.length}` },
  })
  const host = createHost({ agent: defineAgent({ name: 'a', model, tools: [wait] }) })
  const session = await host.session('s')
  const first = session.send('one', { inputId: 'm1' })
  for await (const event of first) if (event.type === 'call' && event.call.status === 'running') break
  const second = session.send('two', { inputId: 'm2', delivery })
  if (delivery === 'queue') while ((await session.info()).queued.length === 0) await new Promise(setImmediate)
  gate.resolve()
  await second.answer
  return { host, session }
}

test('the events of a turn that waited begin with that turn, and not with the end of the one before', async () => {
  const { host, session } = await openAfterTwo('queue')
  const events = await readPast(session, 'turn')
  expect(events.slice(0, 3).map(({ type }) => type)).toEqual(['message-entered', 'message-added', 'step-started'])
  expect(events.flatMap((event) => (event.type === 'turn-finished' ? [event.turn] : []))).toEqual([2])
  expect(await readPast(session, { pos: session.lastTurn()!.pos, since: session.lastTurn()!.pos })).toEqual(events)
  await host.stop()
})

test('every cursor of such a reading continues behind its event', async () => {
  const { host, session } = await openAfterTwo('queue')
  const events = await readPast(session, 'turn')
  for (const [index, { cursor }] of events.entries())
    expect(await readPast(session, cursor)).toEqual(events.slice(index + 1))
  await host.stop()
})

test('the message that interrupts a turn belongs to what it begins', async () => {
  const { host, session } = await openAfterTwo('interrupt')
  const events = await readPast(session, 'turn')
  const asked = events.findIndex((event) => event.type === 'message-entered' && event.message === 'm2')
  expect(asked).toBeGreaterThanOrEqual(0)
  expect(events.some((event) => event.type === 'turn-finished' && event.turn === 1)).toBe(false)
  await host.stop()
})
