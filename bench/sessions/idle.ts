// Measures the server memory used by an idle connected app, compared with a bare `ws` connection.
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'
import { startClient } from '../processes.ts'
import type { ClientName } from '../scenarios.ts'

const CONNECTIONS = 2000
/** Connected before the first measurement: one-time costs of a server do not count for its connections. */
const FIRST = 100
const PASSES = 3
const KIB = 1024

export async function measureIdle(origin: string): Promise<readonly Measured[]> {
  const values = new Map<string, number[]>()
  for (let pass = 0; pass < PASSES; pass++)
    for (const name of ['relay', 'baton-websocket'] as const)
      for (const hasTalked of [false, true]) {
        const label = `${name}${hasTalked ? ', after a turn' : ''}`
        values.set(label, [...(values.get(label) ?? []), await toKib(name, `${origin}/text-50-b`, hasTalked)])
      }
  return compared(values, 'relay')
}

/**
 * Memory of the JavaScript heap and its external allocations, in KiB per connection: the kernel's buffers are the same
 * for all.
 */
async function toKib(name: ClientName, base: string, hasTalked: boolean): Promise<number> {
  const server = await startClient(name, base)
  try {
    const turns = (count: number): number => (hasTalked ? count : 0)
    await server.run(turns(FIRST), FIRST)
    const before = await server.connect(FIRST)
    await server.run(turns(CONNECTIONS), CONNECTIONS)
    const after = await server.connect(CONNECTIONS)
    return (after.heapBytes - before.heapBytes) / (CONNECTIONS - FIRST) / KIB
  } finally {
    server.stop()
  }
}
