// Openings of a session over breaking connections: what the first one requests, and where later ones continue.
import { expect, onTestFinished, test } from 'vitest'
import { openSession } from '../index.ts'
import { createPlayedServer, INFO } from '../played-server.test-kit.ts'

test('the first opening begins the session, and each further one goes on at the cursor, as the same device', () => {
  const server = createPlayedServer()
  const asked = { title: 'A trip', meta: { kind: 'note' } }
  const client = openSession({
    url: 'ws://127.0.0.1:9/ws',
    session: 's',
    world: server.world,
    tools: { look: () => 'seen' },
    speech: true,
    leaseMs: 9000,
    ...asked,
  })
  onTestFinished(() => client.close())
  const next = (): void => {
    server.breakWith(1006)
    server.advance(10_000)
    server.begin()
  }
  server.begin()
  const [first] = server.asked('session.open')
  expect(first).toMatchObject({ session: 's', messages: 50, speech: true, device: { leaseMs: 9000 }, ...asked })
  server.accept(first, { session: 's', info: INFO, messages: [], more: true, next: { pos: 4 } })
  // Before any event arrived.
  next()
  const [second] = server.asked('session.open')
  expect(second).toMatchObject({ session: 's', from: { pos: 4 }, speech: true, device: first?.['device'] })
  for (const name of ['messages', 'title', 'meta']) expect(second).not.toHaveProperty(name)
  server.refuse(second, 'quota_exceeded', { retryable: true })
  expect(client.getSnapshot()).toMatchObject({ status: 'waiting', error: { code: 'quota_exceeded' } })
  server.advance(10_000)
  server.begin()
  server.accept(server.asked('session.open')[0], { session: 's', info: INFO, next: { pos: 4 } })
  expect(client.getSnapshot()).toMatchObject({ status: 'open', more: true, error: undefined })
  server.say({ type: 'events', events: [{ at: 1, type: 'live' }], next: { pos: 7 } })
  next()
  expect(server.asked('session.open')).toMatchObject([{ from: { pos: 7 } }])
  // The log is a different one: it is read again, once.
  server.refuse(server.asked('session.open')[0], 'invalid_event')
  expect(server.asked('session.open')[1]).toMatchObject({ messages: 50 })
  expect(server.asked('session.open')[1]).not.toHaveProperty('from')
})

test('a listener to an event sees the snapshot that has it', () => {
  const server = createPlayedServer()
  const client = openSession({ url: 'ws://127.0.0.1:9/ws', session: 's', world: server.world })
  onTestFinished(() => client.close())
  const titles: (string | null)[] = []
  client.on('event', () => void titles.push(client.getSnapshot().title))
  server.begin()
  server.accept(server.asked('session.open')[0], { session: 's', info: INFO, next: { pos: 4 } })
  server.tell({ type: 'session', title: 'New' })
  expect(titles).toEqual(['New'])
})
