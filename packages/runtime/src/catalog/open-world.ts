// The world of an open session: another one when its agent changes, and the same with other tools when a source changes.
import type { Agent } from '@baton/core'
import type { State } from '@baton/core/machine'
import type { Catalog, SessionIdentity, SessionWorld } from './catalog.ts'

export interface OpenWorldInit {
  readonly catalog: Pick<Catalog, 'open'>
  /** Called after every change: what is decided from now on is decided with the new spec. */
  readonly onChange: () => void
  /** The session left this process: nothing changes any more. */
  readonly isClosed: () => boolean
}

export class OpenWorld {
  isOpen = false
  /** From `open` on. */
  current!: SessionWorld
  readonly #init: OpenWorldInit
  #adopting: Promise<void> = Promise.resolve()
  #disposal: Promise<void> | undefined

  constructor(init: OpenWorldInit) {
    this.#init = init
  }

  /** Called once, before anything else. @throws BatonError `invalid_agent`, `unknown_model` */
  async open(identity: SessionIdentity, agent?: Agent): Promise<void> {
    this.#set(await this.#init.catalog.open(identity, agent))
  }

  /**
   * Goes on with this agent, where it is another one. One change at a time; none once the session is closed.
   * @throws BatonError `invalid_agent`, `unknown_model`
   */
  adopt(agent: Agent, state: () => State): Promise<void> {
    const adopted = this.#adopting.then(() => this.#adopt(agent, state))
    this.#adopting = adopted.catch(() => {})
    return adopted
  }

  /** Once, although a session that was given up may also be closed. Never rejects. */
  dispose(): Promise<void> {
    return (this.#disposal ??= this.isOpen ? this.current.dispose() : Promise.resolve())
  }

  async #adopt(agent: Agent, state: () => State): Promise<void> {
    const before = this.current
    if (agent === before.agent || this.#init.isClosed()) return
    const { session: id, agent: name, principal, meta } = state()
    const world = await this.#init.catalog.open({ id, agent: name, principal, meta }, agent)
    if (this.#init.isClosed()) return await world.dispose()
    this.#set(world)
    // The same definition made anew is no change for the machine; its functions may be others all the same.
    if (world.spec.hash !== before.spec.hash) this.#init.onChange()
    void before.dispose() // which never rejects, and nobody waits for
  }

  #set(world: SessionWorld): void {
    this.current = world
    this.isOpen = true
    world.onChange(() => {
      if (this.current === world) this.#init.onChange()
    })
  }
}
