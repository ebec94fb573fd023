import { createTemporalHost, createTemporalWorker, createMemoryBus } from '@baton/temporal'
import { createMemoryStore } from '@baton/host'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
const store = createMemoryStore()
const bus = createMemoryBus()
const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'add', arguments: '{"a":1,"b":2}' }] },
    { text: 'the sum is 3' },
    { text: 'second' },
    { text: 'x' },
    { text: 'y' },
  ],
} as never)
const agent = defineAgent({
  name: 'smoke',
  model,
  tools: [
    tool({ name: 'add', description: 'adds', input: { type: 'object', properties: {} }, execute: () => ({ sum: 3 }) }),
  ],
})
const log = { info: () => {}, warn: (m: string, d: unknown) => console.log('WARN', m, d) }
const address = '127.0.0.1:' + process.argv[2]
const worker = await createTemporalWorker({ address, agent, logStore: store, redis: bus, log })
const running = worker.run()
const host = await createTemporalHost({ address, agent, logStore: store, redis: bus, log })
const session = await host.session('s-' + Date.now())
for (const text of ['add', 'again', 'more']) {
  const t0 = performance.now()
  const turn = session.send(text)
  for await (const event of turn)
    if (event.type === 'text') console.log('text', event.text, Math.round(performance.now() - t0))
  console.log(await turn.answer, Math.round(performance.now() - t0))
}
console.log(session.id)
await host.stop()
worker.shutdown()
await running
