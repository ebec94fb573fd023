// One conversation of a soak, for its whole duration: people talk, events happen, and the agent is paused, stopped,
// restarted, released and opened again. Independent of how the agent is reached.
import type { JsonObject } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { Random } from '@baton/core/testing'
import type { Gate } from './gate.ts'

/** The agent, as reached by one conversation. */
export interface Talk {
  /**
   * Each resolves when the session has the input. @throws an error with the code `session_stopped` while the agent is
   * stopped
   */
  push(speaker: string, text: string): Promise<unknown>
  event(event: TalkEvent): Promise<unknown>
  pause(): Promise<void>
  stop(): Promise<void>
  /** Continues after `pause` and `stop`; `variant` selects other instructions and tools, if supported. */
  start(variant: number): Promise<void>
  /**
   * Resolves once the agent has come to rest after all inputs: false if its turn failed, so that another input is
   * needed.
   */
  rest(): Promise<boolean>
  close(): Promise<void>
}

export interface TalkEvent {
  readonly name: string
  readonly detail: JsonObject
  readonly isInterrupt: boolean
}

export interface Conversation {
  /** Index among all concurrent conversations, from 0. */
  readonly slot: number
  readonly random: Random
  readonly gate: Gate
  readonly open: () => Promise<Talk>
  /**
   * Ends the session while the conversation is at rest; the next `open` starts another one. Without it, the session
   * continues.
   */
  readonly end?: () => Promise<void>
  readonly pace: Pace
}

/** Maximum pauses in milliseconds. */
export interface Pace {
  /** Between two messages. */
  readonly gapMs: number
  /** Between two stretches of talk. */
  readonly idleMs: number
}

export interface Said {
  /** Inputs accepted by the session; their marks are numbered from 1. */
  taken: number
  /** Inputs refused because the agent was stopped. */
  refused: number
  /** How often the conversation released the session. */
  released: number
  /** Number of pauses and stops. */
  halted: number
}

const SPEAKERS = ['Ann', 'Bob', 'Carol'] as const
const SENTENCES = [
  'Shall we talk about the price?',
  'Four hundred seats, three years, and the support that you have now.',
  'That is more than we had in mind.',
  'You have it in writing now. Around the clock, yes.',
  'Gladly.',
  'There may be a discount if you pay up front, but I would have to ask, and not before Thursday.',
] as const
const EVENTS = ['OFFER_RECEIVED', 'DEADLINE_MOVED', 'OFFER_WITHDRAWN'] as const

/** Maximum attempts of a conversation to come to rest. */
const RESTS_MAX = 5

/** Marks a text as one of its conversation's inputs. */
export function mark(slot: number, serial: number): string {
  return `<${slot}.${serial}>`
}

export function createSaid(): Said {
  return { taken: 0, refused: 0, released: 0, halted: 0 }
}

/** Runs until `isOver`, which is checked while the conversation is at rest. `said` counts what happens. */
export async function converse(given: Conversation, said: Said, isOver: () => boolean): Promise<void> {
  const { gate, open, end } = given
  let talk = await open()
  for (;;) {
    talk = await act(given, talk, said)
    if (!gate.isClosed) continue
    await comeToRest(given, talk, said)
    if (!end) {
      await gate.arrive()
      if (isOver()) break
      continue
    }
    await talk.close()
    await end()
    await gate.arrive()
    if (isOver()) return
    talk = await open()
  }
  await talk.close()
}

/** A stretch of talk, and what follows it. */
async function act(given: Conversation, talk: Talk, said: Said): Promise<Talk> {
  const { random, gate, open, pace } = given
  await speak(given, talk, said, 2 + random.below(25))
  if (gate.isClosed) return talk
  const chance = random.next()
  if (chance < 0.3) {
    await talk.close()
    said.released += 1
    await gate.sleep(random.below(pace.idleMs))
    return await open()
  }
  if (chance < 0.6) await halt(given, talk, said)
  else await gate.sleep(random.below(pace.idleMs))
  return talk
}

/** A turn that had begun earlier may still fail: then the agent reads with the next event. */
async function comeToRest(given: Conversation, talk: Talk, said: Said): Promise<void> {
  for (let time = 0; time < RESTS_MAX; time++) {
    await give(given, said, (text) => talk.event({ name: `ROUND_OVER ${text}`, detail: {}, isInterrupt: false }))
    if (await talk.rest()) return
  }
}

async function speak(given: Conversation, talk: Talk, said: Said, times: number): Promise<void> {
  const { random, gate, pace } = given
  for (let time = 0; time < times && !gate.isClosed; time++) {
    const chance = random.next()
    if (chance < 0.08) {
      const detail = { cents: random.below(1_000_000), by: random.pick(SPEAKERS) }
      const name = random.pick(EVENTS)
      const isInterrupt = chance < 0.03
      await give(given, said, (text) => talk.event({ name: `${name} ${text}`, detail, isInterrupt }))
    } else {
      const sentence = random.pick(SENTENCES)
      await give(given, said, (text) => talk.push(random.pick(SPEAKERS), `${text} ${sentence}`))
    }
    await gate.sleep(random.below(pace.gapMs))
  }
}

async function halt(given: Conversation, talk: Talk, said: Said): Promise<void> {
  const { random } = given
  said.halted += 1
  await (random.chance(0.5) ? talk.pause() : talk.stop())
  await speak(given, talk, said, random.below(6))
  await talk.start(random.below(4))
}

async function give({ slot }: Conversation, said: Said, say: (mark: string) => Promise<unknown>): Promise<void> {
  try {
    await say(mark(slot, said.taken + 1))
    said.taken += 1
  } catch (cause) {
    // The client's errors have the same codes but another class.
    const code: unknown = isBatonError(cause) ? cause.code : (cause as { readonly code?: unknown }).code
    if (code !== 'session_stopped') throw cause
    said.refused += 1
  }
}
