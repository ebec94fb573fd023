// Counts the steps of the machine by V8's precise coverage: every run of a function or of a block in it. Unlike times,
// they are the same on every machine. V8 does not count blocks of what it compiled before, so tests that count steps need a
// process of their own.
import type { Profiler } from 'node:inspector'
import { Session as Inspector } from 'node:inspector/promises'

export class StepCounter {
  readonly #inspector = new Inspector()

  async start(): Promise<void> {
    this.#inspector.connect()
    await this.#inspector.post('Profiler.enable')
    await this.#inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Number of steps that `act` takes in `packages/core/src/machine`. */
  async count(act: () => void): Promise<number> {
    await this.#inspector.post('Profiler.takePreciseCoverage')
    act()
    const { result } = await this.#inspector.post('Profiler.takePreciseCoverage')
    return result.filter(({ url }) => url.includes('/core/src/machine/')).reduce((sum, one) => sum + countRuns(one), 0)
  }

  stop(): void {
    this.#inspector.disconnect()
  }
}

function countRuns({ functions }: Profiler.ScriptCoverage): number {
  return functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)).reduce((sum, count) => sum + count, 0)
}
