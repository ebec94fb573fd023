// The outcome of a soak.
import type { Metrics } from '@baton/host/metrics'
import type { Said } from './converse.ts'
import { createSaid } from './converse.ts'
import type { Holdings } from './holdings.ts'
import type { ReadBook } from './soak-model.ts'

export interface Soaked {
  readonly samples: readonly Holdings[]
  readonly book: ReadBook
  readonly said: Said
}

export function sumSaid(all: readonly Said[]): Said {
  const sum = createSaid()
  for (const said of all) for (const key of Object.keys(sum) as (keyof Said)[]) sum[key] += said[key]
  return sum
}

/** Reports conversations with an input that no model call contained. They are at rest. */
export function checkRead(book: ReadBook, said: readonly Said[]): void {
  for (const [slot, { taken }] of said.entries())
    if (book.newest(slot) !== taken) book.report(`conversation ${slot}: ${taken} taken, ${book.newest(slot)} read`)
}

/** Counts what a host holds open. */
export function countOpen({ prometheus }: Pick<Metrics, 'prometheus'>, timers: number): Holdings {
  const text = prometheus()
  return {
    'timers of the host': timers,
    'open sessions': readMetric(text, 'baton_open_sessions'),
    'open calls': readMetric(text, 'baton_open_calls'),
  }
}

/** The value of an unlabelled metric in Prometheus text. */
function readMetric(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? 0)
}
