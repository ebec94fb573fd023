// A host's metrics, as Prometheus reads them.
import { createHost, createOfflineModel, defineAgent } from '@baton/host'
import { createMetrics } from '@baton/host/metrics'

const metrics = createMetrics()
const agent = defineAgent({ name: 'parrot', model: createOfflineModel() })
const host = createHost({ agent, observers: [metrics] })
const session = await host.session('talk')
await session.send('Hello!').answer
console.log(metrics.prometheus())
await host.stop()
