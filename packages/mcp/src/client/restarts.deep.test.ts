// Hundreds of restarts of a server that dies in every call: what the process holds does not grow. `BATON_TEST_ALL=1`: a thousand.
import { readdirSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, test } from 'vitest'
import { callTools, createWaitingServers, describeOddServer } from './mcp-session.test-kit.ts'

const RESTARTS = process.env['BATON_TEST_ALL'] === '1' ? 1_000 : 120
const { servers, pass } = createWaitingServers({ odd: describeOddServer('dies') })
afterAll(() => servers.close())

interface Held {
  readonly descriptors: number
  readonly resources: number
  readonly listeners: number
}

/** Two live processes may differ by one that is going away. */
const SLACK = 8
/** Kibibytes of heap that a restart may leave behind: far less than a connection with its session. */
const LEAK_KIB = 10
/** Mebibytes by which a heap differs after two collections of the same program. */
const HEAP_SLACK_MIB = 2

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void // V8's own, by the flag

/** Mebibytes. What was freed last may hold finalizers that free more. */
async function measureHeap(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => void setImmediate(resolve))
    collect()
  }
  return process.memoryUsage().heapUsed / 1024 / 1024
}

function countHeld(): Held {
  const names = ['exit', 'uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGINT', 'warning']
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    resources: process.getActiveResourcesInfo().length,
    listeners: names.reduce((sum, name) => sum + process.listenerCount(name), 0),
  }
}

test(
  `${RESTARTS} restarts leave no descriptor, listener, timer or memory behind, and every call settles`,
  { timeout: 300_000 },
  async () => {
    const heaps: number[] = []
    let before: Held | undefined
    for (let restart = 1; restart <= RESTARTS; restart += 1) {
      const { calls } = await callTools(servers, [['echo', { text: 'a' }]], { id: `s${restart}` })
      expect(calls).toEqual([expect.stringMatching(/^echo error api_unavailable/) as string])
      pass(60_000)
      if (restart === 60) before = countHeld()
      if (restart % 30 === 0) heaps.push(await measureHeap())
    }
    const after = countHeld()
    const grown = (['descriptors', 'resources', 'listeners'] as const).filter(
      (name) => after[name] > (before?.[name] ?? 0) + SLACK,
    )
    expect(grown).toEqual([])
    const heapGrowth = (heaps.at(-1) ?? 0) - (heaps[0] ?? 0)
    expect(heapGrowth).toBeLessThan(HEAP_SLACK_MIB + ((RESTARTS - 30) * LEAK_KIB) / 1024)
    console.info(
      `mcp: ${RESTARTS} restarts; heap in MiB after each thirty: ${heaps.map((heap) => heap.toFixed(1)).join(', ')}; ${JSON.stringify(after)}`,
    )
    expect(servers.status()).toMatchObject([{ starts: expect.any(Number) as number }])
  },
)
