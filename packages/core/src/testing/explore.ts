// Random exploration of the machine: seeded interleavings of everything that can happen, checked after every record.
import type { Message } from '../messages.ts'
import { answerEffect } from './explore-answers.ts'
import { chooseInput, clientComes, rewind } from './explore-inputs.ts'
import type { Coverage, World } from './explore-world.ts'
import { createCoverage, createWorld, exploredSpec, restart, submit } from './explore-world.ts'
import { createInvariantChecker } from './invariants.ts'
import { createRandom } from './random.ts'

export interface ExploreOptions {
  readonly seed: number
  /** Number of inputs that must make a fact before the run comes to rest; 30 by default. */
  readonly inputs?: number
  readonly coverage?: Coverage
  /** Share of the steps that rewind the conversation, besides those that are chosen anyway; 0 by default. */
  readonly rewinds?: number
  readonly validate?: (messages: readonly Message[]) => readonly { readonly message: string }[]
}

export interface Exploration {
  readonly world: World
  readonly coverage: Coverage
}

/** A failing run, with its seed and a description of its steps. */
export class ExplorationError extends Error {
  readonly seed: number
  readonly story: readonly string[]
  constructor(seed: number, story: readonly string[], cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause)
    super(`seed ${seed}: ${why}\n${story.slice(-25).join('\n')}`, { cause })
    this.name = 'ExplorationError'
    this.seed = seed
    this.story = story
  }
}

/** @throws ExplorationError if an invariant is violated */
export function explore(options: ExploreOptions): Exploration {
  const random = createRandom(options.seed)
  const coverage = options.coverage ?? createCoverage()
  const checker = createInvariantChecker(options.validate ? { validate: options.validate } : {})
  const world = createWorld({ random, checker, coverage, spec: exploredSpec(random) })
  try {
    const wanted = options.inputs ?? 30
    if (random.chance(0.5)) submit(world, clientComes(world, true))
    for (let tries = 0; world.counted < wanted && tries < wanted * 40; tries++) step(world, options.rewinds)
    rest(world)
    checker.finish(world.state)
  } catch (cause) {
    throw new ExplorationError(options.seed, world.story, cause)
  }
  return { world, coverage }
}

function step(world: World, rewinds = 0): void {
  world.nowMs += world.random.chance(0.3) ? world.random.below(1500) : world.random.below(40)
  if (world.random.chance(0.02)) restart(world)
  else {
    const input = rewinds > 0 && world.random.chance(rewinds) ? rewind(world) : chooseInput(world)
    if (input) submit(world, input)
  }
}

const RESTED_WITHIN = 400

/** Answers everything outstanding until nothing is left: a session must be able to come to rest. */
function rest(world: World): void {
  if (world.state.phase === 'paused') submit(world, { type: 'continue' })
  if (world.state.phase === 'stopped') submit(world, { type: 'start' })
  for (let turn = 0; turn < RESTED_WITHIN; turn++) {
    const effects = [...world.running.values()]
    const [next] = effects.filter((effect) => effect.type !== 'set-timer')
    const aborted = world.aborted.shift()
    if (aborted !== undefined) submit(world, { type: 'model-stopped', attempt: aborted, text: 'partial' })
    else if (next) {
      const input = answerEffect(world, next, true)
      if (input) submit(world, input)
      if (world.running.has(findKey(world, next))) fireNextTimer(world)
    } else if (!fireNextTimer(world)) {
      // The end of a task waits for an input.
      if (world.state.queue.length > 0)
        submit(world, { type: 'user-input', inputId: `rest-${turn}`, parts: [{ type: 'text', text: 'go on' }] })
      else if (world.state.phase === 'idle') return
      throw new Error(`the session rests in ${world.state.phase} and nothing is owed`)
    }
  }
  throw new Error('the session does not come to rest')
}

function findKey(world: World, effect: unknown): string {
  for (const [key, value] of world.running) if (value === effect) return key
  return ''
}

function fireNextTimer(world: World): boolean {
  const timers = [...world.running.values()].filter((effect) => effect.type === 'set-timer')
  const next = timers.sort((one, other) => one.atMs - other.atMs)[0]
  if (!next) return false
  world.nowMs = Math.max(world.nowMs, next.atMs)
  submit(world, { type: 'timer-fired', timer: next.timer, generation: next.generation })
  world.running.delete(`set-timer:${next.timer}:${next.generation}`)
  return true
}
