// A row of the error code table.

/**
 * The party at fault: the code that calls Baton, the other end of a wire, a model or its provider, a service that a
 * tool calls, or Baton itself.
 */
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
