// The simulator: the real local host in a simulated world, driven by one seed, checked after every stored record.
import { act, healAndRest, boot } from './actions.ts'
import { checkPages } from './check-pages.ts'
import { checkEnd } from './check-world.ts'
import { checkInbox } from './office-actions.ts'
import type { SimulatedWorld, SimulateOptions } from './simulated-world.ts'
import { createSimulatedWorld, openPage } from './simulated-world.ts'

/** A failing run: its seed, the failure, and the story that led to it. */
export class SimulationError extends Error {
  readonly seed: number
  /** `words`: further arguments of the command. */
  constructor({ seed, delegates, office }: SimulateOptions, story: readonly string[], cause: unknown, words = '') {
    const all = `${words}${delegates ? ' --trees' : ''}${office ? ' --office' : ''}`
    const why = cause instanceof Error ? cause.message : String(cause)
    super(
      `seed ${seed}: ${why}\n${story.slice(-40).join('\n')}\nRun it again: npm run simulate -- --from ${seed} --seeds 1${all}`,
      { cause },
    )
    this.name = 'SimulationError'
    this.seed = seed
  }
}

/** @throws SimulationError if an invariant is broken or the session does not come to rest */
export async function simulate(options: SimulateOptions): Promise<SimulatedWorld> {
  const world = createSimulatedWorld(options)
  try {
    await boot(world)
    for (let pages = options.pages ?? 0; pages > 0; pages--) world.pages.push(openPage(world))
    for (let action = options.actions ?? 40; action > 0; action--) {
      await act(world)
      await world.time.runUntil(world.time.nowMs() + world.random.below(world.random.chance(0.5) ? 300 : 2500))
      if (!world.process.isAlive()) await boot(world)
      if (world.observed.failure) throw world.observed.failure
      await checkInbox(world)
    }
    await healAndRest(world)
    // The app processes what it received: every answer is played to the end.
    await world.time.runUntil(world.time.nowMs() + (options.pages ? 3 : 10) * 60_000)
    if (world.office) {
      world.office.isClosed = true
      await healAndRest(world)
      await world.time.runUntil(world.time.nowMs() + 10 * 60_000)
    }
    if (world.pages.length > 0) await healAndRest(world)
    await checkPages(world)
    await checkInbox(world)
    checkEnd(world)
  } catch (cause) {
    throw new SimulationError(options, world.story, cause)
  }
  return world
}
