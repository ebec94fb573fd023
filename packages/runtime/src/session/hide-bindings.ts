// Facts as readers are told them: what binds an approval to its arguments stays inside.
import type { Fact } from '@baton/core/machine'

export function hideBindings(fact: Fact): Fact {
  switch (fact.type) {
    case 'step-finished':
      return fact.calls.length === 0 ? fact : { ...fact, calls: fact.calls.map(hideBinding) }
    case 'approval-requested':
      return { ...fact, argumentsHash: '' }
    case 'approval-decided':
      return fact.edited ? { ...fact, edited: hideBinding(fact.edited) } : fact
    default:
      return fact
  }
}

function hideBinding<Bound extends { readonly argumentsHash: string; readonly tokenHash?: string }>(
  bound: Bound,
): Bound {
  const { tokenHash: _, ...rest } = bound
  return { ...rest, argumentsHash: '' } as Bound // the hash is hidden, the rest stands
}
