// Sessions of delegated calls as a gateway reads them: for readers, and to check what a person changes in a request of theirs or
// what a client answers. They are opened when that is needed, and nothing is sent to them.
import type { Logger } from '@baton/core'
import { BatonError } from '@baton/core'
import { findChild } from '@baton/core/machine'
import type { Catalog, SessionEngine } from '@baton/runtime'
import { describeChild, describeThrown, OpenWorld } from '@baton/runtime'
import type { LiveBus } from '../live/live-bus.ts'
import type { SessionLog } from '../session-view.ts'
import { SessionView } from '../session-view.ts'

export interface ChildViewsOptions {
  readonly catalog: Catalog
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
}

interface ChildView {
  readonly found: Promise<SessionEngine | undefined>
  close(): void
}

export class ChildViews {
  readonly #init: ChildViewsOptions
  readonly #caller: SessionEngine
  readonly #open = new Map<string, ChildView>()
  #isClosed = false

  constructor(init: ChildViewsOptions, caller: SessionEngine) {
    this.#init = init
    this.#caller = caller
  }

  /** Never rejects: undefined if the session cannot be read, or is not open. */
  find(callId: string): Promise<SessionEngine | undefined> {
    this.prune()
    const known = this.#open.get(callId)
    if (known) return known.found
    if (this.#isClosed || !findChild(this.#caller.state(), callId)) return Promise.resolve(undefined)
    const view = this.#begin(callId)
    this.#open.set(callId, view)
    void view.found.then((found) => {
      // The next request tries again.
      if (!found && this.#open.get(callId) === view) this.#open.delete(callId)
    })
    return view.found
  }

  /** Closes the sessions of ended calls. */
  prune(): void {
    for (const [callId, view] of this.#open) if (!findChild(this.#caller.state(), callId)) this.#close(callId, view)
  }

  close(): void {
    this.#isClosed = true
    for (const [callId, view] of this.#open) this.#close(callId, view)
  }

  #close(callId: string, view: ChildView): void {
    this.#open.delete(callId)
    view.close()
  }

  #begin(callId: string): ChildView {
    const { catalog, log } = this.#init
    const world = new OpenWorld({ catalog, onChange: () => {}, isClosed: () => false })
    const closing = new AbortController()
    const found = this.#read(callId, world, closing.signal).catch((cause: unknown) => {
      void world.dispose()
      const { session } = this.#caller
      log.warn('the session of a delegated call cannot be read', { session, callId, cause: describeThrown(cause) })
      return undefined
    })
    return { found, close: () => closing.abort() }
  }

  /** @throws BatonError `tool_gone` if this gateway's agent lacks the tool, `store_failed`, `log_damaged` */
  async #read(callId: string, world: OpenWorld, closed: AbortSignal): Promise<SessionEngine | undefined> {
    const { store, bus, log } = this.#init
    const entry = findChild(this.#caller.state(), callId)
    if (!entry) return undefined
    const { name: session, agent } = describeChild(this.#caller, entry)
    const update = (): Promise<never> =>
      Promise.reject(new BatonError({ code: 'illegal_input', message: `session ${session} is only read here` }))
    const view = new SessionView({ session, store, bus, log, world, update, onRemoved: () => view.close() })
    const engine = view.replica
    const below = new ChildViews(this.#init, engine)
    const close = (): void => {
      below.close()
      // Its last records are in the log before its caller has an answer.
      void view.finish().then(() => world.dispose())
    }
    closed.addEventListener('abort', close, { once: true })
    const { principal } = this.#caller.state()
    await view.open(() =>
      world.open({ id: session, agent: entry.agent, principal: { id: principal }, meta: {} }, agent),
    )
    if (closed.aborted) {
      close()
      return undefined
    }
    return {
      session,
      get world() {
        return engine.world
      },
      state: () => engine.state(),
      history: () => engine.history(),
      submit: update,
      stream: engine.stream,
      child: (id) => below.find(id),
    }
  }
}
