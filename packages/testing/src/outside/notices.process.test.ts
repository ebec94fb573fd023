// Notices of 20 sessions, while the host is killed and the receiver fails, hangs and redirects: none is lost, each has
// one id, and each session's come in order.
import { createRandom } from '@baton/core/testing'
import { openSqliteStore } from '@baton/host'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test } from 'vitest'
import { chooseCount } from '../components/depth.ts'
import type { KilledProcess } from './killed-process.test-kit.ts'
import { startProcess } from './killed-process.test-kit.ts'
import type { TellCommand } from './telling-host.test-kit.ts'

const SESSIONS = 20
const TURNS = chooseCount({ quick: 6, landing: 30, deep: 30 })
const KILL_EVERY = chooseCount({ quick: 40, landing: 65, deep: 65 })
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

interface Told {
  readonly id: string
  readonly session: string
  readonly turn: number
}

const folder = mkdtempSync(join(tmpdir(), 'baton-notices-'))
const path = join(folder, 'store.sqlite')
let host: KilledProcess<TellCommand> | undefined
let receiver: Server | undefined
afterEach(() => {
  host?.kill()
  receiver?.close()
  receiver?.closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
})

/** Takes three of four webhooks, and checks all of them with the official library. */
async function receive() {
  const random = createRandom(11)
  const taken: Told[] = []
  const refused = { failed: 0, hung: 0, redirected: 0 }
  const answer = (response: ServerResponse, told: Told): void => {
    if (random.chance(0.03)) {
      refused.hung += 1
      return
    }
    if (random.chance(0.08)) {
      refused.redirected += 1
      response.writeHead(302, { location: '/elsewhere' }).end()
    } else if (random.chance(0.15)) {
      refused.failed += 1
      response.writeHead(random.pick([500, 404, 429, 503]), { 'retry-after': '0' }).end()
    } else {
      taken.push(told)
      // Taken, but the sender does not learn it.
      if (random.chance(0.05)) response.destroy()
      else response.writeHead(200).end()
    }
  }
  receiver = createServer((request, response) => {
    expect(request.url).toBe('/hook')
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => void pieces.push(piece))
    request.on('end', () => {
      const headers = request.headers as Record<string, string>
      const { data } = new Webhook(SECRET).verify(Buffer.concat(pieces).toString(), headers) as {
        data: Omit<Told, 'id'>
      }
      answer(response, { id: headers['webhook-id'] ?? '', session: data.session, turn: data.turn })
    })
  })
  await new Promise<void>((resolve) => void receiver?.listen(0, '127.0.0.1', resolve))
  return { taken, refused, origin: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}` }
}

test('notices through kills, failures, hangs and redirects are each told, in order, with one id', async () => {
  const { taken, refused, origin } = await receive()
  const start = (): Promise<KilledProcess<TellCommand>> =>
    startProcess<TellCommand>('telling-host.test-kit.ts', [path, origin, SECRET])
  let kills = 0
  let done = 0
  let restarting: Promise<void> | undefined
  const restart = async (): Promise<void> => {
    const dying = host
    host = undefined
    dying?.kill()
    await dying?.ended
    host = await start()
  }
  host = await start()
  // Each session has its turns in sequence, and repeats a turn whose host was killed, under its id.
  const work = async (session: string): Promise<void> => {
    for (let turn = 0; turn < TURNS; turn++) {
      while ((await host?.ask({ act: 'turn', session, id: `t-${turn}` })) === undefined) {
        await restarting
        await new Promise((resolve) => void setTimeout(resolve, 20))
      }
      done += 1
      if (done % KILL_EVERY !== 0) continue
      kills += 1
      restarting ??= restart().finally(() => (restarting = undefined))
      await restarting
    }
  }
  await Promise.all(Array.from({ length: SESSIONS }, (_, index) => work(`s-${index}`)))
  await restarting
  await expect.poll(async () => await host?.ask({ act: 'left' }), { interval: 200, timeout: 600_000 }).toBe(0)
  await host?.ask({ act: 'stop' })
  await host?.ended

  const expected = await readTurns()
  const firsts = [...new Map(taken.toReversed().map((told) => [`${told.session} ${told.turn}`, told])).values()]
  console.log(
    `${expected.size} sessions told ${firsts.length} turns in ${taken.length} deliveries through ${kills} kills; refused ${JSON.stringify(refused)}`,
  )
  for (const [session, turns] of expected) {
    const told = taken.filter((one) => one.session === session)
    // The first time that each came, in the order in which they came.
    expect([...new Set(told.map(({ turn }) => turn))]).toEqual(turns)
    expect(turns).toHaveLength(TURNS)
    // After the next one, none is repeated.
    expect(told.map(({ turn }) => turn)).toEqual(told.map(({ turn }) => turn).toSorted((one, other) => one - other))
  }
  expect(firsts).toHaveLength(SESSIONS * TURNS)
  expect(new Set(taken.map(({ id }) => id)).size).toBe(SESSIONS * TURNS)
  expect(kills).toBe(Math.floor((SESSIONS * TURNS) / KILL_EVERY))
  for (const count of Object.values(refused)) expect(count).toBeGreaterThan(0)
}, 600_000)

/** The finished turns of each session, in its log. */
async function readTurns(): Promise<ReadonlyMap<string, readonly number[]>> {
  const store = await openSqliteStore(path, { readOnly: true })
  const turns = new Map<string, number[]>()
  for await (const { session } of store.list())
    for await (const { facts } of store.read(session, 0))
      for (const fact of facts)
        if (fact.type === 'turn-finished') turns.set(session, [...(turns.get(session) ?? []), fact.turn])
  await store.close()
  return turns
}
