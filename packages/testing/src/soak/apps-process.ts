// The apps of a soak in real time: one process with a version 2 client per conversation. The parent process decides
// when all come to rest and when they continue.
import type { Timers } from '@baton/core/internal'
import { createRandom } from '@baton/core/testing'
import type { Pace, Said, Talk } from './converse.ts'
import { converse, createSaid } from './converse.ts'
import { Gate } from './gate.ts'
import type { Holdings } from './holdings.ts'
import { takeHoldings } from './holdings.ts'
import type { NotifyOptions, SentInput } from '@baton/client/internal'
import { openSession } from '@baton/client'

export interface AppsOptions {
  readonly url: string
  readonly sessions: number
  readonly seed: number
  readonly pace: Pace
}

/** Commands for the apps. `over`: continue for the last time. */
export type AppsOrder = 'close' | 'open' | 'over'

export interface AppsReport {
  readonly holdings: Holdings
  /** Counts of each conversation. */
  readonly said: readonly Said[]
  /** The first errors that the apps received. */
  readonly errors: readonly string[]
}

/** Milliseconds between two checks of whether all have come to rest. */
const LOOK_MS = 50
const ERRORS_MAX = 20

async function main({ url, sessions, seed, pace }: AppsOptions): Promise<void> {
  const gate = new Gate(TIMERS)
  const errors: string[] = []
  const onError = (error: string): void => void (errors.length < ERRORS_MAX && errors.push(error))
  const said = Array.from({ length: sessions }, createSaid)
  let isOver = false
  const report = async (): Promise<void> => {
    gate.close()
    while (gate.arrived < sessions) await new Promise((resolve) => void setTimeout(resolve, LOOK_MS))
    const holdings = await takeHoldings({})
    process.send?.({ holdings, said, errors } satisfies AppsReport)
  }
  process.on('message', (order: AppsOrder) => {
    if (order === 'close') return void report()
    isOver = order === 'over'
    gate.open()
  })
  // The server has exited.
  process.once('disconnect', () => process.exit(isOver ? 0 : 1))
  const conversations = said.map((counts, slot) => {
    const random = createRandom(seed * 100_003 + slot)
    const open = () => openClientTalk({ url, session: `call-${slot}`, onError })
    return converse({ slot, random, gate, open, pace }, counts, () => isOver)
  })
  await Promise.all(conversations)
  process.disconnect()
}

const TIMERS: Timers = {
  start: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

await main(JSON.parse(process.argv[2] ?? '{}') as AppsOptions) // from our own process

interface ClientTalkOptions {
  readonly url: string
  readonly session: string
  /** Called with every error except that of an input sent while the agent was stopped. */
  readonly onError: (code: string) => void
}

/**
 * A conversation of a soak through a version 2 client, like a transcribing browser.
 * Resolves immediately: messages wait for the connection.
 */
async function openClientTalk({ url, session, onError }: ClientTalkOptions): Promise<Talk> {
  const client = openSession({ url, session, asks: false })
  client.on('error', ({ code }) => {
    if (code !== 'session_stopped') onError(code)
  })
  let isStopped = false
  let answer = Promise.resolve(true)
  const follow = async (sent: SentInput): Promise<void> => {
    answer = sent.answer.then(
      () => true,
      () => false,
    )
    await sent.accepted
  }
  return {
    push: (speaker, text) => follow(client.hear(speaker, text)),
    event: ({ name, detail, isInterrupt }) => {
      const event: NotifyOptions = { name, detail, label: 'Negotiation Event' }
      return follow(client.notify(isInterrupt ? { ...event, delivery: 'interrupt' } : event))
    },
    pause: () => client.control('pause'),
    stop: async () => {
      isStopped = true
      await client.control('stop')
    },
    start: async () => {
      await client.control(isStopped ? 'start' : 'continue')
      isStopped = false
    },
    rest: () => answer,
    close: async () => client.close(),
  }
}
