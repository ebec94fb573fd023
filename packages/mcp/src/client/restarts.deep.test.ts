// Hundreds of restarts of a server that dies in every call: what the process holds does not grow. `BATON_TEST_ALL=1`: a thousand.
import { readdirSync } from 'node:fs'
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

function countHeld(): Held {
  const names = ['exit', 'uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGINT', 'warning']
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    resources: process.getActiveResourcesInfo().length,
    listeners: names.reduce((sum, name) => sum + process.listenerCount(name), 0),
  }
}

test(
  `${RESTARTS} restarts leave no descriptor, listener or timer behind, and every call settles`,
  { timeout: 300_000 },
  async () => {
    const heaps: number[] = []
    let before: Held | undefined
    for (let restart = 1; restart <= RESTARTS; restart += 1) {
      const { calls } = await callTools(servers, [['echo', { text: 'a' }]], { id: `s${restart}` })
      expect(calls).toEqual([expect.stringMatching(/^echo error api_unavailable/) as string])
      pass(60_000)
      if (restart === 60) before = countHeld()
      if (restart % 60 === 0) {
        globalThis.gc?.()
        heaps.push(process.memoryUsage().heapUsed / 1024 / 1024)
      }
    }
    const after = countHeld()
    const grown = (['descriptors', 'resources', 'listeners'] as const).filter(
      (name) => after[name] > (before?.[name] ?? 0) + SLACK,
    )
    expect(grown).toEqual([])
    console.info(
      `mcp: ${RESTARTS} restarts; heap in MiB after each sixty: ${heaps.map((heap) => heap.toFixed(1)).join(', ')}; ${JSON.stringify(after)}`,
    )
    expect(servers.status()).toMatchObject([{ starts: expect.any(Number) as number }])
  },
)
