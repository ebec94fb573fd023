// The process of one measured client: runs the requested batches and reports their cost. CPU time covers the whole
// process, including garbage collection, compilation and worker threads.
import type { Client, OpenClient, Ran } from './clients/client.ts'

export type Order =
  | { readonly type: 'run'; readonly turns: number; readonly atOnce: number }
  /** Frees unused memory, so that measurements begin from the same state. */
  | { readonly type: 'collect' }
  /** Connects this many apps and keeps them connected. */
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

/** Collects twice: the second pass frees what the first one only released for finalization. */
async function memoryInUse(): Promise<Memory> {
  for (let pass = 0; pass < 2; pass++) {
    globalThis.gc?.()
    await new Promise((resolve) => void setTimeout(resolve, 100))
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heapBytes: heapUsed + external, residentBytes: rss }
}
