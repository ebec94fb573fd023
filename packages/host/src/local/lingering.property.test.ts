// Two hosts over one store, in any order of messages, pauses, kills, stops and failures of the store: each accepted
// message is in the log once, and no host waits for a session that only lingers in the other.
import type { Store } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import { createRandom } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createProcess, createSharedStore, LEASE_MS, noUnhandledRejections, SESSION } from './test-world.test-kit.ts'

noUnhandledRejections()

const SEEDS = 150
const STEPS = 25

test('two hosts continue the chats that linger in each other, in whatever order', async () => {
  for (let seed = 0; seed < SEEDS; seed++)
    await playWorld(seed).catch((cause: unknown) => Promise.reject(new Error(`seed ${seed}`, { cause })))
})

async function playWorld(seed: number): Promise<void> {
  const random = createRandom(seed)
  const { time, store } = createSharedStore()
  let failing = 0
  const perhaps = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (random.chance(failing)) throw new Error('the store is away')
    return await work()
  }
  const faulty: Store = {
    ...store,
    rest: (...given) => perhaps(async () => await store.rest?.(...given)),
    resume: (...given) => perhaps(async () => (await store.resume?.(...given)) ?? false),
  }
  const start = () => createProcess(time, faulty, { steps: () => ({ text: 'answer' }), host: { snapshotRecords: 16 } })
  const hosts = [start(), start()]
  const accepted: string[] = []
  const refused: string[] = []
  let count = 0
  const say = async (host: number): Promise<string> => {
    const text = `m${(count += 1)};`
    try {
      const session = await hosts[host]!.host.session(SESSION)
      try {
        await time.until(session.send(text).answer)
        accepted.push(text)
        return 'answer'
      } finally {
        await session.close()
        await time.settle()
      }
    } catch (cause) {
      return isBatonError(cause) ? cause.code : String(cause)
    }
  }
  const replace = async (host: number, isKilled: boolean): Promise<void> => {
    if (isKilled) hosts[host]!.die()
    else await time.until(hosts[host]!.host.stop())
    hosts[host] = start()
  }
  for (let step = 0; step < STEPS; step++) {
    const host = random.below(2)
    const kind = random.below(10)
    failing = random.chance(0.2) ? 0.5 : 0
    if (kind < 6) {
      const outcome = await say(host)
      if (outcome !== 'answer' && !(failing > 0 && outcome === 'store_failed')) refused.push(outcome)
    } else if (kind < 8) await time.pass(random.below(100_000))
    else await replace(host, kind === 8)
    // A session that `rest` could not let go was released, or its host was killed before that.
    if (failing > 0 && kind === 8) await time.pass(LEASE_MS)
  }
  failing = 0
  await time.pass(LEASE_MS)
  expect([refused, await say(0)]).toEqual([[], 'answer'])
  const records = await hosts[0]!.records()
  const said = records.flatMap(({ facts }) => facts.filter(({ type }) => type === 'input-accepted'))
  const texts = said.flatMap((fact) => JSON.stringify(fact).match(/m\d+;/) ?? [])
  expect(texts.filter((text) => accepted.includes(text))).toEqual(accepted)
  expect(records.map(({ pos }) => pos)).toEqual(records.map((_, index) => index))
  expect(records.filter(({ input }) => input.type === 'host-restarted')).toEqual([])
}
