// placeholder
import type { Measured } from '../measure.ts'
export const SESSION_MEASUREMENTS: readonly {
  name: string
  label: string
  measure(origin: string, rounds: number): Promise<readonly Measured[]>
}[] = []
