// Reminders of a session: once, at the times of a rule, and after an interval.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { createServer } from 'node:http'

const model = createScriptedModel({ steps: [{ text: 'Ann, has the tree come?' }] })
const host = createHost({ agent: defineAgent({ name: 'assistant', model }) })
await host.recover() // also keeps the reminders of sessions that are closed
const session = await host.session('ann')
const server = createServer().listen() // reminders alone keep no process alive

await session.every('0 9 * * 1-5', 'Summarise the new orders.', { id: 'orders', zone: 'Europe/Berlin' })
await session.every(30 * 60_000, { name: 'check', message: 'Look at the queue.' }, { id: 'queue' })
// Or a Date, or "2030-12-24T09:00" with a zone.
await session.at(Date.now() + 500, 'Ask Ann whether the tree has come.', { id: 'tree' })
for (const { id, rule } of await session.reminders()) console.log(id, rule ?? 'once')

for await (const event of session.events({ from: 'start' }))
  if (event.type === 'turn-finished') {
    console.log(event.text)
    break
  }
await session.cancelReminder('orders')
console.log((await session.reminders()).map(({ id }) => id))
await host.stop()
server.close()
