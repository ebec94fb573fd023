// What the table of error codes says of each one.

/** Whose fault an error is: of the code that calls Baton, of the other end of a wire, of a model or its provider, of a
 * service that a tool asks, or ours. */
export type Fault = 'caller' | 'peer' | 'provider' | 'service' | 'baton'

export interface ErrorCodeRow {
  readonly fault: Fault
  readonly retryable: boolean
  readonly meaning: string
  readonly solve: string
}

export const row = (fault: Fault, retryable: boolean, meaning: string, solve: string): ErrorCodeRow => ({
  fault,
  retryable,
  meaning,
  solve,
})
