// Shared by the tests of both versions of Effect: the same tools, written in each version.
import type { EffectTools } from './index.ts'

export interface Counts {
  /** How often the services were built and given back. */
  built: number
  released: number
  /** Effects that were interrupted. */
  interrupted: number
}

export interface Opened extends EffectTools {
  readonly counts: Counts
  /** Resolves when the Effect of `order.wait` or `order.stubborn` has begun. */
  readonly begun: Promise<void>
}

export interface OpenOptions {
  /** So many times the services cannot be built. */
  readonly failingBuilds?: number
  /** The finalizer of the services never ends. */
  readonly isStuck?: boolean
  readonly closeMs?: number
}

export interface EffectFixture {
  readonly version: string
  /**
   * `order.read { id, since? }`, `order.die`, `order.throw`, `order.wait`, `order.stubborn`, `order.wrong` (its result does not fit), `order.plain`
   * (its execute returns no Effect), `order.many` (fails twice at once), `who` (tells the context of its call).
   */
  readonly open: (options?: OpenOptions) => Opened
  /**
   * A toolkit: `GetWeather { city, at? }`, which is read-only, `Publish`, whose failures are returned as results, `Nothing` without
   * parameters.
   */
  readonly openToolkit: () => Opened
}
