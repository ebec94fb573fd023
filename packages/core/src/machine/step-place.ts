// Places of steps in the history, and whether a rewind removes them. Tasks and children last longer than the steps of their calls.
import type { FactOf } from './fact.ts'

export interface StepPlace {
  readonly exchange: number
  /** The entry of the step; absent in a state of an older worker. */
  readonly entry?: number
}

export type Rewound = Pick<FactOf<'history-rewound'>, 'exchange' | 'index'>

interface OpenStep {
  readonly step: { readonly exchange: number } | null
  readonly counters: { readonly entry: number }
}

/** The place that the open step gets when it closes. */
export function nextPlace({ step, counters }: OpenStep): Required<StepPlace> {
  return { exchange: step?.exchange ?? 0, entry: counters.entry + 1 }
}

export function placeOf({ exchange, entry }: StepPlace): StepPlace {
  return { exchange, ...(entry !== undefined && { entry }) }
}

/** Whether a rewind removes a step: the index has what stays. */
export function isRemoved({ exchange, entry = Infinity }: StepPlace, rewound: Rewound): boolean {
  if (exchange !== rewound.exchange) return exchange > rewound.exchange
  return entry > (rewound.index.at(-1)?.entry ?? 0)
}
