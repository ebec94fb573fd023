// Other failures around a session over Temporal: gateways, one of several workers, and the services themselves.
import type { EventBatch } from '@baton/core/internal'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import type { Services } from '../components/services.ts'
import { startServices } from '../components/services.ts'
import type { StartedCommand } from '../components/start-command.ts'
import { PLAIN, TALK, TALK_WORDS } from './chaos-agent.ts'
import type { Checked } from './conversation.test-kit.ts'
import { checkConversation, converse, readTwice } from './conversation.test-kit.ts'
import type { Place } from './place.test-kit.ts'
import { createPlace } from './place.test-kit.ts'

const what = 'sessions over Temporal whose gateways and services are killed'
const services = await startServices(what, (message) => console.warn(message))
afterAll(() => services?.close())

async function withPlace(play: (place: Place, services: Services) => Promise<void>): Promise<void> {
  if (!services) throw new Error('there are no services')
  const place = await createPlace(services)
  try {
    await play(place, services)
  } finally {
    await place.close()
  }
}

async function endWorker(worker: StartedCommand, signal: NodeJS.Signals): Promise<void> {
  worker.kill(signal)
  await worker.ended
}

/** Maximum number of strikes per conversation, and events between two of them. */
const STRIKES_MAX = 2
const EVENTS_BETWEEN = 40

/** Plays a conversation, and calls `strike` after each EVENTS_BETWEEN further events. */
async function playStruck(place: Place, strike: () => Promise<void>): Promise<Checked & Struck> {
  const talk = converse(place.host, place.session)
  let isOver = false
  talk.finally(() => (isOver = true)).catch(() => {})
  let strikes = 0
  for (let at = EVENTS_BETWEEN; !isOver && strikes < STRIKES_MAX; at += EVENTS_BETWEEN) {
    while (!isOver && (await place.countEvents()) < at) await wait(5)
    if (isOver) break
    await strike()
    strikes += 1
  }
  const held = await talk
  const checked = checkConversation(await place.readRecords(), place.effects, held)
  const session = await place.host.session(place.session)
  await readTwice(session)
  await session.close()
  return { ...checked, strikes }
}

interface Struck {
  readonly strikes: number
}

function print(what: string, { strikes, turns, calls, unknown }: Checked & Struck): void {
  console.log(`outages: ${what}: ${strikes} times, ${turns} turns, ${calls} calls, ${unknown} unknown`)
  expect(strikes).toBeGreaterThan(0)
}

describe.skipIf(!services)('a session over Temporal', () => {
  test('goes on at another gateway when its gateway is killed in mid-stream', async () => {
    await withPlace(async (place) => {
      const worker = await place.startWorker()
      const first = place.startGateway(TALK, 'input-0')
      await first.untilLine((line) => line.includes('word10 '))
      await endWorker(first, 'SIGKILL')
      const read = readBatches(first)
      const session = await place.host.session(place.session)
      const next = read.at(-1)?.next
      const second: EventBatch[] = []
      const stream = session.events(next ? { from: next } : {})
      while (!second.some(({ events }) => events.some(({ type }) => type === 'turn-finished'))) {
        const batch = await stream.nextBatch()
        if (batch) second.push(batch)
      }
      stream.leave()
      const whole = Array.from({ length: TALK_WORDS }, (_, index) => `word${index + 1} `).join('')
      const texts = [...read, ...second].map(readText)
      expect(texts.join('')).toBe(whole)
      expect((await session.turn('input-0').answer).text).toBe(whole)
      expect((await place.readRecords()).flatMap(({ facts }) => facts).filter(isAccepted)).toHaveLength(1)
      const pieces = texts.filter((text) => text !== '').length
      console.log(`outages: gateway killed after ${readText(read.at(-1))}; ${pieces} pieces of text, none twice`)
      await endWorker(worker, 'SIGTERM')
    })
  })

  test('has two workers, one of which is killed again and again', async () => {
    await withPlace(async (place) => {
      const workers = [await place.startWorker(), await place.startWorker()]
      const struck = await playStruck(place, async () => {
        const [oldest] = workers.splice(0, 1)
        if (oldest) await endWorker(oldest, 'SIGKILL')
        workers.push(await place.startWorker())
      })
      print('one of two workers killed', struck)
      await Promise.all(workers.map((worker) => endWorker(worker, 'SIGTERM')))
    })
  })

  test.each([
    [
      'Temporal',
      async ({ temporal }: Services): Promise<void> => {
        await temporal.kill()
        await temporal.start()
      },
    ],
    [
      'Redis',
      async ({ redis }: Services): Promise<void> => {
        await redis.kill()
        await redis.start()
      },
    ],
    ['PostgreSQL', async ({ postgres }: Services) => await postgres.crash()],
  ])('lives through crashes of %s', async (name, crash) => {
    await withPlace(async (place, all) => {
      const worker = await place.startWorker()
      const struck = await playStruck(place, () => crash(all))
      print(`${name} crashed`, struck)
      await endWorker(worker, 'SIGTERM')
    })
  })

  test('takes a hundred inputs at once through three gateways, each once', async () => {
    await withPlace(async (place) => {
      const worker = await place.startWorker()
      const hosts = [place.host, await place.createHost(), await place.createHost()]
      const sessions = await Promise.all(hosts.map((host) => host.session(place.session)))
      // Every tenth is sent twice, through two gateways.
      const turns = Array.from({ length: 110 }, (_, index) => {
        const inputId = `input-${index < 100 ? index : (index - 100) * 10}`
        const session = sessions[index % sessions.length]
        return session ? [session.send(`${PLAIN} ${inputId}`, { inputId }).answer] : []
      })
      const answers = await Promise.all(turns.flat())
      expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['answered']))
      const facts = (await place.readRecords()).flatMap((record) => record.facts)
      expect(facts.filter(isAccepted)).toHaveLength(100)
      const updates = await place.countUpdates()
      const finished = facts.filter(({ type }) => type === 'turn-finished').length
      console.log(`outages: 110 inputs through three gateways: ${updates} Updates, ${finished} turns`)
      await endWorker(worker, 'SIGTERM')
    })
  })
})

function isAccepted({ type }: { readonly type: string }): boolean {
  return type === 'input-accepted'
}

function readBatches(gateway: StartedCommand): readonly EventBatch[] {
  const lines = gateway.output().split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as EventBatch) // written by the gateway
}

function readText(batch: EventBatch | undefined): string {
  return (batch?.events ?? []).map((event) => (event.type === 'text' ? event.text : '')).join('')
}
