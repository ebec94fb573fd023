// Metrics by name and labels, written in Prometheus' exposition format 0.0.4. It does not know sessions.

export type Labels = Readonly<Record<string, string>>

export interface MetricSpec {
  /** Prometheus metric name, including its unit. Counters get the suffix `_total` when written. */
  readonly name: string
  readonly type: 'counter' | 'histogram' | 'gauge'
  readonly help: string
}

/** Receives measurements. */
export interface MetricSink {
  /** Adds to a counter. */
  add(metric: MetricSpec, labels: Labels, value: number): void
  /** Adds a value to a histogram. */
  observe(metric: MetricSpec, labels: Labels, value: number): void
  /** Registers a gauge, read each time the metrics are. */
  watch(metric: MetricSpec, read: () => number): void
}

/** Upper bounds of histogram buckets, in seconds. */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
/**
 * Distinct label sets per metric; later ones count under `other`. The names of models and tools are not under our
 * control.
 */
const LABELS_MAX = 500

interface Series {
  readonly labels: Labels
  sum: number
  count: number
  readonly buckets: number[]
}

export class PrometheusSink implements MetricSink {
  readonly #series = new Map<MetricSpec, Map<string, Series>>()
  readonly #gauges = new Map<MetricSpec, () => number>()

  add(metric: MetricSpec, labels: Labels, value: number): void {
    this.#find(metric, labels).sum += value
  }

  observe(metric: MetricSpec, labels: Labels, value: number): void {
    const series = this.#find(metric, labels)
    series.sum += value
    series.count += 1
    for (const [index, bound] of BUCKETS.entries())
      if (value <= bound) series.buckets[index] = (series.buckets[index] ?? 0) + 1
  }

  watch(metric: MetricSpec, read: () => number): void {
    this.#gauges.set(metric, read)
  }

  write(): string {
    const lines: string[] = []
    for (const [metric, read] of this.#gauges) lines.push(...writeHead(metric, metric.name), `${metric.name} ${read()}`)
    for (const [metric, all] of this.#series) {
      const name = metric.type === 'counter' ? `${metric.name}_total` : metric.name
      lines.push(...writeHead(metric, name))
      for (const series of all.values()) lines.push(...writeSeries(name, metric, series))
    }
    return lines.map((line) => `${line}\n`).join('')
  }

  #find(metric: MetricSpec, labels: Labels): Series {
    const all = this.#series.get(metric) ?? new Map<string, Series>()
    this.#series.set(metric, all)
    const key = JSON.stringify(Object.values(labels))
    const known = all.get(key)
    if (known) return known
    const isFull = all.size >= LABELS_MAX
    const kept = isFull ? Object.fromEntries(Object.keys(labels).map((name) => [name, 'other'])) : labels
    const keptKey = isFull ? 'other' : key
    const series = all.get(keptKey) ?? { labels: kept, sum: 0, count: 0, buckets: BUCKETS.map(() => 0) }
    all.set(keptKey, series)
    return series
  }
}

function writeHead({ help, type }: MetricSpec, name: string): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

function writeSeries(name: string, { type }: MetricSpec, { labels, sum, count, buckets }: Series): readonly string[] {
  if (type !== 'histogram') return [`${name}${writeLabels(labels)} ${sum}`]
  return [
    ...BUCKETS.map(
      (bound, index) => `${name}_bucket${writeLabels({ ...labels, le: String(bound) })} ${buckets[index]}`,
    ),
    `${name}_bucket${writeLabels({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${writeLabels(labels)} ${sum}`,
    `${name}_count${writeLabels(labels)} ${count}`,
  ]
}

function writeLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}
