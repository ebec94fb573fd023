// Hundreds of restarts of a server that dies in every call, and rounds of calls to servers that misbehave in other
// ways: the process's memory and handles do not grow. With `BATON_TEST_ALL=1`, a thousand restarts.
import { readdirSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { chooseRotating, describeRotation, isEveryPlaceTried } from '@baton/testing/depth'
import { afterEach, expect, test } from 'vitest'
import { callTools, createWaitingServers, describeOddServer, startOddServer } from './mcp-session.test-kit.ts'

const RESTARTS = isEveryPlaceTried() ? 1_000 : 120
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

interface Held {
  readonly descriptors: number
  readonly resources: number
  readonly listeners: number
}

/** Two processes may differ by a few that are still exiting. */
const SLACK = 8
/** Kibibytes of heap that a restart may leave behind, far less than a connection with its session. */
const LEAK_KIB = 10
/** Mebibytes of heap that vary between two collections of the same program. */
const HEAP_SLACK_MIB = 2

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void // exposed by the flag

/** Returns mebibytes. Collects several times, because freed objects may have finalizers that free more. */
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

function listGrown(before: Held, after: Held): readonly string[] {
  const names = ['descriptors', 'resources', 'listeners'] as const
  return names.filter((name) => after[name] > before[name] + SLACK)
}

test(`${RESTARTS} restarts leave no descriptor, listener, timer or memory behind, and every call settles`, async () => {
  const { servers, pass } = createWaitingServers({ odd: describeOddServer('dies') })
  ends.push(() => servers.close())
  const heaps: number[] = []
  let before: Held | undefined
  for (let restart = 1; restart <= RESTARTS; restart += 1) {
    const { calls } = await callTools(servers, [['echo', { text: 'a' }]], { id: `s${restart}` })
    expect(calls).toEqual([expect.stringMatching(/^echo unknown tool_result_unknown/) as string])
    pass(60_000)
    if (restart === 60) before = countHeld()
    if (restart % 30 === 0) heaps.push(await measureHeap())
  }
  const after = countHeld()
  expect(before && listGrown(before, after)).toEqual([])
  const heapGrowth = (heaps.at(-1) ?? 0) - (heaps[0] ?? 0)
  expect(heapGrowth).toBeLessThan(HEAP_SLACK_MIB + ((RESTARTS - 30) * LEAK_KIB) / 1024)
  console.info(
    `mcp: ${RESTARTS} restarts; heap in MiB after each thirty: ${heaps.map((heap) => heap.toFixed(1)).join(', ')}; ${JSON.stringify(after)}`,
  )
  expect(servers.status()).toMatchObject([{ starts: expect.any(Number) as number }])
})

const ROUNDS = isEveryPlaceTried() ? 60 : 16
/** Nothing new is loaded from this round on. */
const WARM = 6
/** Kibibytes of heap that a round may leave behind. */
const ROUND_LEAK_KIB = 64

const WAYS: readonly (readonly [mode: string, isHttp: boolean])[] = [
  ...['dies-late', 'hangs', 'huge', 'floods', 'lies', 'garbage'].map((mode) => [mode, false] as const),
  ...['hangs', 'huge', 'floods', 'lies'].map((mode) => [mode, true] as const),
]

console.info(`mcp: servers that misbehave for rounds of calls: ${describeRotation(2)}`)

test.each(chooseRotating(WAYS, 2))(
  'a server that %s, over HTTP: %s: rounds of calls leave nothing behind',
  async (mode, isHttp) => {
    const place = isHttp ? await startOddServer(mode) : undefined
    if (place) ends.push(place.stop)
    const config = {
      ...(place ? { url: place.url } : describeOddServer(mode)),
      timeoutMs: mode === 'hangs' ? 50 : 20_000,
    }
    const { servers, pass } = createWaitingServers({ odd: config }, { limits: { messageBytes: 1024 * 1024 } })
    ends.push(() => servers.close())
    let before: Held | undefined
    let heapBefore = 0
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { calls } = await callTools(servers, [['echo', { text: 'a' }]], { id: `s${round}` })
      expect(calls).toHaveLength(1)
      pass(60_000)
      if (round !== WARM) continue
      before = countHeld()
      heapBefore = await measureHeap()
    }
    expect(before && listGrown(before, countHeld())).toEqual([])
    const growth = (await measureHeap()) - heapBefore
    expect(growth).toBeLessThan(HEAP_SLACK_MIB + (ROUNDS * ROUND_LEAK_KIB) / 1024)
  },
)
