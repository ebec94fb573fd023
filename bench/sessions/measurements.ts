// What is measured beside the turns: long histories, requests of many messages, idle connections, opening a session again.
import type { Measured } from '../measure.ts'
import { measureAcquires } from './acquires.ts'
import { measureEncode } from './encode.ts'
import { measureHistory } from './history.ts'
import { measureIdle } from './idle.ts'
import { measureResume } from './resume.ts'

export interface SessionMeasurement {
  readonly name: string
  /** The unit. */
  readonly label: string
  measure(origin: string, rounds: number): Promise<readonly Measured[]>
}

export const SESSION_MEASUREMENTS: readonly SessionMeasurement[] = [
  { name: 'history', label: 'µs an input', measure: measureHistory },
  { name: 'encode', label: 'µs a request', measure: measureEncode },
  { name: 'idle', label: 'KiB a connection', measure: measureIdle },
  { name: 'acquires', label: 'ms for 500', measure: measureAcquires },
  { name: 'resume', label: 'ms to open', measure: measureResume },
]
