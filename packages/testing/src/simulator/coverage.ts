// Coverage of a simulation: records, crash points, and every pair of a fault and a call state.
import type { CallState, Fact, State } from '@baton/core/machine'
import type { CrashPoints } from './process.ts'
import { CRASH_POINTS, createCrashPoints } from './process.ts'

export interface SimulationCoverage {
  records: number
  readonly points: CrashPoints
  readonly faults: Map<string, number>
  /** `fault × call state`. */
  readonly pairs: Map<string, number>
  /** By type and, for decisions of a person or client, by what they did. */
  readonly facts: Map<string, number>
}

export function createSimulationCoverage(): SimulationCoverage {
  return { records: 0, points: createCrashPoints(), faults: new Map(), pairs: new Map(), facts: new Map() }
}

export function noteFault(coverage: SimulationCoverage, fault: string, state: State): void {
  coverage.faults.set(fault, (coverage.faults.get(fault) ?? 0) + 1)
  const states = new Set<CallState>(state.step?.calls.map((call) => call.state) ?? [])
  for (const callState of states) {
    const pair = `${fault} × ${callState}`
    coverage.pairs.set(pair, (coverage.pairs.get(pair) ?? 0) + 1)
  }
}

export function noteFact({ facts }: SimulationCoverage, fact: Fact): void {
  const name = nameFact(fact)
  facts.set(name, (facts.get(name) ?? 0) + 1)
}

function nameFact(fact: Fact): string {
  switch (fact.type) {
    case 'question-answered':
      return `${fact.type} ${'value' in fact ? 'value' : fact.declined}`
    case 'approval-decided':
      return `${fact.type} ${fact.decision}${fact.remember ? ', remembered' : ''}`
    case 'call-settled':
      return `${fact.type} ${fact.settlement.type}`
    default:
      return fact.type
  }
}

export function reportCoverage(coverage: SimulationCoverage, seeds: number): string {
  const { points, faults, pairs, facts, records } = coverage
  const missed = CRASH_POINTS.flatMap((point, index) => (points.died.has(point) ? [] : [`${index + 1} ${point}`]))
  return [
    `simulation: ${seeds} seeds, ${records} records`,
    `crash points: ${CRASH_POINTS.length - missed.length} of ${CRASH_POINTS.length} hit${missed.length > 0 ? `; never: ${missed.join(', ')}` : ''}`,
    `faults: ${[...faults].map(([fault, count]) => `${fault} ${count}`).join(', ')}`,
    `pairs of fault and call state: ${pairs.size}`,
    `facts: ${[...facts].map(([name, count]) => `${name} ${count}`).join(', ')}`,
  ].join('\n')
}

/** Counts for two processes: how often the session moved between them, and why. */
export function reportOwnership({ faults }: SimulationCoverage): string {
  const read = (fault: string): number => faults.get(fault) ?? 0
  return [
    `two processes: ${read('move')} moves between them`,
    `${read('partition-fails') + read('partition-hangs')} partitions (${read('partition-hangs')} hang)`,
    `${read('kill')} kills, ${read('stop')} stops`,
    `${read('held')} times held by the other`,
  ].join(', ')
}
