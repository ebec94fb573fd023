// One turn as spans: an in-memory exporter replaces yours, such as the one of @opentelemetry/exporter-trace-otlp-http.
import { createHost, createOfflineModel, defineAgent, tool } from '@baton/host'
import { createSpanIds, traceSessions } from '@baton/host/opentelemetry'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

const exporter = new InMemorySpanExporter()
const ids = createSpanIds()
const provider = new BasicTracerProvider({ idGenerator: ids, spanProcessors: [new SimpleSpanProcessor(exporter)] })
const tracing = traceSessions({ tracer: provider.getTracer('baton'), ids })

const population = tool({
  name: 'city.population',
  description: 'The population of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'pure',
  execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
})
const agent = defineAgent({ name: 'cities', model: createOfflineModel(), tools: [population] })
const host = createHost({ agent, observers: [tracing] })
const session = await host.session('trip')
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' // from the request being served
await session.send('What is the population of the city "Oslo"?', { traceparent }).answer
await host.stop()
await tracing.settled()
for (const span of exporter.getFinishedSpans()) console.log(span.spanContext().traceId, span.name)
await provider.shutdown()
