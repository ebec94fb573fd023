// The shape of every `baton` command.
import type { Console } from './console.ts'

export interface Command {
  /** Options and examples, ending in a line break. */
  readonly help: string
  /**
   * Resolves with the exit code: 0, or 1 if the request failed.
   * @throws UsageError, BatonError
   */
  run(words: readonly string[], terminal: Console): Promise<number>
}
