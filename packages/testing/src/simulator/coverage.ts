// What a simulation has met: records, crash points, and every pair of a fault and a state of a call.
import type { CallState, State } from '@baton/core/machine'
import type { CrashPoints } from './process.ts'
import { CRASH_POINTS, createCrashPoints } from './process.ts'

export interface SimulationCoverage {
  records: number
  readonly points: CrashPoints
  readonly faults: Map<string, number>
  /** `fault × call state`. */
  readonly pairs: Map<string, number>
}

export function createSimulationCoverage(): SimulationCoverage {
  return { records: 0, points: createCrashPoints(), faults: new Map(), pairs: new Map() }
}

export function noteFault(coverage: SimulationCoverage, fault: string, state: State): void {
  coverage.faults.set(fault, (coverage.faults.get(fault) ?? 0) + 1)
  const states = new Set<CallState>(state.step?.calls.map((call) => call.state) ?? [])
  for (const callState of states) {
    const pair = `${fault} × ${callState}`
    coverage.pairs.set(pair, (coverage.pairs.get(pair) ?? 0) + 1)
  }
}

export function reportCoverage(coverage: SimulationCoverage, seeds: number): string {
  const { points, faults, pairs, records } = coverage
  const missed = CRASH_POINTS.flatMap((point, index) => (points.died.has(point) ? [] : [`${index + 1} ${point}`]))
  return [
    `simulation: ${seeds} seeds, ${records} records`,
    `crash points: ${CRASH_POINTS.length - missed.length} of ${CRASH_POINTS.length} hit${missed.length > 0 ? `; never: ${missed.join(', ')}` : ''}`,
    `faults: ${[...faults].map(([fault, count]) => `${fault} ${count}`).join(', ')}`,
    `pairs of fault and call state: ${pairs.size}`,
  ].join('\n')
}
