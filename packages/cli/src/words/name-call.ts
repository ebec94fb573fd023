// The name of a call as a person reads it: that of an agent below begins with the names of the agents that lead to it.

export interface NamedCall {
  readonly name: string
  readonly path?: readonly { readonly agent: string }[]
}

export function nameCall({ name, path = [] }: NamedCall): string {
  return [...path.map(({ agent }) => agent), name].join(' › ')
}
