// An actor and the runners that work for it; they die together. The runners are made for the first effect: a session to
// which nobody says anything needs none.
import type { Tool } from '@baton/core'
import type { Spec } from '@baton/core/machine'
import type { Actor, ActorListener } from './actor.ts'
import { openActor } from './actor.ts'
import { checkCall } from './call-check.ts'
import type { FrameHub } from './frame-hub.ts'
import { createModelRunner } from './model-runner.ts'
import type { OutputReader } from './output.ts'
import type { Performers, Runners } from './perform.ts'
import { createPerformers } from './perform.ts'
import { requestFor } from './request.ts'
import type { SlotInit } from './session-slot.ts'
import { createTimerRunner } from './timer-runner.ts'
import { createToolRunner } from './tool-runner.ts'

export interface CrewInit {
  readonly slot: SlotInit
  readonly output: OutputReader | undefined
  readonly tools: readonly Tool[]
  readonly spec: Spec
  readonly hub: FrameHub
  /** Waits before an append is tried again. */
  readonly pause: (tries: number) => Promise<void>
  readonly listener: ActorListener
}

/** @throws BatonError when the session's log cannot be opened */
export async function openCrew(init: CrewInit): Promise<Crew> {
  const { spec, pause, listener } = init
  const { session, leases, principal, store, environment } = init.slot
  const { clock, timers } = environment
  const newId = (): string => environment.newId()
  const log = { session, leases, store, timers, pause, listener }
  return new Crew(init, await openActor({ ...log, principal, spec, clock, newId }))
}

export class Crew {
  readonly actor: Actor
  readonly #init: CrewInit
  #runners: Runners | undefined

  constructor(init: CrewInit, actor: Actor) {
    this.#init = init
    this.actor = actor
  }

  /**
   * Performs what is outstanding, and from then on what is decided. Called once, if at all.
   * @throws BatonError when something of it cannot be performed; then nothing of the crew goes on
   */
  begin(): void {
    try {
      this.actor.begin(() => this.#makePerformers())
    } catch (cause) {
      this.close()
      throw cause
    }
  }

  close(): void {
    this.#runners?.timers.close()
    this.#runners?.tools.close()
    this.#runners?.models.close()
  }

  #makePerformers(): Performers {
    this.#runners = runnersFor(this.#init, this.actor)
    return createPerformers(this.#runners)
  }
}

function runnersFor({ slot, tools, output, hub }: CrewInit, actor: Actor): Runners {
  const { agent, environment, modelOf, priceOf } = slot
  const publish = hub.publish.bind(hub)
  return {
    timers: createTimerRunner(environment, (input) => actor.submit(input)),
    // Whoever opens it first: tools run for the one whose session it is.
    tools: createToolRunner({ ...slot, tools, principal: { id: actor.state().principal }, publish, actor }),
    models: createModelRunner({
      environment,
      actor,
      publish,
      modelOf,
      output,
      priceOf,
      request: (effect, model) =>
        requestFor({ agent, model, tools, state: actor.state(), history: actor.history() }, effect),
      check: (name, argumentsText) => checkCall({ ...slot, tools }, actor.state(), { name, arguments: argumentsText }),
    }),
  }
}
