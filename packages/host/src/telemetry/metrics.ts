// The exports of @baton/host/metrics: the numbers of a host as Prometheus reads them, without a library.
import type { SessionObserver } from '../observer.ts'
import { measureSessions } from './measure-sessions.ts'
import { PrometheusSink } from './prometheus.ts'

export interface Metrics extends SessionObserver {
  /** All numbers since the process began, in Prometheus' text format 0.0.4. */
  prometheus(): string
}

export interface MetricsOptions {
  /** Milliseconds since any moment, at the pace of a second a second; `performance.now` by default. */
  readonly nowMs?: () => number
}

/**
 * Counts what every session of a host does: `createHost({ observers: [metrics] })`. A metric has at most 500 different labels;
 * what comes after that counts under `other`.
 */
export function createMetrics({ nowMs = () => performance.now() }: MetricsOptions = {}): Metrics {
  const sink = new PrometheusSink()
  return { ...measureSessions(sink, nowMs), prometheus: () => sink.write() }
}
