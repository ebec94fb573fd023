// What the processes of the load test say to each other.

/** Where the services are. */
export interface Place {
  readonly address: string
  readonly taskQueue: string
  readonly postgres: string
  readonly redis: string
}

export interface GatewayLoad extends Place {
  readonly kind: 'temporal' | 'local'
  readonly sessions: readonly string[]
  /** Measured turns of each session. */
  readonly turns: number
  /** Milliseconds between two turns of a session. */
  readonly paceMs: number
  /** Its first session's place among those of all gateways, so that they speak one after another. */
  readonly offset: number
  readonly of: number
}

export interface GatewayReport {
  /** Milliseconds from what was said to the first piece of the answer, of each turn. */
  readonly firstMs: readonly number[]
  /** To the end of the turn. */
  readonly wholeMs: readonly number[]
  readonly errors: readonly string[]
  readonly tookMs: number
}

/** The one argument of a process, as JSON. */
export function readWord<Value>(): Value {
  return JSON.parse(process.argv[2] ?? '{}') as Value // by whoever started it
}
