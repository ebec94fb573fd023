// The exports of @baton/host/opentelemetry, the only part of Baton that needs @opentelemetry/api.
import type { Counter, Histogram, Meter } from '@opentelemetry/api'
import type { SessionObserver } from '../observer.ts'
import { measureSessions } from './measure-sessions.ts'
import type { MetricSink, MetricSpec } from './prometheus.ts'

export { traceSessions } from './trace-sessions.ts'
export type { Tracing, TracingOptions } from './trace-sessions.ts'
export { createSpanIds } from './span-data.ts'
export type { SpanIds } from './span-data.ts'

interface MeterOptions {
  readonly meter: Meter
  /** Monotonic clock in milliseconds. Default: `performance.now`. */
  readonly nowMs?: () => number
}

/** Measures every session of a host: `createHost({ observers: [meterSessions({ meter })] })`. */
export function meterSessions({ meter, nowMs = () => performance.now() }: MeterOptions): SessionObserver {
  const counters = new Map<MetricSpec, Counter>()
  const histograms = new Map<MetricSpec, Histogram>()
  const sink: MetricSink = {
    add: (metric, labels, value) => {
      const counter = counters.get(metric) ?? meter.createCounter(toMeterName(metric), { description: metric.help })
      counters.set(metric, counter)
      counter.add(value, labels)
    },
    observe: (metric, labels, value) => {
      const options = { description: metric.help, unit: 's' }
      const histogram = histograms.get(metric) ?? meter.createHistogram(toMeterName(metric), options)
      histograms.set(metric, histogram)
      histogram.record(value, labels)
    },
    watch: (metric, read) =>
      meter
        .createObservableGauge(toMeterName(metric), { description: metric.help })
        .addCallback((result) => result.observe(read())),
  }
  return measureSessions(sink, nowMs)
}

/** OpenTelemetry names use dots and leave the unit out. */
function toMeterName({ name }: MetricSpec): string {
  return name.replace(/^baton_/, 'baton.').replace(/_seconds$/, '')
}
