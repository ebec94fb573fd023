// Shared by the tests of both Effect versions: the same tools, written for each version.
import type { EffectTools } from './index.ts'

export interface Counts {
  /** How often the services were built and released. */
  built: number
  released: number
  /** Number of interrupted Effects. */
  interrupted: number
}

export interface Opened extends EffectTools {
  readonly counts: Counts
  /** Resolves when the Effect of `order.wait` or `order.stubborn` has started. */
  readonly begun: Promise<void>
}

export interface OpenOptions {
  /** Number of times that building the services fails. */
  readonly failingBuilds?: number
  /** Whether the services' finalizer never ends. */
  readonly isStuck?: boolean
  readonly closeMs?: number
}

export interface EffectFixture {
  readonly version: string
  /**
   * `order.read { id, since? }`, `order.die`, `order.throw`, `order.wait`, `order.stubborn`, `order.wrong` (returns a
   * mismatched result), `order.plain` (its execute returns no Effect), `order.many` (fails twice at once), `who`
   * (returns the context of its call).
   */
  readonly open: (options?: OpenOptions) => Opened
  /**
   * A toolkit: `GetWeather { city, at? }`, which is read-only, `Publish`, whose failures are returned as results,
   * `Nothing` without parameters.
   */
  readonly openToolkit: () => Opened
}
