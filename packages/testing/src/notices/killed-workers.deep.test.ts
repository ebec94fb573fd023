// Notices of workers as processes, over real services: one is killed between the record and the outbox, one while it sends,
// and two share the sessions.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalHost } from '@baton/temporal'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { startServices } from '../components/services.ts'
import type { StartedCommand } from '../components/start-command.ts'
import { startCommand } from '../components/start-command.ts'
import { untilSo } from './temporal-telling.test-kit.ts'

const services = await startServices('notices of workers that are killed', (message) => console.warn(message))
afterAll(() => services?.close())

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

interface Told {
  readonly id: string
  readonly session: string
  readonly turn: number
}

/** Checks all webhooks with the official library. `answer` takes one by default. */
async function receive(answer = (response: ServerResponse): void => void response.writeHead(200).end()) {
  const taken: Told[] = []
  const receiver = { taken, answer, origin: '' }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => void pieces.push(piece))
    request.on('end', () => {
      const headers = request.headers as Record<string, string>
      const { data } = new Webhook(SECRET).verify(Buffer.concat(pieces).toString(), headers) as {
        data: Omit<Told, 'id'>
      }
      taken.push({ id: headers['webhook-id'] ?? '', session: data.session, turn: data.turn })
      receiver.answer(response)
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  receiver.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return receiver
}

/** A gateway in this process, and workers that are started with a moment of their death. */
async function createPlace(origin: string) {
  if (!services) throw new Error('there are no services')
  const url = services.postgres.createDatabase()
  const taskQueue = `telling-${randomUUID()}`
  const store = await openPostgresStore(url)
  const { address } = services.temporal
  const redis = services.redis.url
  const agent = defineAgent({ name: 'telling', model: createScriptedModel({ steps: [] }) }) // the workers' model answers
  const host = await createTemporalHost({ address, taskQueue, logStore: store, redis, agent })
  const workers: StartedCommand[] = []
  const startWorker = async (dies = 'never'): Promise<StartedCommand> => {
    const program = join(import.meta.dirname, 'telling-worker.test-kit.ts')
    const words = ['--conditions=@baton/source', program, address, taskQueue, url, redis, origin, SECRET, dies]
    const worker = startCommand(process.execPath, { words })
    workers.push(worker)
    await worker.untilLine((line) => line === 'working')
    return worker
  }
  onTestFinished(async () => {
    await host.stop()
    for (const worker of workers) worker.kill('SIGKILL')
    await Promise.all(workers.map(({ ended }) => ended))
    await store.close()
  })
  const say = async (id: string, turn: number): Promise<void> => {
    const session = await host.session(id)
    await session.send(`Turn ${turn}.`, { inputId: `turn-${turn}` }).answer
    await session.close()
  }
  return { startWorker, say, session: `s-${randomUUID()}` }
}

const turnsOf = (taken: readonly Told[], session: string): readonly number[] =>
  taken.flatMap((one) => (one.session === session ? [one.turn] : []))

describe.skipIf(!services)('workers over Temporal, PostgreSQL and Redis', () => {
  test('a worker that is killed between the record and the outbox loses no notice', async () => {
    const { taken, origin } = await receive()
    const { startWorker, say, session } = await createPlace(origin)
    const dying = await startWorker('put')
    const said = say(session, 1)
    expect((await dying.ended).signal).toBe('SIGKILL')
    expect(taken).toEqual([])
    await startWorker()
    await said
    await untilSo(() => taken.length > 0)
    await say(session, 2)
    await untilSo(() => taken.length > 1)
    expect(turnsOf(taken, session)).toEqual([1, 2])
  })

  test('what a worker that is killed was sending is sent by another one, with the same id', async () => {
    const receiver = await receive(() => {}) // it hangs
    const { taken, origin } = receiver
    const { startWorker, say, session } = await createPlace(origin)
    const dying = await startWorker()
    await say(session, 1)
    await untilSo(() => taken.length > 0)
    dying.kill('SIGKILL')
    await dying.ended
    receiver.answer = (response) => void response.writeHead(204).end()
    const before = taken.length
    await startWorker()
    // The claim of the dead worker ends, and the next look finds the session.
    await untilSo(() => taken.length > before)
    await say(session, 2)
    await untilSo(() => turnsOf(taken, session).includes(2))
    expect(new Set(taken.map(({ id }) => id)).size).toBe(2)
    expect([...new Set(turnsOf(taken, session))]).toEqual([1, 2])
  })

  test('of two workers one sends each notice, and goes on without the other', async () => {
    const { taken, origin } = await receive()
    const { startWorker, say, session } = await createPlace(origin)
    const [first] = [await startWorker(), await startWorker()]
    const sessions = Array.from({ length: 6 }, (_, index) => `${session}-${index}`)
    const sayAll = async (turn: number): Promise<void> => {
      await Promise.all(sessions.map(async (one) => await say(one, turn)))
    }
    for (const turn of [1, 2, 3]) await sayAll(turn)
    await untilSo(() => taken.length >= 18)
    for (const one of sessions) expect(turnsOf(taken, one)).toEqual([1, 2, 3])
    first?.kill('SIGKILL')
    for (const turn of [4, 5]) await sayAll(turn)
    await untilSo(() => new Set(taken.map(({ id }) => id)).size === 30)
    for (const one of sessions) expect([...new Set(turnsOf(taken, one))]).toEqual([1, 2, 3, 4, 5])
  })
})
