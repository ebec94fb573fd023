// Measures the cost of one input in a session with a long history: an in-process model answers at once, so that only
// Baton's own work is measured. Sessions of all lengths alternate.
import type { Host, Model, Session } from '@baton/core'
import { defineAgent, voice } from '@baton/core'
import { createHost } from '@baton/host'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'

/** Messages of history: one from the user and one from the model per turn. The last is also the floor's name. */
const SIZES = [10, 1000, 10_000] as const
const BATCH = 20
/** Number of turns that the compiler needs for warm-up. */
const WARM_TURNS = 2000

export async function measureHistory(_origin: string, rounds: number): Promise<readonly Measured[]> {
  const host = createHost({ agent: defineAgent({ name: 'bench', profile: voice, model: READY }) })
  await talk(await host.session(undefined), WARM_TURNS)
  const long = new Map<number, Session>()
  for (const size of SIZES.slice(1)) long.set(size, await grown(host, size))
  const values = new Map<string, number[]>(SIZES.map((size) => [readName(size), []]))
  for (let round = 0; round < rounds * 5; round++)
    for (const size of SIZES) {
      const session = long.get(size)
      // A short history is no longer short after a few turns, so each of its turns uses its own session.
      const sessions = session
        ? Array.from({ length: BATCH }, () => session)
        : await Promise.all(Array.from({ length: BATCH }, () => grown(host, size)))
      values.get(readName(size))?.push(await timed(sessions))
      if (!session) for (const { id } of sessions) await host.remove(id)
    }
  await host.stop()
  return compared(values, readName(SIZES[0]))
}

const READY: Model = {
  id: 'bench/ready',
  provider: 'bench',
  capabilities: { tools: 'native', images: false },
  run: async (_request, sink) => {
    sink({ type: 'text-delta', text: 'yes' })
    return {
      parts: [{ type: 'text', text: 'yes' }],
      finish: 'end',
      usage: { inputTokens: 1, outputTokens: 1 },
      model: 'ready',
    }
  },
}

function readName(size: number): string {
  return `${size.toLocaleString('en')} messages`
}

async function grown(host: Host, messages: number): Promise<Session> {
  const session = await host.session(undefined)
  await talk(session, messages / 2)
  return session
}

async function talk(session: Session, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await session.send('hi').answer
}

/** Microseconds per turn. No turn waits for anything external, so elapsed time equals work. */
async function timed(sessions: readonly Session[]): Promise<number> {
  const startMs = performance.now()
  for (const session of sessions) await talk(session, 1)
  return ((performance.now() - startMs) * 1000) / sessions.length
}
