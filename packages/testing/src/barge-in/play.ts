// Plays one interrupt, from the question to the second turn after it, and checks the outcome.
import type { ContractWorld, HostKind } from '../host-contract/host-kind.ts'
import type { BargeApp } from './apps.ts'
import { openV1App, openV2App } from './apps.ts'
import type { Cell } from './cells.ts'
import { ANSWER, findMoment, findPlayed } from './cells.ts'
import type { Asked, BargeStage } from './stage.ts'
import { createBargeStage, readAsked } from './stage.ts'

export type Version = 1 | 2

/** The model's requests and the log; `expectPlayed` returns the expected values. */
export interface Played {
  /** The model requests with the interrupting input and with the next one. */
  readonly asked: readonly Told[]
  readonly notes: number
  /** Number of settlements of each call. */
  readonly settlements: readonly number[]
  /** How often the tool was started, by the server or by the app. */
  readonly runs: number
  /** Sentences given to the voice twice. */
  readonly repeated: readonly string[]
  readonly errors: readonly string[]
}

type Told = Pick<Asked, 'text' | 'calls'> & { readonly result: string | undefined; readonly results: number }

/** Milliseconds until everything still running has ended. */
const AFTER_MS = 8000

export async function playCell(kind: HostKind, version: Version, cell: Cell): Promise<Played> {
  const stage = await createBargeStage(kind, cell)
  const { world } = stage
  const app = version === 1 ? openV1App(world) : openV2App(world, cell)
  await app.say('go')
  await until(world, () => world.model.requests.length > 0)
  await world.time.pass(findMoment(cell))
  await app.interrupt('next')
  await app.finishTool()
  await world.time.pass(AFTER_MS)
  await app.say('last')
  await world.time.pass(AFTER_MS)
  const settled = await world.facts('call-settled')
  const counts = Map.groupBy(settled, ({ callId }) => callId)
  const played = {
    asked: [tell(stage, app, 'next'), tell(stage, app, 'last')],
    notes: readAsked(stage, 'last')?.users.filter((text) => text.includes('has ended: "booked')).length ?? 0,
    settlements: [...counts.values()].map(({ length }) => length),
    runs: stage.runs() + app.runs(),
    repeated: app.spoken().filter((text, index, all) => all.indexOf(text) !== index),
    errors: [...app.errors(), ...world.warnings],
  }
  await world.time.until(world.host.stop())
  return played
}

/** A world's service may need real time for work that takes no virtual time. */
async function until({ time }: ContractWorld, isSo: () => boolean): Promise<void> {
  const lastMs = Date.now() + 180_000
  while (!isSo()) {
    if (Date.now() > lastMs) throw new Error('the condition was not met within three minutes')
    await time.pass(0)
  }
}

function tell(stage: BargeStage, app: BargeApp, input: string): Told {
  const asked = readAsked(stage, input)
  if (!asked) throw new Error(`the model was not asked with "${input}"; the app received ${app.errors().join('\n')}`)
  const { text, calls, results } = asked
  return { text: text.trimEnd(), calls, result: results[0]?.replaceAll('"', ''), results: results.length }
}

const RESULTS = {
  cancel: 'Error: cancelled (it has no effect)',
  finish: 'booked',
  detach: 'Still running. The user spoke meanwhile; a note will report the outcome.',
  once: 'Error: tool_result_unknown (it may have run)',
  approval: 'Error: cancelled (it has no effect)',
  client: 'booked',
} as const

export function expectPlayed(version: Version, { tool, phase, played }: Cell): Played {
  const isCalled = phase !== 'writing-1'
  const isOver = phase === 'writing-2' || phase === 'idle'
  // Version 1 apps cannot report playback: nothing before the voice got the answer, then all of it.
  const text = version === 2 ? findPlayed(played) : phase === 'idle' ? ANSWER : ''
  const result = isOver ? 'booked' : phase === 'offered' ? RESULTS.cancel : RESULTS[tool]
  const calls = isCalled ? 1 : 0
  const told = { text, calls, result: isCalled ? result : undefined, results: calls }
  return {
    asked: [told, told],
    notes: tool === 'detach' && phase === 'running' ? 1 : 0,
    settlements: isCalled ? [1] : [],
    runs: isCalled && phase !== 'offered' && phase !== 'approving' ? 1 : 0,
    repeated: [],
    errors: [],
  }
}

/**
 * Version 1 apps cannot be asked for approvals, start a call on delivery, and cannot report playback, so they have only
 * one interrupt per phase.
 */
export function suits(version: Version, { phase, played }: Cell): boolean {
  if (version === 2) return true
  return phase !== 'approving' && phase !== 'offered' && played === 0
}
