// The failure of an invariant.
export class InvariantError extends Error {
  readonly invariant: string
  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`)
    this.name = 'InvariantError'
    this.invariant = invariant
  }
}

export function fail(invariant: string, message: string): never {
  throw new InvariantError(invariant, message)
}
