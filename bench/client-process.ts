// The process of one measured client: runs the batches that it is told to and says what they cost. CPU is that of the whole
// process: garbage collection, compilation and worker threads with it.
import type { Client, OpenClient, Ran } from './clients/client.ts'

export type Order =
  | { readonly type: 'run'; readonly turns: number; readonly atOnce: number }
  /** Frees what is not used, so that a measurement begins from the same place. */
  | { readonly type: 'collect' }
  /** So many apps connect and stay. */
  | { readonly type: 'connect'; readonly connections: number }

export interface Batch extends Ran {
  readonly cpuMs: number
  readonly wallMs: number
}

export interface Memory {
  readonly heapBytes: number
  readonly residentBytes: number
}

const [, , module = '', base = '', wire = ''] = process.argv
process.on('disconnect', () => process.exit(0))
serve().catch(fail)

async function serve(): Promise<void> {
  const { open } = (await import(module)) as { readonly open: OpenClient } // a module of clients/
  const client = await open({ base, wire })
  process.on('message', (order: Order) => {
    obey(client, order).then((answer) => process.send?.(answer), fail)
  })
  process.send?.({})
}

function fail(cause: unknown): void {
  process.send?.({ error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) })
}

async function obey(client: Client, order: Order): Promise<Batch | Memory> {
  if (order.type === 'run') return runBatch(client, order.turns, order.atOnce)
  if (order.type === 'connect') await client.connect?.(order.connections)
  return memoryInUse()
}

async function runBatch(client: Client, turns: number, atOnce: number): Promise<Batch> {
  const startMs = performance.now()
  const start = process.cpuUsage()
  const ran = await client.run(turns, atOnce)
  const { user, system } = process.cpuUsage(start)
  return { ...ran, cpuMs: (user + system) / 1000, wallMs: performance.now() - startMs }
}

/** Twice: what the first collection gives up with finalizers, the second one frees. */
async function memoryInUse(): Promise<Memory> {
  for (let pass = 0; pass < 2; pass++) {
    globalThis.gc?.()
    await new Promise((resolve) => void setTimeout(resolve, 100))
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heapBytes: heapUsed + external, residentBytes: rss }
}
