// The exports of @baton/host/metrics: a host's metrics for Prometheus, without a library.
import type { SessionObserver } from '../observer.ts'
import { measureSessions } from './measure-sessions.ts'
import { PrometheusSink } from './prometheus.ts'

/** Metrics of a host, from `createMetrics`: `createHost({ observers: [metrics] })`. */
export interface Metrics extends SessionObserver {
  /** All metrics since the process started, in Prometheus' text format 0.0.4. */
  prometheus(): string
}

interface MetricsOptions {
  /** Monotonic clock in milliseconds. Default: `performance.now`. */
  readonly nowMs?: () => number
}

/**
 * Measures every session of a host: `createHost({ observers: [metrics] })`. A metric has at most 500 distinct label
 * sets; later ones count under `other`.
 */
export function createMetrics({ nowMs = () => performance.now() }: MetricsOptions = {}): Metrics {
  const sink = new PrometheusSink()
  return { ...measureSessions(sink, nowMs), prometheus: () => sink.write() }
}
