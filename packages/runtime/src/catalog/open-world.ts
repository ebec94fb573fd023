// The world of an open session: replaced when its agent changes, updated when a source changes its tools.
import type { Agent } from '@baton/core'
import type { State } from '@baton/core/machine'
import type { Catalog, SessionIdentity, SessionWorld } from './catalog.ts'

export interface OpenWorldOptions {
  readonly catalog: Pick<Catalog, 'open'>
  /** Called after every change; later decisions use the new spec. */
  readonly onChange: () => void
  /** Whether the session has left this process; a closed world no longer changes. */
  readonly isClosed: () => boolean
}

export class OpenWorld {
  isOpen = false
  /** Set by `open`. */
  current!: SessionWorld
  readonly #init: OpenWorldOptions
  #adopting: Promise<void> = Promise.resolve()
  #disposal: Promise<void> | undefined

  constructor(init: OpenWorldOptions) {
    this.#init = init
  }

  /** Called once, before any other method. @throws BatonError `invalid_agent`, `unknown_model` */
  async open(identity: SessionIdentity, agent?: Agent): Promise<void> {
    this.#set(await this.#init.catalog.open(identity, agent))
  }

  /**
   * Switches to this agent if it differs. Changes run one at a time; a closed session ignores them.
   * @throws BatonError `invalid_agent`, `unknown_model`
   */
  adopt(agent: Agent, state: () => State): Promise<void> {
    const adopted = this.#adopting.then(() => this.#adopt(agent, state))
    this.#adopting = adopted.catch(() => {})
    return adopted
  }

  /** Runs once, even if an abandoned session is also closed. Never rejects. */
  dispose(): Promise<void> {
    return (this.#disposal ??= this.isOpen ? this.current.dispose() : Promise.resolve())
  }

  async #adopt(agent: Agent, state: () => State): Promise<void> {
    const before = this.current
    if (agent === before.agent || this.#init.isClosed()) return
    const { session: id, agent: name, principal, meta } = state()
    const world = await this.#init.catalog.open({ id, agent: name, principal: { id: principal }, meta }, agent)
    if (this.#init.isClosed()) return await world.dispose()
    this.#set(world)
    // The machine sees no change in a redefined but equal agent; its functions may still differ.
    if (world.spec.hash !== before.spec.hash) this.#init.onChange()
    void before.dispose() // never rejects, and needs no waiting
  }

  #set(world: SessionWorld): void {
    this.current = world
    this.isOpen = true
    world.onChange(() => {
      if (this.current === world) this.#init.onChange()
    })
  }
}
