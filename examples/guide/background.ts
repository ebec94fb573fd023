// A report takes long, so it runs in the background: the model answers at once. The server is restarted meanwhile, and the
// report wakes its session when it is ready.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, openSqliteStore, tool } from '@baton/host'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

function createReport() {
  const starts: string[] = []
  const report = tool({
    name: 'report.write',
    description: 'Writes a report about a city. Takes an hour',
    input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    effect: 'idempotent', // it is started again after a crash, with the same key
    background: true,
    timeoutMs: 24 * 60 * 60 * 1000,
    execute: async ({ city }, { signal, idempotencyKey }) => {
      starts.push(idempotencyKey)
      // Here the first start never ends: the server is stopped before.
      if (starts.length === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return `${city} has 717,710 people.`
    },
  })
  return { report, starts }
}

const { report, starts } = createReport()
const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'report.write', arguments: { city: 'Oslo' } }] },
    { text: 'I am writing it. Ask me anything else meanwhile.' },
    { text: 'Your report is ready: Oslo has 717,710 people.' },
  ],
})
const agent = defineAgent({ name: 'clerk', model, tools: [report] })
const folder = await mkdtemp(join(tmpdir(), 'baton-'))
const store = await openSqliteStore(join(folder, 'sessions.db'))

const first = createHost({ agent, store })
const session = await first.session('desk')
console.log((await session.send('Write a report about Oslo.').answer).text)
for (const { name, status } of await session.tasks()) console.log(`${name} is ${status}`)
await first.stop()

const second = createHost({ agent, store })
await second.recover()
const again = await second.session('desk')
for await (const event of again.events({ from: 'turn' }))
  if (event.type === 'turn-finished' && event.turn === 2) {
    console.log(event.text)
    break
  }
console.log(`started ${starts.length} times, with ${new Set(starts).size} key`)
await second.stop()
await store.close()
await rm(folder, { recursive: true })
