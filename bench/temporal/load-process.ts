// Messages between the processes of the load test.

/** Addresses of the services. */
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
  /** Index of its first session among the sessions of all gateways, so that they speak one after another. */
  readonly offset: number
  readonly of: number
}

export interface GatewayReport {
  /** Milliseconds from the input to the first piece of the answer, for each turn. */
  readonly firstMs: readonly number[]
  /** Milliseconds to the end of the turn. */
  readonly wholeMs: readonly number[]
  readonly errors: readonly string[]
  readonly tookMs: number
}

/** The process's only argument, as JSON. */
export function readWord<Value>(): Value {
  return JSON.parse(process.argv[2] ?? '{}') as Value // passed by the parent process
}
