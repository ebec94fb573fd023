// Names in the query of an address: one that it does not take is refused with the name that was meant, before anything is
// done; what stock clients send is taken.
import { afterEach, expect, test } from 'vitest'
import { startOperators } from './operators.test-kit.ts'

const running: { stop(): unknown }[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
})

function start() {
  const world = startOperators()
  running.push(world)
  return world
}

const SEES = 'mia see,decide,act,export,remove'

test.each([
  ['sessions?activty=waiting', 'activty', 'activity'],
  ['sessions?status=waiting', 'status', 'activity'],
  ['approvals?tols=pay', 'tols', 'tool'],
  ['sessions/trip/messages?befor=m1', 'befor', 'before'],
  ['sessions/trip/events?form=start', 'form', 'from'],
  ['sessions/trip/log?form=3', 'form', 'from'],
  ['cost?agnet=shop', 'agnet', 'agent'],
])('%s is refused with the name that was meant', async (address, wrong, meant) => {
  const { say, ask } = start()
  await say('trip')
  const response = await ask(address, SEES)
  expect(response.status).toBe(400) // a stream is not read
  const { error } = (await response.json()) as { readonly error: object } // as every refusal
  expect(error).toEqual({
    code: 'invalid_event',
    message: `the query of this address has no field "${wrong}"; it is called "${meant}" here`,
    hint: `Write "${meant}" instead.`,
  })
})

test('a name that means nothing is refused with those that the address takes', async () => {
  const { say, ask } = start()
  await say('trip')
  const response = await ask('sessions/trip/messages?colour=red', 'ann')
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({
    error: {
      code: 'invalid_event',
      message: 'the query of this address has no field "colour"',
      hint: 'Its fields are before, limit, format, child, token.',
    },
  })
})

test('a removal with an unknown name in its address removes nothing', async () => {
  const { say, ask } = start()
  await say('trip')
  expect((await ask('sessions/trip?dryRun=true', 'ann', undefined, 'DELETE')).status).toBe(400)
  expect((await ask('sessions/trip', 'ann')).status).toBe(200)
})

test.each([
  ['sessions?activity=waiting&order=oldest&agent=shop&since=0&meta=%7B%7D&limit=5&token=t', 200],
  ['sessions?all=true&search=t&principal=ann', 200],
  ['approvals?all=true&agent=shop&tool=pay&order=oldest&limit=5', 200],
  ['sessions/trip/messages?format=baton&limit=5', 200],
  ['sessions/trip/log?last=5', 200],
  ['cost?from=2026-11-01&to=2026-12-01&agent=shop&principal=ann&format=csv', 200],
  ['chat/trip/stream?trace=1', 403], // a session of another owner, and its page's own name
])('%s is taken', async (address, status) => {
  const { say, ask } = start()
  await say('trip')
  expect((await ask(address, SEES)).status).toBe(status)
})
