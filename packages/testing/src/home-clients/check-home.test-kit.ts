// The version 2 clients that are separate programs, and what every turn of the home agent they play must show.
import type { SessionEvent } from '@baton/core'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { findPython } from '../components/python.ts'
import { HOME_TEXT } from './home-agent.ts'
import type { ClientProgram, PlayedTurn, TwoDevices } from './play-home.ts'

const HOME = 'packages/testing/src/home-clients/home.test-kit.ts'
const findProgram = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

/** The clients that this machine can run. `warn` receives each of the others. */
export function findClients(
  warn: (message: string) => void,
): readonly (readonly [name: string, program: ClientProgram])[] {
  const python = findPython('the client in Python', warn)
  return [
    ['TypeScript', [process.execPath, '--conditions=@baton/source', '--no-warnings', findProgram(HOME)]],
    ...(python === undefined ? [] : [['Python', [python, findProgram('examples/client-python/home.py')]] as const]),
  ]
}

/** Turns played concurrently. */
const AT_ONCE = 6

export async function inGroups<Item>(items: readonly Item[], play: (item: Item) => Promise<void>): Promise<void> {
  for (let done = 0; done < items.length; done += AT_ONCE)
    await Promise.all(items.slice(done, done + AT_ONCE).map(play))
}

/** Each piece must continue where the text ends; after a reset the text is repeated. */
function joinTexts(events: readonly SessionEvent[]): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const event of events)
    if (event.type === 'step-reset') delete texts[event.step]
    else if (event.type === 'text') {
      const before = texts[event.step] ?? ''
      if (event.offset !== before.length)
        throw new Error(`a piece at ${event.offset} follows ${before.length} characters`)
      texts[event.step] = before + event.text
    }
  return texts
}

const WRITTEN = new Set(['text', 'reasoning', 'call-writing', 'call-progress', 'live'])

/** Events of the turn: earlier ones of a new session are not relevant to any client. */
function listKinds(events: readonly SessionEvent[]): readonly string[] {
  const kinds = events.map(({ type }) => type).filter((type) => !WRITTEN.has(type))
  return kinds.slice(kinds.indexOf('message-added'), kinds.indexOf('turn-finished') + 1)
}

export function checkTold(played: PlayedTurn): void {
  if (played.errors !== '') throw new Error(`the client reported: ${played.errors}`) // `expect` would cut it
  expect(joinTexts(played.events)).toEqual(joinTexts(played.past))
  expect(listKinds(played.events)).toEqual(listKinds(played.past))
  const finished = played.past.findLast(({ type }) => type === 'turn-finished')
  expect(finished).toMatchObject({ text: played.said })
}

/** Both devices receive the same turn, and one of them takes the picture. */
export function checkTwoDevices({ other, ...played }: TwoDevices): void {
  for (const told of [played, { ...played, ...other }]) {
    checkTold(told)
    expect(told.said).toBe(HOME_TEXT)
  }
  expect(played.effects).toEqual({ camera: 1, note: 1, pay: 1 })
  expect(played.cuts).toBeGreaterThan(2)
}

/**
 * A call that was running when its server died may have acted: the log records `unknown`, and it is not rerun. Returns
 * how many.
 */
export function checkEffects({ effects, past }: PlayedTurn): number {
  let unknown = 0
  for (const name of ['camera', 'note', 'pay']) {
    const settled = past.findLast(
      (event) => event.type === 'call' && event.call.name === name && event.call.status === 'settled',
    )
    const result = settled?.type === 'call' ? settled.call.result?.type : undefined
    const count = effects[name] ?? 0
    expect(result).toBeOneOf(['ok', 'unknown'])
    expect(count, `${name}: ${result}`).toBeOneOf(result === 'ok' ? [1] : [0, 1])
    if (result === 'unknown') unknown += 1
  }
  return unknown
}
