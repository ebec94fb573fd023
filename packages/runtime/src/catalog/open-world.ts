// The world of an open session: replaced when its agent changes, updated when a source changes its tools.
import type { Agent } from '@baton/core'
import type { State } from '@baton/core/machine'
import type { Catalog, SessionWorld } from './catalog.ts'
import type { SessionIdentity } from './catalog-options.ts'

export interface OpenWorldOptions {
  readonly catalog: Pick<Catalog, 'open' | 'keeps'>
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
   * Switches to this agent, or without one to the catalog's choice, if it differs. Changes run one at a time; a closed
   * session ignores them.
   * @throws BatonError `invalid_agent`, `unknown_model`, or what `agentOf` throws
   */
  adopt(agent: Agent | undefined, state: () => State): Promise<void> {
    const adopted = this.#adopting.then(() => this.#adopt(agent, state))
    this.#adopting = adopted.catch(() => {})
    return adopted
  }

  /** Runs once, even if an abandoned session is also closed. Never rejects. */
  dispose(): Promise<void> {
    return (this.#disposal ??= this.isOpen ? this.current.dispose() : Promise.resolve())
  }

  async #adopt(agent: Agent | undefined, state: () => State): Promise<void> {
    const before = this.current
    const { catalog } = this.#init
    const { session: id, agent: name, principal, meta } = state()
    const identity = { id, agent: name, principal: { id: principal }, meta }
    const isSame = agent ? agent === before.agent : catalog.keeps(identity, before.agent)
    if (isSame || this.#init.isClosed()) return
    const world = await catalog.open(identity, agent)
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
