// Why a mutant of the session machine may survive: found by its file and by what it changes.

export interface MutationReason {
  readonly file: string
  /** Part of the code that the mutant replaces. */
  readonly from: string
  /** Part of what it puts there; absent: whatever it is. */
  readonly to?: string
  readonly reason: string
}

export const MUTATION_REASONS: readonly MutationReason[] = [{ file: '', from: '', reason: '' }]
